// A run as its events fold, and what can be asked of it.
// R1. A track is one line of steps, one after the other: the main one, and one for each item that is being worked on.
// R2. Nothing here grows with the history but vectors and tables that share their past: an event costs the same at any length.
// R3. What people see (`stateOf`) is read off the state; it is not stored beside it.
import { assert } from "../../base/assert.ts";
import type { Json } from "../../base/json.ts";
import type { Table } from "../../base/table.ts";
import type { Vector } from "../../base/vector.ts";
import type { Child } from "../terminal/terminal.ts";
import type { Definition, Phase } from "./definition.ts";
import type { Asker, MigratedFrom, StepError, StepOutcome, StopReason, WorkflowEvent } from "./events.ts";
import type { Worktree } from "./worktree.ts";

/** Where a track stands: at a step of a phase, or at a step of that one's `on_failure`. */
export type StepPosition = {
  readonly phase: Phase;
  /** From 1; always 1 but in iterative workflows. */
  readonly iteration: number;
  readonly index: number;
  readonly handler: number | undefined;
};

export type AttemptState =
  /** Its start is durable; nothing has been heard of it. */
  | { readonly kind: "starting" }
  | { readonly kind: "running"; readonly child: Child; readonly holder: number }
  /** An agent of the daemon's works on it. */
  | { readonly kind: "handed"; readonly agent: string }
  /** It runs, and waits for a person; `leftMs`: what is left of its time. */
  | {
      readonly kind: "waiting";
      readonly reason: string;
      readonly prompt?: string | undefined;
      readonly leftMs?: number | undefined;
      readonly before: AttemptState;
    }
  /** It may or may not have done its work: nothing happens before somebody or a policy decides. */
  | { readonly kind: "uncertain"; readonly reason: string; readonly child: Child | undefined };

export type Attempt = {
  readonly id: string;
  readonly step: string;
  readonly try: number;
  readonly startedAt: string;
  readonly deadline: string | undefined;
  readonly state: AttemptState;
  readonly stop: Stop | undefined;
};

export type Stop = { readonly reason: StopReason; readonly signal: string; readonly killAt: string | undefined };

export type Track = {
  readonly item: number | undefined;
  readonly place: StepPosition;
  readonly attempt: Attempt | undefined;
  /** How often the present step was tried. */
  readonly tries: number;
  /** When the present step may be tried again. */
  readonly retryAt: string | undefined;
  /** Since when the present step is being worked on. */
  readonly since: string | undefined;
  /** How often in a row an attempt of the present step was lost. */
  readonly lost: number;
  /** The failure that `on_failure` steps are handling. */
  readonly handling: { readonly error: StepError; readonly durationMs: number } | undefined;
  /** A step of it failed for good: it goes no further. */
  readonly failed: StepError | undefined;
  /** An item's own variables; empty on the main track. */
  readonly variables: Readonly<Record<string, Json>>;
  /** What its last step wrote: an item's result, where it sets none. */
  readonly output: string | null;
};

/** A step that ended on the main track (UC-1). */
export type StepRecord = {
  readonly step: string;
  readonly phase: Phase;
  readonly iteration: number;
  readonly index: number;
  readonly handler: number | undefined;
  readonly outcome: StepOutcome;
  readonly error: StepError | undefined;
  readonly variables: Readonly<Record<string, Json>>;
  readonly output: string | null;
  readonly durationMs: number;
  readonly at: string;
};

export type ItemState =
  | { readonly kind: "pending" }
  | { readonly kind: "active" }
  /** `order`: it was the how-manieth to end. */
  | { readonly kind: "succeeded"; readonly result: Json; readonly order: number; readonly at: string }
  | { readonly kind: "failed"; readonly error: StepError; readonly order: number; readonly at: string }
  /** Taken out of the dead-letter queue: it counts as failed, and nobody is asked about it again. */
  | { readonly kind: "cleared"; readonly error: StepError; readonly order: number; readonly at: string };

export type Item = { readonly value: Json; readonly state: ItemState; readonly tries: number };

