// The events of a run. Names and fields are on disk: added to, never changed.
// N1. An event has everything the fold needs: replaying old events needs no rule that may have changed since.
// N2. `attempt` is the id of the holder that runs it: `<run>.<number>`, and no number is ever used twice in a run.
// N3. `item` is null outside of a map; a step is named by its id, and by its item if it has one.
// N4. Every event stays far below a transaction's limit (limits.ts): outputs and values are cut or refused before.

import type { Json } from "../../base/json.ts";
import type { Definition, Phase } from "./definition.ts";

type Event<Name extends string, Data> = { readonly event: Name; readonly id: string; readonly data: Data };

export type WorkflowEvent =
  | Event<"workflow.created", Created>
  | Event<"workflow.attempt.started", AttemptStarted>
  | Event<"workflow.attempt.running", AttemptRunning>
  | Event<"workflow.attempt.handed", AttemptHanded>
  | Event<"workflow.attempt.waiting", AttemptWaiting>
  | Event<"workflow.attempt.stop.requested", StopRequested>
  | Event<"workflow.attempt.ended", AttemptEnded>
  | Event<"workflow.attempt.uncertain", { readonly attempt: string; readonly reason: string; readonly at: string }>
  | Event<"workflow.attempt.resolved", AttemptResolved>
  | Event<"workflow.step.retrying", StepRetrying>
  | Event<"workflow.step.handling", StepHandling>
  | Event<"workflow.step.ended", StepEnded>
  | Event<"workflow.iteration.ended", IterationEnded>
  | Event<"workflow.phase.entered", { readonly phase: Phase; readonly at: string }>
  | Event<"workflow.items.found", ItemsFound>
  | Event<"workflow.item.started", { readonly item: number; readonly at: string }>
  | Event<"workflow.item.ended", ItemEnded>
  | Event<"workflow.dlq.retried", { readonly items: readonly number[]; readonly at: string }>
  | Event<"workflow.dlq.cleared", { readonly items: readonly number[]; readonly at: string }>
  | Event<"workflow.close.requested", { readonly as: "interrupted" | "cancelled"; readonly at: string }>
  | Event<"workflow.ended", RunEnded>
  | Event<"workflow.resumed", { readonly by?: Asker; readonly at: string }>
  | Event<"workflow.changed", Changed>
  | Event<"workflow.rolledback", RolledBack>
  | Event<"workflow.migrated", Migrated>
  | Event<"workflow.removed", Record<string, never>>;

/** Why a step failed, for people (`message`) and for `${error.…}`. */
export type StepError = {
  readonly step: string;
  readonly message: string;
  /** null if it did not exit by itself. */
  readonly exit_code: number | null;
  /** Whether the same step may succeed when tried again. */
  readonly retryable: boolean;
  /** The number of the attempt that failed, if one did: its output is the evidence. Version 0.1 did not record it. */
  readonly attempt?: number;
};

export type Created = {
  readonly name: string;
  /** The absolute path of the file. */
  readonly path: string;
  /** The first part of the session's directory, `state/<repo>/sessions/<id>`. */
  readonly repo: string;
  /** Where steps run: the worktree, if there is one. */
  readonly cwd: string;
  readonly worktree: string | null;
  /** The repository of its worktree, and the branch. */
  readonly repository?: string;
  readonly branch?: string;
  /** The environment of steps, without secrets (core/environment.ts). */
  readonly environment: Readonly<Record<string, string>>;
  readonly definition: Definition;
  readonly source_sha256: string;
  readonly parameters: Readonly<Record<string, Json>>;
  readonly at: string;
};

/** To be started: the effect follows once this is durable. */
export type AttemptStarted = {
  readonly attempt: string;
  readonly step: string;
  readonly item: number | null;
  /** The number of the try of the step, from 1. */
  readonly try: number;
  readonly at: string;
};

/** Its time runs from here: an attempt that could not be started for an hour has not used an hour of it. */
export type AttemptRunning = {
  readonly attempt: string;
  readonly pid: number;
  readonly start_time: number;
  readonly boot_id: string;
  readonly holder: number;
  readonly deadline: string | null;
};

/** An agent works on it: the run has no process for it. Its time runs from here. */
export type AttemptHanded = { readonly attempt: string; readonly agent: string; readonly deadline: string | null };

/** It waits for a person. */
export type AttemptWaiting = {
  readonly attempt: string;
  readonly reason: string;
  /** The agent's prompt, if that is the reason. */
  readonly prompt?: string;
  /** What is left of its time, which runs again when the waiting is over. */
  readonly left_ms?: number;
};

export type StopReason = "timeout" | "interrupted" | "cancelled";

export type StopRequested = {
  readonly attempt: string;
  readonly reason: StopReason;
  readonly signal: string;
  /** When the next, harder signal is due; null if there is none. */
  readonly kill_at: string | null;
};

