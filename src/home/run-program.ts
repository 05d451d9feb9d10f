// Runs a program of the system that ends by itself, such as git, and returns what it prints.
// RP1. It has a limit of time and of output, and nothing of our environment but the PATH.
import { isFault } from "../base/fault.ts";
import type { Children, Command, Ending, PipeChild } from "../world/children.ts";
import type { Clock } from "../world/clock.ts";
import type { Self } from "../world/self.ts";

export type RunWorld = {
  readonly children: Pick<Children, "pipes">;
  readonly clock: Clock;
  readonly self: Pick<Self, "environment">;
};

export type Said = { readonly ending: Ending | "late"; readonly out: string; readonly err: string };

/** A repository with a million files takes some seconds, on a busy disk a minute. */
const PATIENCE_MS = 300_000;
/** The ids of 400,000 commits. */
const MAX_OUTPUT = 16 << 20;
const MAX_WORDS = 500;

export function isDone({ ending }: Said): boolean {
  return ending !== "late" && ending.kind === "exited" && ending.code === 0;
}

export function wordsOf({ ending, err }: Said): string {
  return err.trim().slice(0, MAX_WORDS) || (ending === "late" ? "it took too long" : "it failed without a word");
}

export async function run(
  { children, clock, self }: RunWorld,
  argv: Command["argv"],
  env: Command["env"],
  input = "",
): Promise<Said> {
  const ended = Promise.withResolvers<Ending | "late">();
  const said = { stdout: "", stderr: "" };
  const decoder = new TextDecoder();
  try {
    const child = children.pipes(
      { argv, cwd: "/", env: { PATH: self.environment()["PATH"] ?? "", ...env } },
      {
        output: (bytes, from) => {
          said[from] += decoder.decode(bytes);
          if (said[from].length > MAX_OUTPUT) child.signal("SIGKILL");
        },
        ended: ended.resolve,
      },
    );
    const cancel = clock.after(PATIENCE_MS, () => {
      ended.resolve("late");
      child.signal("SIGKILL");
    });
    void tell(child, input);
    const ending = await ended.promise;
    cancel();
    return { ending, out: said.stdout, err: said.stderr };
  } catch (error) {
    if (!isFault(error)) throw error;
    return { ending: { kind: "exited", code: 127 }, out: "", err: error.message };
  }
}

/** One that does not read it has ended, and says why. */
async function tell(child: PipeChild, input: string): Promise<void> {
  try {
    await child.write(Buffer.from(input));
  } catch (error) {
    if (!isFault(error)) throw error;
  }
  child.closeInput();
}