export type Items = {
  readonly all: Vector<Item>;
  /** Whether the list is whole. */
  readonly complete: boolean;
  /** The first that was never begun. */
  readonly next: number;
  /** Those to be worked on again, before `next`; the first `againTaken` of them were. */
  readonly again: Vector<number>;
  readonly againTaken: number;
  /** The attempt that wrote the list, where a command did. */
  readonly source: string | undefined;
  readonly succeeded: number;
  readonly failed: number;
  /** How many endings there were, those of items that were tried again included. */
  readonly endings: number;
};

export type Status =
  | { readonly kind: "going" }
  /** No attempt is started any more; those that run are being stopped. */
  | { readonly kind: "closing"; readonly as: "interrupted" | "cancelled" }
  | { readonly kind: "failed"; readonly error: StepError; readonly at: string }
  | { readonly kind: "interrupted"; readonly at: string }
  | { readonly kind: "cancelled"; readonly at: string }
  | { readonly kind: "done"; readonly at: string };

export type RunWish = { readonly by: Asker; readonly at: string };

export type Run = {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly repo: string;
  readonly cwd: string;
  readonly worktree: Worktree | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly definition: Definition;
  readonly sourceSha256: string;
  readonly parameters: Readonly<Record<string, Json>>;
  readonly createdAt: string;
  readonly status: Status;
  readonly variables: Table<Json>;
  readonly main: Track;
  readonly active: ReadonlyMap<number, Track>;
  readonly items: Items;
  readonly records: Vector<StepRecord>;
  /** How many attempts there were: the number of the last one. */
  readonly attempts: number;
  /** Steps to be passed over since the file changed. */
  readonly kept: ReadonlySet<string>;
  /** Whoever last made it go on, and when. */
  readonly asked: RunWish | undefined;
  /** Whether the last thing that happened was the end of a step (UC-2). */
  readonly point: "before" | "after";
  readonly removed: boolean;
  /** Where it comes from, if an older program began it, and how many parts of that are there. */
  readonly migrated: Migration | undefined;
};

export type Migration = { readonly source: MigratedFrom; readonly part: number; readonly parts: number };

export type Runs = ReadonlyMap<string, Run>;

/** As `workflows --json` says it. */
export type RunState = "running" | "waiting" | "uncertain" | "failed" | "interrupted" | "cancelled" | "done";

/** The tracks there are; the main one stands still while items are being worked on. */
export function tracksOf(run: Run): Track[] {
  return [run.main, ...run.active.values()];
}

export function attemptsOf(run: Run): Attempt[] {
  return tracksOf(run).flatMap(({ attempt }) => attempt ?? []);
}

/** How its work stands, also where it waits. */
export function workOf(state: AttemptState): AttemptState {
  return state.kind === "waiting" ? state.before : state;
}

/** R3. A run waits, or is uncertain, only where nothing else of it can go on. */
export function stateOf(run: Run): RunState {
  if (run.status.kind !== "going") return run.status.kind === "closing" ? "running" : run.status.kind;
  const kinds = attemptsOf(run).map(({ state }) => state.kind);
  const moves = kinds.some((kind) => kind === "starting" || kind === "running" || kind === "handed");
  if (moves || kinds.length === 0 || tracksOf(run).some(({ retryAt }) => retryAt !== undefined)) return "running";
  return kinds.includes("waiting") ? "waiting" : "uncertain";
}

/** Who last made it go on, in words. */
export function askedText({ asked }: Run): string | undefined {
  if (asked === undefined) return undefined;
  const { pid, user } = asked.by;
  return `process ${pid}${user === "" ? "" : ` of ${user}`} made it go on at ${asked.at}`;
}

/** The directory of its log, below the home. `run` is undefined for its first event. */
export function workflowSession(run: Run | undefined, event: WorkflowEvent): string {
  const repo = event.event === "workflow.created" ? event.data.repo : run?.repo;
  assert(repo !== undefined, "only a run's first event comes before it is known");
  return `state/${repo}/sessions/${event.id}`;
}

/** A run whose log cannot be trusted: seen, and left alone. */
export function setAside(run: Run, reason: string, at: string): Run {
  const error = { step: "", message: reason, exit_code: null, retryable: false };
  return { ...run, status: { kind: "failed", error, at } };
}
