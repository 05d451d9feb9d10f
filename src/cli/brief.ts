// Runs another program for its answer, and for no longer than it is worth.
// BR1. It is given no input, and ends with its whole group when its time is over: nothing of it is left behind, and nobody hangs.
// BR2. No shell reads its words, and of its output only the beginning is kept.
import { isFault } from "../base/fault.ts";
import type { Disk } from "../world/disk.ts";
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
};

/** No answer that we ask for is a tenth of it. */
const MAX_CHARACTERS = 1 << 16;
/** What shells say of a program that a signal ended. */
const SIGNALLED = 128;

export async function askProgram(
  { clock }: Pick<CommandWorld, "clock">,
  { argv, env, ms }: ProgramAnswer,
): Promise<Answered> {
  const said = { stdout: "", stderr: "" };
  const ended = Promise.withResolvers<Answered>();
  try {
    const child = realChildren().pipes(
      { argv, cwd: "/", env },
      {
        output: (bytes, from) => {
          if (said[from].length < MAX_CHARACTERS) said[from] += new TextDecoder().decode(bytes); // BR2
        },
        ended: (ending) => {
          const code = ending.kind === "exited" ? ending.code : SIGNALLED;
          ended.resolve({ kind: "ended", code, out: said.stdout, err: said.stderr });
        },
      },
    );
    child.closeInput();
    const answer = await within(clock, ms, ended.promise);
    if (answer === undefined) child.signal("SIGKILL"); // BR1
    return answer ?? { kind: "late" };
  } catch (error) {
    if (isFault(error)) return { kind: "missing" };
    throw error;
  }
}

/** Where a program is, as a shell would find it; undefined where it is not on the PATH. */
export function findProgram(disk: Disk, path: string, name: string): string | undefined {
  const places = path.split(":").filter((directory) => directory.startsWith("/"));
  return places.map((directory) => `${directory}/${name}`).find((full) => isProgram(disk, full));
}

function isProgram(disk: Disk, path: string): boolean {
  try {
    const found = disk.stat(path);
    return found?.kind === "file" && (found.mode & 0o111) !== 0;
  } catch (error) {
    if (isFault(error)) return false; // A directory that we may not look into.
    throw error;
  }
}
