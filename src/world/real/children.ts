// Other programs on this machine, started through Bun.
// RC1. A child's end is reported when its output has ended too, or shortly after it fell silent: a background process
//      that keeps the terminal or a pipe open must not keep us waiting.
// RC2. A child starts with a higher OOM score (C4): we raise our own before the start and restore it after, so that
//      neither the child nor what it starts ever has ours.
import { closeSync, constants, openSync, statSync } from "node:fs";
import { withoutBunVariables } from "../../base/bun.ts";
import { Fault } from "../../base/fault.ts";
import type {
  Children,
  Command,
  Ending,
  PipeChild,
  PipeEvents,
  PtyChild,
  PtyEvents,
  Size,
  ToldChild,
  ToldEvents,
} from "../children.ts";
import { attempt, systemCode } from "./attempt.ts";
import { LastWords } from "./last-words.ts";
import { withHigherOomScore } from "./oom.ts";
import { type PtyInput, ptyInput } from "./pty-input.ts";
import { signalGroup, signalTerminal } from "./signals.ts";

/** A bit of c_lflag: input is read in whole lines, edited by the system. */
const ICANON = 0x2;

export function realChildren(): Children {
  return { pty, pipes, detached, told, watched };
}

function pty(command: Command, size: Size, events: PtyEvents): PtyChild {
  const last = new LastWords(1, (ending) => events.ended(ending)); // RC1
  let input: PtyInput | undefined;
  const terminal = {
    ...size,
    data: (_: unknown, bytes: Uint8Array) => {
      last.heard();
      events.output(bytes);
    },
    exit: () => {
      input?.end();
      last.closed();
    },
  };
  const child = start(command, () =>
    Bun.spawn([...command.argv], {
      ...surroundingsOf(command),
      terminal,
      onExit: (gone) => last.ended(endingOf(gone)),
    }),
  );
  return {
    pid: child.pid,
    write: (bytes) => {
      input ??= ptyInput(child.pid, () => events.drained?.());
      input.write(bytes);
    },
    get waiting() {
      return input?.waiting ?? 0;
    },
    get readsKeys() {
      return ((child.terminal?.localFlags ?? ICANON) & ICANON) === 0;
    },
    resize: ({ cols, rows }) => child.terminal?.resize(cols, rows),
    signal: (name) => !isGone(child) && signalTerminal(child.pid, name),
  };
}

function pipes(command: Command, events: PipeEvents): PipeChild {
  const last = new LastWords(2, (ending) => events.ended(ending)); // RC1
  const child = start(command, () =>
    Bun.spawn([...command.argv], {
      ...surroundingsOf(command),
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
      onExit: (gone) => last.ended(endingOf(gone)),
    }),
  );
  const read = async (from: "stdout" | "stderr") => {
    for await (const bytes of child[from]) {
      last.heard();
      const pressure = events.output(bytes, from);
      // Race only if there is pressure: each race leaves a reaction on `exited`, which lives as long as the child.
      if (pressure !== undefined) await Promise.race([pressure, child.exited]);
    }
  };
  for (const from of ["stdout", "stderr"] as const)
    void read(from)
      .catch(mustBeSystems)
      .finally(() => last.closed());
  return {
    pid: child.pid,
    write: async (bytes) => {
      await attemptLater("write", `pid ${child.pid}`, async () => child.stdin.write(new Uint8Array(bytes)));
      await attemptLater("write", `pid ${child.pid}`, async () => child.stdin.flush());
    },
    // Failures do not matter here: the child may already have closed its end.
    closeInput: () => void Promise.resolve(child.stdin.end()).catch(() => undefined),
    signal: (name) => !isGone(child) && signalGroup(child.pid, name),
  };
}

function detached(command: Command, log?: string): number {
  const words = log === undefined ? "ignore" : openLog(log);
  try {
    const child = launch(command, () =>
      Bun.spawn([...command.argv], {
        ...surroundingsOf(command),
        stdio: ["ignore", words, words],
        detached: true,
      }),
    );
    child.unref();
    return child.pid;
  } finally {
    if (typeof words === "number") closeSync(words);
  }
}

function told(command: Command, { said, ended }: ToldEvents): ToldChild {
  const child = launch(command, () =>
    Bun.spawn([...command.argv], {
      ...surroundingsOf(command),
      stdio: ["pipe", said === undefined ? "ignore" : "pipe", "ignore"],
      detached: true,
      onExit: ended,
    }),
  );
  child.unref();
  const listen = async () => {
    if (said !== undefined && child.stdout !== undefined) for await (const bytes of child.stdout) said(bytes);
  };
  void listen().catch(mustBeSystems);
  const hand = async (bytes: Uint8Array) => {
    child.stdin.write(bytes);
    await child.stdin.flush();
  };
  return {
    pid: child.pid,
    tell: (bytes) => void hand(new Uint8Array(bytes)).catch(mustBeSystems),
    release: () => void Promise.resolve(child.stdin.end()).catch(mustBeSystems),
  };
}

function watched(command: Command, ended: (ending: Ending) => void): number {
  const child = launch(command, () =>
    Bun.spawn([...command.argv], {
      ...surroundingsOf(command),
      stdio: ["ignore", "ignore", "inherit"],
      onExit: (gone) => ended(endingOf(gone)),
    }),
  );
  return child.pid;
}

/** C2 */
function surroundingsOf({ cwd, env }: Command) {
  return { cwd, env: withoutBunVariables(env) };
}

function openLog(path: string): number {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND;
  return attempt("open", path, () => openSync(path, flags, 0o600));
}

function start<T>(command: Command, spawn: () => T): T {
  return launch(command, () => withHigherOomScore(spawn)); // RC2
}

/** Bun reports a missing directory, and a missing program without a slash in its name, unlike the system does. */
export function launch<T>(command: Command, spawn: () => T): T {
  attempt("start in", command.cwd, () => statSync(command.cwd));
  const [program] = command.argv;
  try {
    return spawn();
  } catch (error) {
    const code = systemCode(error) ?? codeIn(error);
    if (code === undefined) throw error;
    const hint = OF_PROGRAM.includes(code) ? { hint: HINT } : {};
    throw new Fault({ code, operation: "start", path: program, ...hint }, error);
  }
}

const OF_PROGRAM = ["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ENOEXEC"];
const HINT = "Check that the program exists, is executable, and is on the PATH.";

function codeIn(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

async function attemptLater<T>(operation: string, path: string, act: () => Promise<T>): Promise<T> {
  return act().catch((error: unknown) =>
    attempt(operation, path, (): never => {
      throw error;
    }),
  );
}

type Gone = { readonly exitCode: number | null; readonly signalCode: string | number | null };

function endingOf({ exitCode, signalCode }: Gone): Ending {
  if (signalCode !== null) return { kind: "signalled", signal: String(signalCode) };
  return { kind: "exited", code: exitCode ?? 0 };
}

/** A pipe that can no longer be read has ended, for whatever system reason. */
function mustBeSystems(error: unknown): void {
  if (systemCode(error) === undefined) throw error;
}

/** Once its leader was waited for, a group's number may belong to other processes (signals.ts, S1). */
function isGone({ exitCode, signalCode }: Gone): boolean {
  return exitCode !== null || signalCode !== null;
}