export type AttemptEnded = {
  readonly attempt: string;
  /** Both null: it was prevented before it started, or could not be started (`error`). */
  readonly code: number | null;
  readonly signal: string | null;
  readonly error: string | null;
  /** The end of its output, and the length of all of it. */
  readonly output: string;
  readonly output_bytes: number;
  readonly at: string;
};

/** The process that made a request, and an id of the request itself, so that a repeat is recognized. */
export type Asker = { readonly wish: string; readonly pid: number; readonly user: string };

export type UncertainVerdict = "rerun" | "done" | "failed";

/** What a person, or the step's own policy, decided about an uncertain attempt. */
export type AttemptResolved = {
  readonly attempt: string;
  readonly verdict: UncertainVerdict;
  readonly by: "person" | "policy";
  /** That person. */
  readonly who?: Asker;
  readonly at: string;
};

export type StepRetrying = {
  readonly step: string;
  readonly item: number | null;
  readonly error: StepError;
  readonly not_before: string;
};

/** It failed for good, and its `on_failure` steps start. */
export type StepHandling = {
  readonly step: string;
  readonly item: number | null;
  readonly error: StepError;
  readonly duration_ms: number;
} & Tried;

/**
 * How often a step was tried, if more than once, and the number of the attempt that succeeded, outside of a map: its
 * output can be looked at. Version 0.1 recorded neither.
 */
export type Tried = { readonly tries?: number; readonly attempt?: number };

/** `ignored`: it failed, and the file says to continue. `kept`: done before the file changed, and the same since. */
export type StepOutcome = "succeeded" | "failed" | "ignored" | "skipped" | "kept";

export type StepEnded = {
  readonly step: string;
  readonly item: number | null;
  readonly outcome: StepOutcome;
  readonly error: StepError | null;
  /** The variables it set and captured. */
  readonly variables: Readonly<Record<string, Json>>;
  readonly output: string | null;
  readonly duration_ms: number;
  readonly at: string;
} & Tried;

export type IterationEnded = { readonly iteration: number; readonly again: boolean; readonly at: string };

/** A page of the items, from number `from` on; `last` closes the list. */
export type ItemsFound = {
  readonly from: number;
  readonly items: readonly Json[];
  readonly last: boolean;
  readonly at: string;
};

export type ItemEnded = {
  readonly item: number;
  readonly outcome: "succeeded" | "failed";
  readonly result: Json;
  readonly error: StepError | null;
  readonly at: string;
};

export type RunEnded = {
  readonly state: "failed" | "interrupted" | "cancelled" | "done";
  readonly error: StepError | null;
  readonly at: string;
};

export type Changed = {
  readonly definition: Definition;
  readonly source_sha256: string;
  /** Steps of the current phase that are done and the same in the new file: skipped. */
  readonly kept: readonly string[];
  readonly at: string;
};

/** Back to when this many steps and items had ended; then at this place. */
export type RolledBack = {
  readonly records: number;
  readonly items: number;
  readonly phase: Phase;
  readonly iteration: number;
  readonly index: number;
  /** Steps to skip, as after a change of the file. */
  readonly kept?: readonly string[];
  /** The variables then, if the run does not keep all steps from that time on. */
  readonly variables?: Readonly<Record<string, Json>>;
  readonly at: string;
};

/** The origin of a migrated run: the record, and the bytes it was made from. */
export type MigratedFrom = {
  readonly layout: "session" | "checkpoints" | "job" | "unified" | "holdfast";
  readonly path: string;
  /** Its id in the older program. */
  readonly id: string;
  readonly sha256: string;
};

/**
 * An older program's record, in parts that each fit a transaction: records and items add up, the rest is from the last
 * one.
 */
export type Migrated = {
  readonly source: MigratedFrom;
  /** From 1. Before the last part the run can do nothing. */
  readonly part: number;
  readonly parts: number;
  readonly records: readonly MigratedStep[];
  readonly items: readonly MigratedItem[];
  readonly phase: Phase;
  readonly iteration: number;
  readonly index: number;
  /** Steps after that place which are already done. */
  readonly kept: readonly string[];
  /** Values that differ from those of the records. */
  readonly variables: Readonly<Record<string, Json>>;
  /** Whether the list of items is complete. */
  readonly complete: boolean;
  /** The step that may have been running, and why that is unknown; null if there is none. */
  readonly uncertain: { readonly step: string; readonly reason: string } | null;
  /** null: it was interrupted. */
  readonly error: StepError | null;
  readonly at: string;
};

export type MigratedStep = {
  readonly step: string;
  readonly phase: Phase;
  readonly iteration: number;
  readonly index: number;
  readonly variables: Readonly<Record<string, Json>>;
  readonly output: string | null;
  readonly duration_ms: number;
  readonly at: string;
};

export type MigratedItem = {
  readonly value: Json;
  /** "uncertain": it was being worked on; `step` is the one to ask about. */
  readonly state: "pending" | "succeeded" | "failed" | "uncertain";
  readonly step: string;
  readonly result: Json;
  readonly message: string | null;
  readonly tries: number;
  readonly at: string;
};
