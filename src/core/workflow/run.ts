// The state of a run, folded from its events, and queries on it.
// R1. A track is one sequence of steps: the main one, and one for each item that is being worked on.
// R2. Nothing here grows with the history except vectors and tables that share their past: an event always costs the
//     same. Iterations that are long over are let go (past.ts).
// R3. The visible state (`stateOf`) is derived from the state, not stored.
import { assert } from "../../base/assert.ts";
import type { Json } from "../../base/json.ts";
import type { Table } from "../../base/table.ts";
import type { Vector } from "../../base/vector.ts";
import type { Child } from "../terminal/terminal.ts";
import type { Definition, Phase } from "./definition.ts";
import type { Asker, MigratedFrom, StepError, StepOutcome, StopReason, Tried, WorkflowEvent } from "./events.ts";
import type { ItemList } from "./item-list.ts";
import type { Worktree } from "./worktree.ts";

/** The position of a track: at a step of a phase, or at a step of that one's `on_failure`. */
export type StepPosition = {
  readonly phase: Phase;
  /** From 1; always 1 except in iterative workflows. */
  readonly iteration: number;
  readonly index: number;
  readonly handler: number | undefined;
};

export type AttemptState =
  /** Its start is durable; there has been no report about it. */
  | { readonly kind: "starting" }
  | { readonly kind: "running"; readonly child: Child; readonly holder: number }
  /** An agent of the daemon works on it. */
  | { readonly kind: "handed"; readonly agent: string }
  /** It is running, and waits for a person; `leftMs`: what is left of its time. */
  | {
      readonly kind: "waiting";
      readonly reason: string;
      readonly prompt?: string | undefined;
      readonly leftMs?: number | undefined;
      readonly before: AttemptState;
    }
  /** It may or may not have done its work: nothing happens before a person or a policy decides. */
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
  /** How often the current step was tried. */
  readonly tries: number;
  /** When the current step may be tried again. */
  readonly retryAt: string | undefined;
  /** Since when the current step is being worked on. */
  readonly since: string | undefined;
  /** How often in a row an attempt of the current step was lost. */
  readonly lost: number;
  /** The failure that `on_failure` steps are handling. */
  readonly handling: ({ readonly error: StepError; readonly durationMs: number } & Tried) | undefined;
  /** A step of it failed for good: it stops here. */
  readonly failed: StepError | undefined;
  /** An item's own variables; empty on the main track. */
  readonly variables: Readonly<Record<string, Json>>;
  /** The output of its last step: an item's result, if it sets none. */
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
} & Tried;

/** What has been let go of (past.ts). */
export type Past = {
  /** How many steps. */
  readonly steps: number;
  /** The number of their last attempt, or a lower one. */
  readonly attempts: number;
  /** The number of attempts when steps were last let go, or a lower one. */
  readonly mark: number;
  /** The number of attempts at the last rollback; null if there was none. */
  readonly rolledBack: number | null;
  /** The variables after these steps. */
  readonly variables: Table<Json>;
};

export type Items = {
  readonly all: ItemList;
  /** Whether the list is complete. */
  readonly complete: boolean;
  /** The first one that was never started. */
  readonly next: number;
  /** Items to be worked on again, before `next`; the first `againTaken` of them were. */
  readonly again: Vector<number>;
  readonly againTaken: number;
  /** The attempt that wrote the list, if a command did. */
  readonly source: string | undefined;
  readonly succeeded: number;
  readonly failed: number;
  /** The number of endings, including those of items that were retried. */
  readonly endings: number;
};

export type Status =
  | { readonly kind: "going" }
  /** No attempt is started any more; running ones are being stopped. */
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
  readonly past: Past;
  /** The steps that ended after those in `past`. */
  readonly records: Vector<StepRecord>;
  /** The number of attempts, which is the number of the last one. */
  readonly attempts: number;
  /** Steps to skip since the file changed. */
  readonly kept: ReadonlySet<string>;
  /** Who last resumed it, and when. */
  readonly asked: RunWish | undefined;
  /** Whether the last thing that happened was the end of a step (UC-2). */
  readonly point: "before" | "after";
  readonly removed: boolean;
  /** Its origin, if an older program started it, and how many parts of that are there. */
  readonly migrated: Migration | undefined;
};

export type Migration = { readonly source: MigratedFrom; readonly part: number; readonly parts: number };

export type Runs = ReadonlyMap<string, Run>;

/** As in `workflows --json`. */
export type RunState =
  | "queued"
  | "running"
  | "waiting"
  | "uncertain"
  | "failed"
  | "interrupted"
  | "cancelled"
  | "done"
  | "done_with_failures";

/** The current tracks; the main one is paused while items are being worked on. */
export function tracksOf(run: Run): Track[] {
  return [run.main, ...run.active.values()];
}

export function attemptsOf(run: Run): Attempt[] {
  return tracksOf(run).flatMap(({ attempt }) => attempt ?? []);
}

/** Its number in the run (N2 of events.ts). */
export function attemptNumber(id: string): number {
  return Number(id.slice(id.lastIndexOf(".") + 1));
}

/** As it is recorded. */
export function triedOf({ tries = 1, attempt }: Tried): Tried {
  return { ...(tries > 1 && { tries }), ...(attempt && { attempt }) };
}

/** The state of its work, even while it waits. */
export function workOf(state: AttemptState): AttemptState {
  return state.kind === "waiting" ? state.before : state;
}

/** R3. A run is waiting or uncertain only if nothing else of it can continue. */
export function stateOf(run: Run): RunState {
  if (run.status.kind === "done") return run.items.failed > 0 ? "done_with_failures" : "done";
  if (run.status.kind !== "going") return run.status.kind === "closing" ? "running" : run.status.kind;
  const kinds = attemptsOf(run).map(({ state }) => state.kind);
  const moves = kinds.some((kind) => kind === "starting" || kind === "running" || kind === "handed");
  if (moves || kinds.length === 0 || tracksOf(run).some(({ retryAt }) => retryAt !== undefined)) return "running";
  return kinds.includes("waiting") ? "waiting" : "uncertain";
}

/** Who last resumed it, in words. */
export function askedText({ asked }: Run): string | undefined {
  if (asked === undefined) return undefined;
  const { pid, user } = asked.by;
  return `process ${pid}${user === "" ? "" : ` of ${user}`} resumed it at ${asked.at}`;
}

/** The directory of a run's log, below the home. */
export function sessionOf({ repo, id }: Pick<Run, "repo" | "id">): string {
  return `state/${repo}/sessions/${id}`;
}

/** The same for an event. `run` is undefined for its first event. */
export function workflowSession(run: Run | undefined, event: WorkflowEvent): string {
  const repo = event.event === "workflow.created" ? event.data.repo : run?.repo;
  assert(repo !== undefined, "only a run's first event comes before it is known");
  return sessionOf({ repo, id: event.id });
}

/** A run whose log cannot be trusted: it is listed, and left alone. */
export function setAside(run: Run, reason: string, at: string): Run {
  const error = { step: "", message: reason, exit_code: null, retryable: false };
  return { ...run, status: { kind: "failed", error, at } };
}
