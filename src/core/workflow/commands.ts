// What can be requested of workflows and what the world reports about them (commands), and what the world is to do
// (effects).
// C1. A report may come twice, or late: the decider takes each once.
// C2. An effect may be performed twice: an attempt's holder is started at most once, because its id claims its
//     directory.

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
  /** As given; checked against the definition's parameters, with defaults added. */
  readonly parameters: Readonly<Record<string, Json>>;
};

/** `text` is its stdout, whole if `bytes` is its length in UTF-8, otherwise the end of it. */
export type Output = { readonly text: string; readonly bytes: number };

export type RollbackPlace = {
  readonly place: { readonly phase: Phase; readonly iteration: number; readonly index: number };
  readonly kept: readonly string[];
  readonly definition: Definition;
  readonly sourceSha256: string;
  /** Used if the run does not keep the steps from that time on. */
  readonly variables: Readonly<Record<string, Json>>;
  /** The steps of that iteration that were done; used in the same case. */
  readonly done: readonly string[];
};

type To<Kind extends string, Fields = Record<never, never>> = { readonly kind: Kind; readonly id: string } & Fields;
type OfAttempt<Kind extends string, Fields = Record<never, never>> = To<Kind, { readonly attempt: string } & Fields>;

/** A part of an older program's record (migrate.ts). A part that is already there changes nothing. */
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
  /** Continues a failed or interrupted run; `force` also if a retry cannot change the failure. */
  | To<"resume", { readonly force: boolean; readonly by?: Asker }>
  | To<"change", { readonly definition: Definition; readonly sourceSha256: string }>
  /** What became of an uncertain attempt, according to a person. */
  | OfAttempt<"resolve", { readonly verdict: UncertainVerdict; readonly by?: Asker }>
  /** Back to when this many steps and items had ended. `to`: the place of the run at that time, and its file. */
  | To<"rollback", { readonly records: number; readonly items: number; readonly to?: RollbackPlace }>
  | To<"dlq-retry", { readonly items: readonly number[] | "all" }>
  | To<"dlq-clear", { readonly items: readonly number[] | "all" }>
  | To<"remove">
  /** Continues with what happens in process; requested by the effect of the same name. */
  | To<"advance">
  /** A time that the effect `timer` gave has come. */
  | To<"wake">
  | To<"items-read", { readonly from: number; readonly items: readonly Json[]; readonly last: boolean }>
  | To<"input-failed", { readonly reason: string }>
  | OfAttempt<"attempt-running", { readonly child: Child; readonly holder: number }>
  /** An agent with this id works on it now. */
  | OfAttempt<"attempt-handed", { readonly agent: string }>
  /** `since` when, if known: its time stops from then on. */
  | OfAttempt<"attempt-waiting", { readonly reason: string; readonly prompt?: string; readonly since?: string }>
  | OfAttempt<
      "attempt-ended",
      { readonly code: number | null; readonly signal: string | null; readonly output: Output }
    >
  /** It never ran and never will: its claim was made by the canceller, or it could not be started. */
  | OfAttempt<"attempt-prevented", { readonly reason: string }>
  /**
   * It was started, but how it ended is unknown. No process of it lives. `unstarted`: nothing of it has run, for
   * nothing about its step.
   */
  | OfAttempt<"attempt-lost", { readonly reason: string; readonly unstarted?: true }>;

export type WorkflowEffect =
  /** Start the holder `attempt`, or create its agent; `launchOf(run, attempt)` says with what. */
  | OfAttempt<"start">
  /** Send the signal, or terminate its agent; prevent it (by making the claim) if it has not started. */
  | OfAttempt<"stop", { readonly signal: string }>
  /** Submit `wake` at the next of its times (`timesOf`), of which this is the earliest text. */
  | To<"timer", { readonly at: string }>
  /** Submit `advance`. */
  | To<"advance">
  /**
   * Read a map's items, all of them once, and submit them in pages (`items-read`) from number `from` on. They are the
   * output of `attempt`, if given, otherwise what the definition's file or glob gives; `itemPages` makes the pages.
   */
  | To<"read-items", { readonly from: number; readonly attempt: string | undefined }>
  /** The run has stopped: save a full checkpoint and notify the waiting clients. */
  | To<"finish">
  | To<"discard">;
