// Runs another program for its answer, with a time limit.
// BR1. Its whole process group is killed at the time limit, and once it has answered what it was told: nothing is left
//      behind or hangs. It gets no other input.
// BR2. No shell parses its arguments, and only the beginning of its output is kept.
import { isFault } from "../base/fault.ts";
import { realChildren } from "../world/real/children.ts";
import { within } from "../world/wait.ts";
import type { CommandWorld } from "./command-world.ts";

export type Answered =
  | { readonly kind: "ended"; readonly code: number; readonly out: string; readonly err: string }
  | { readonly kind: "late" }
  | { readonly kind: "missing" };

export type ProgramAnswer = {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly ms: number;
  /** What it is told, and whether its output so far has the answer; without it, its end is the answer. */
  readonly talk?: { readonly says: string; isAnswer(out: string): boolean };
};

/** Ten times as long as any answer we expect. */
const MAX_CHARACTERS = 1 << 16;
/** Shells add this to the number of the signal that ended a program. */
const SIGNALLED = 128;

export async function askProgram(
  { clock }: Pick<CommandWorld, "clock">,
  { argv, env, ms, talk }: ProgramAnswer,
): Promise<Answered> {
  const said = { stdout: "", stderr: "" };
  const ended = Promise.withResolvers<Answered>();
  try {
    const child = realChildren().pipes(
      { argv, cwd: "/", env },
      {
        output: (bytes, from) => {
          if (said[from].length < MAX_CHARACTERS) said[from] += new TextDecoder().decode(bytes); // BR2
          if (talk?.isAnswer(said.stdout) === true)
            ended.resolve({ kind: "ended", code: 0, out: said.stdout, err: said.stderr });
        },
        ended: (ending) => {
          const code = ending.kind === "exited" ? ending.code : SIGNALLED;
          ended.resolve({ kind: "ended", code, out: said.stdout, err: said.stderr });
        },
      },
    );
    if (talk === undefined) child.closeInput();
    else void child.write(Buffer.from(talk.says)).catch(() => undefined); // It may have ended: that is the answer.
    const answer = await within(clock, ms, ended.promise);
    if (answer === undefined || talk !== undefined) child.signal("SIGKILL"); // BR1
    return answer ?? { kind: "late" };
  } catch (error) {
    if (isFault(error)) return { kind: "missing" };
    throw error;
  }
}
