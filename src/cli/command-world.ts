// What a command gets, and what it returns.
// O1. A command never ends the process and never prints its own failure: it returns an exit code or a refusal, and lets
//     Faults through; `run.ts` handles them once for all commands.
import type { Application, CommandContext } from "@stricli/core";
import type { Result } from "../base/result.ts";
import type { Clock } from "../world/clock.ts";
import type { Console } from "../world/console.ts";
import type { Disk } from "../world/disk.ts";
import type { Processes } from "../world/process.ts";
import type { Random } from "../world/random.ts";
import type { Watch } from "../world/watch.ts";

/** The parts of the world that commands use. */
export type CommandWorld = {
  readonly console: Console;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly processes: Processes;
  readonly random: Random;
  readonly watch: Watch;
};

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  waiting: 3,
  notFound: 4,
  tooLate: 5,
  tryLater: 75,
  notAllowed: 77,
  /** As timeout(1). */
  timedOut: 124,
  /** As shells say it of a program that Ctrl-C ended. */
  interrupted: 130,
} as const;
/** One of EXIT, or the exit code of a program that the command waited for. */
export type Exit = Result<number>;

export const REPORT_IT = "This is a bug in Holdfast. Please report it with the text above.";

/** What to do, once the command line is parsed. */
export type Task = (world: CommandWorld) => Promise<Exit>;

/** What a command gets besides its flags and arguments. */
export type Given = {
  /** The words after `--`, for commands that run a program; undefined without a `--`. */
  readonly words: readonly string[] | undefined;
  /** The command tree, for the command that completes it. */
  readonly app: Application<Context> | undefined;
};

/** The command that a command line names, once it is parsed. */
export type Chosen = {
  words?: readonly string[] | undefined;
  app?: Application<Context>;
  /** Missing if there is nothing to do. */
  task?: Task;
  /** The home that was named, so that its banner can be shown. */
  home?: string | undefined;
};

/** stricli only chooses the command: it leaves the task here, and the caller runs it. */
export type Context = CommandContext &
  Chosen & {
    /** Lists the names of a kind, if completions are wanted. */
    names?: (kind: Named) => Promise<readonly string[]>;
  };

/** Kinds of things whose names a shell can complete. */
export type Named = "terminal" | "run" | "agent" | "prompt" | "rule";

export type HomeFlag = { readonly home?: string };

type Run<Flags, Args extends readonly unknown[]> = (world: CommandWorld, flags: Flags, ...args: Args) => Promise<Exit>;

export function command<Flags extends HomeFlag, Args extends readonly unknown[]>(run: Run<Flags & Given, Args>) {
  return function choose(this: Chosen, flags: Flags, ...args: Args): void {
    const { words, app } = this;
    this.home = flags.home;
    this.task = (world) => run(world, { ...flags, words, app }, ...args);
  };
}
