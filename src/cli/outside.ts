// What a command gets and what it gives back.
// O1. A command never ends the process and never prints its own failure: it returns an exit code or a refusal,
//     and lets Faults through; `run.ts` does the rest, once for all commands.
import type { CommandContext } from "@stricli/core";
import type { Result } from "../base/result.ts";
import type { Clock } from "../world/clock.ts";
import type { Console } from "../world/console.ts";
import type { Disk } from "../world/disk.ts";
import type { Processes } from "../world/process.ts";
import type { Watch } from "../world/watch.ts";

/** The doors that commands go through. */
export type Outside = {
  readonly console: Console;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly processes: Processes;
  readonly watch: Watch;
};

export const EXIT = { ok: 0, failed: 1, usage: 2, waiting: 3, notFound: 4, tryLater: 75 } as const;
export type Exit = Result<(typeof EXIT)[keyof typeof EXIT]>;

/** What is to be done, once the words on the command line are understood. */
export type Task = (outside: Outside) => Promise<Exit>;

/** stricli only chooses: it leaves the task here, and whoever called it runs it. */
export type Context = CommandContext & { task?: Task };

type Run<Flags, Args extends readonly unknown[]> = (outside: Outside, flags: Flags, ...args: Args) => Promise<Exit>;

export function command<Flags, Args extends readonly unknown[]>(run: Run<Flags, Args>) {
  return function choose(this: Context, flags: Flags, ...args: Args): void {
    this.task = (outside) => run(outside, flags, ...args);
  };
}
