// What can be asked of workflows and what the world reports of them (commands), and what is to be done in the world (effects).
// C1. A report may come twice, or late: the decider takes each once.
// C2. An effect may be performed twice: an attempt's holder is started at most once, because its id claims its directory.

import type { Json } from "../../base/json.ts";
import type { Child } from "../terminal/terminal.ts";
import type { Definition, Phase } from "./definition.ts";
import type { Asker, Created, Migrated, UncertainVerdict } from "./events.ts";
import type { Worktree } from "./worktree.ts";

export type CreateRun = {
  readonly kind: "create";
  readonly id: string;
  readonly path: string;
  readonly repo: string;
  readonly cwd: string;
  readonly worktree: Worktree | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly definition: Definition;
  readonly sourceSha256: string;
  /** As given; checked against the definition's parameters, defaults added. */
  readonly parameters: Readonly<Record<string, Json>>;
};

/** `text` is what it wrote to stdout, whole where `bytes` is its length in UTF-8, else the end of it. */
export type Output = { readonly text: string; readonly bytes: number };

export type RollbackPlace = {
  readonly place: { readonly phase: Phase; readonly iteration: number; readonly index: number };
  readonly kept: readonly string[];
  readonly definition: Definition;
  readonly sourceSha256: string;
};

type To<Kind extends string, Fields = Record<never, never>> = { readonly kind: Kind; readonly id: string } & Fields;
type OfAttempt<Kind extends string, Fields = Record<never, never>> = To<Kind, { readonly attempt: string } & Fields>;

/** A part of what an older program had recorded (migrate.ts). A part that is there already changes nothing. */
export type MigrateRun = {
  readonly kind: "migrate";
  readonly id: string;
  readonly created: Created;
  readonly part: Migrated;
};

export type WorkflowCommand =
  | CreateRun
  | MigrateRun
  | To<"interrupt">
  | To<"cancel">
  /** A failed or interrupted run goes on; `force` also where the failure is not one that a retry can change. */
  | To<"resume", { readonly force: boolean; readonly by?: Asker }>
  | To<"change", { readonly definition: Definition; readonly sourceSha256: string }>
  /** What became of an uncertain attempt, as a person says. */
  | OfAttempt<"resolve", { readonly verdict: UncertainVerdict; readonly by?: Asker }>
  /** Back to when this many steps and items had ended. `to`: where the run stood then, and by which file. */
  | To<"rollback", { readonly records: number; readonly items: number; readonly to?: RollbackPlace }>
  | To<"dlq-retry", { readonly items: readonly number[] | "all" }>
  | To<"dlq-clear", { readonly items: readonly number[] | "all" }>
  | To<"remove">
  /** Goes on with what happens in process; asked for by the effect of the same name. */
  | To<"advance">
  /** A time that the effect `timer` gave has come. */
  | To<"wake">
  | To<"items-read", { readonly from: number; readonly items: readonly Json[]; readonly last: boolean }>
  | To<"input-failed", { readonly reason: string }>
  | OfAttempt<"attempt-running", { readonly child: Child; readonly holder: number }>
  /** An agent of this id has begun to work on it. */
  | OfAttempt<"attempt-handed", { readonly agent: string }>
  /** `since` when, where that is known: its time stands still from then on. */
  | OfAttempt<"attempt-waiting", { readonly reason: string; readonly prompt?: string; readonly since?: string }>
  | OfAttempt<
      "attempt-ended",
      { readonly code: number | null; readonly signal: string | null; readonly output: Output }
    >
  /** It never ran and never will: its claim was made by whoever cancelled it, or it could not be started. */
  | OfAttempt<"attempt-prevented", { readonly reason: string }>
  /** It was started, and how it ended is not known. No process of it lives. */
  | OfAttempt<"attempt-lost", { readonly reason: string }>;

export type WorkflowEffect =
  /** Start the holder `attempt`, or have the agent made that does it; `launchOf(run, attempt)` says with what. */
  | OfAttempt<"start">
  /** Send the signal, or terminate its agent; prevent it (by making the claim) where it has not started. */
  | OfAttempt<"stop", { readonly signal: string }>
  /** Submit `wake` at this time. A later effect of the same run replaces it. */
  | To<"timer", { readonly at: string }>
  /** Submit `advance`. */
  | To<"advance">
  /** Read a map's items, all of them once and for good, and submit them in pages (`items-read`) from number `from` on. They are
   *  what `attempt` wrote, where there is one, else what the definition's file or glob gives; `readItems` makes the list of it. */
  | To<"read-items", { readonly from: number; readonly attempt: string | undefined }>
  /** It came to rest: checkpoint it whole, tell who waits. */
  | To<"finish">
  | To<"discard">;
