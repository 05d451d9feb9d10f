// The exercise as a child process: started for real, watched, and killed at a moment that a fact decides.
import { watch } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/files.ts";

/**
 * When SIGKILL comes: right after the start, when recovery begins, at a change in the write-ahead log's directory, or
 * after so many lines.
 */
export type Moment =
  | { readonly kind: "at once" }
  | { readonly kind: "recovering" }
  | { readonly kind: "wal changes"; readonly count: number }
  | { readonly kind: "lines"; readonly count: number }
  | { readonly kind: "never" };

export type Ended = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
};

export const EXERCISE = "tests/crash/exercise.ts";

/** The child gets nothing of the caller's shell but what a program needs to run. */
const ENVIRONMENT = {
  PATH: process.env["PATH"] ?? "",
  HOME: process.env["HOME"] ?? "/",
  TMPDIR: process.env["TMPDIR"] ?? "/tmp",
};

/** Runs the exercise with `args`, under `wrapper` if given, to its end or to `moment`. */
export async function exercise(
  args: readonly string[],
  moment: Moment = { kind: "never" },
  wrapper: readonly string[] = [],
): Promise<Ended> {
  const command = [...wrapper, process.execPath, EXERCISE, ...args];
  const child = Bun.spawn(command, { cwd: ROOT, env: ENVIRONMENT, stdio: ["ignore", "pipe", "pipe"] });
  const kill = () => child.kill("SIGKILL");
  const stopWatching = watchWal(moment, args[1] ?? "", kill);
  if (moment.kind === "at once") kill();
  const out = collect(child.stdout, (text) => moment.kind === "lines" && linesIn(text) >= moment.count, kill);
  const err = collect(child.stderr, (text) => moment.kind === "recovering" && text.includes("recovering"), kill);
  const texts = await Promise.all([out, err, child.exited]);
  stopWatching();
  return {
    code: child.exitCode,
    signal: child.signalCode === null ? null : String(child.signalCode),
    out: texts[0],
    err: texts[1],
  };
}

function watchWal(moment: Moment, home: string, kill: () => void): () => void {
  if (moment.kind !== "wal changes") return () => undefined;
  let changes = 0;
  const watcher = watch(join(home, "wal"), () => {
    changes += 1;
    if (changes === moment.count) kill();
  });
  return () => watcher.close();
}

/** All of a stream, also the rest that was in the pipe when its writer died. */
async function collect(
  stream: ReadableStream<Uint8Array>,
  reached: (text: string) => boolean,
  then: () => void,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    if (reached(text)) then();
  }
  return text;
}

export function linesIn(text: string): number {
  return text.split("\n").length - 1;
}
