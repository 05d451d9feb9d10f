// The checkpoint of a run: one form for standard, iterative and map-reduce workflows (UC-1, UC-2), made from the fold
// and
// converted back into it.
// K1. A checkpoint is a cached fold: `fromCheckpoint(toCheckpoint(run))` is the run. If the rules of the fold change,
//     FOLD_VERSION does too, and the log is folded again.
// K2. What people and other programs read is at the top; what only the fold needs is below `run`.

import type { Json } from "../../base/json.ts";
import { tableOf, toRecord } from "../../base/table.ts";
import { itemAt, itemsOf, vectorOf } from "../../base/vector.ts";
import { NO_ITEMS } from "./apply-items.ts";
import { type Definition, type Phase, type Step, stepById, stepsOf } from "./definition.ts";
import type { StepError, StepOutcome, Tried, WorkflowEvent } from "./events.ts";
import { allItems, type Item, type ItemList, listOf } from "./item-list.ts";
import { noPast } from "./past.ts";
import {
  type Items,
  type Migration,
  type Past,
  type Run,
  type RunWish,
  type Status,
  type StepRecord,
  type Track,
  triedOf,
} from "./run.ts";
import { WORKTREE_STEP } from "./worktree.ts";

/**
 * The shape of a checkpoint, and the rules that made its content. In version 1 all of it was below `body`; in version 2
 * all items of a map were in it.
 */
export const CHECKPOINT_VERSION = 3;
const FOLD_VERSION = 1;
/** The identification in the store's envelope, which has `version`, `created_at` and `integrity_hash` (UC-1). */
export const CHECKPOINT_FACTS = {
  kind: "workflow",
  version: CHECKPOINT_VERSION,
  fold: FOLD_VERSION,
  names: { time: "created_at", hash: "integrity_hash" },
  migrations: { 1: (body: unknown) => body, 2: (body: unknown) => body },
} as const;

export type CheckpointState =
  | { readonly kind: "BeforeStep"; readonly step_index: number }
  | { readonly kind: "Completed"; readonly step_index: number; readonly output: string | null }
  | { readonly kind: "Failed"; readonly step_index: number; readonly error: string; readonly retryable: boolean }
  | { readonly kind: "Interrupted"; readonly step_index: number; readonly in_progress: boolean };

export type CheckpointReason = "BeforeStep" | "AfterStep" | "StepFailed" | "Signal" | "TimeInterval" | "Manual";

export type WorkflowType =
  | { readonly kind: "Standard" }
  | { readonly kind: "Iterative"; readonly max_iterations: number; readonly current_iteration: number }
  | { readonly kind: "MapReduce"; readonly job_id: string };

export type CompletedStepRecord = {
  /** Its index in the whole file, from 0: `setup`, then the map as one, then `reduce`. */
  readonly step_index: number;
  readonly step: string;
  readonly command: string;
  readonly output: string | null;
  readonly captured_variables: Readonly<Record<string, Json>>;
  readonly duration_ms: number;
  readonly completed_at: string;
  readonly outcome: StepOutcome;
  readonly error: StepError | null;
  readonly phase: Phase;
  readonly iteration: number;
  readonly index: number;
  readonly handler: number | null;
} & Tried;

export type MapReduceCheckpointState = Omit<Items, "all" | "again" | "source"> & {
  readonly phase: Phase;
  readonly all: readonly Item[];
  readonly again: readonly number[];
  readonly source: string | null;
  /** The items that are being worked on. */
  readonly active: readonly Track[];
};

/** K2. */
export type RunRest = {
  readonly name: string;
  readonly repo: string;
  readonly cwd: string;
  /** The repository of the worktree, and its branch. */
  readonly worktree?: { readonly repository: string; readonly branch: string } | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly definition: Definition;
  readonly source_sha256: string;
  readonly parameters: Readonly<Record<string, Json>>;
  readonly started_at: string;
  readonly status: Status;
  readonly main: Track;
  readonly attempts: number;
  readonly kept: readonly string[];
  readonly asked: RunWish | undefined;
  readonly point: Run["point"];
  readonly removed: boolean;
  /** Absent in old checkpoints. */
  readonly migrated?: Migration | undefined;
  /** What came before `completed_steps`; absent if nothing did, and in old checkpoints. */
  readonly past?: StoredPast | undefined;
};

export type StoredPast = Omit<Past, "variables"> & { readonly variables: Readonly<Record<string, Json>> };

/** As in the file: pages of items that are in a file of their own are named, the others are in place. */
export type StoredMapState = Omit<MapReduceCheckpointState, "all"> & {
  readonly pages: readonly (string | readonly Item[])[];
};

export type WorkflowCheckpoint = {
  readonly version: number;
  readonly session_id: string;
  readonly workflow_path: string;
  readonly worktree_path: string | null;
  readonly state: CheckpointState;
  readonly completed_steps: readonly CompletedStepRecord[];
  readonly variables: Readonly<Record<string, Json>>;
  readonly workflow_type: WorkflowType;
  readonly mapreduce_state: MapReduceCheckpointState | null;
  readonly created_at: string;
  readonly reason: CheckpointReason;
  /** SHA-256 of the file without this field (docs/FORMATS.md); empty until it is saved. */
  readonly integrity_hash: string;
  readonly run: RunRest;
};

export function toCheckpoint(run: Run, reason: CheckpointReason, created_at: string): WorkflowCheckpoint {
  return {
    version: CHECKPOINT_VERSION,
    session_id: run.id,
    workflow_path: run.path,
    worktree_path: run.worktree?.path ?? null,
    state: checkpointState(run),
    completed_steps: itemsOf(run.records).map((record) => completedStep(run, record)),
    variables: toRecord(run.variables),
    workflow_type: workflowType(run),
    mapreduce_state: run.definition.flow.mode === "mapreduce" ? mapReduceState(run) : null,
    created_at,
    reason,
    integrity_hash: "",
    run: restOf(run),
  };
}

/** UC-2. */
export function checkpointState(run: Run): CheckpointState {
  const { status, main, records } = run;
  const step_index = flatIndex(run.definition, main.place);
  if (status.kind === "failed")
    return { kind: "Failed", step_index, error: status.error.message, retryable: status.error.retryable };
  const ended = itemAt(records, records.length - 1);
  const last = ended?.phase === "worktree" ? undefined : ended; // It is not a step of the file.
  if (status.kind === "interrupted" || status.kind === "cancelled" || status.kind === "closing") {
    const in_progress = main.since !== undefined || run.active.size > 0;
    if (in_progress) return { kind: "Interrupted", step_index, in_progress };
    // Between two steps, the previous one was the last.
    if (last !== undefined) return { kind: "Interrupted", step_index: flatIndex(run.definition, last), in_progress };
    return { kind: "BeforeStep", step_index };
  }
  const isAfter = status.kind === "done" || (run.point === "after" && main.attempt === undefined);
  if (!isAfter || last === undefined) return { kind: "BeforeStep", step_index };
  return { kind: "Completed", step_index: flatIndex(run.definition, last), output: last.output };
}

const MANUAL: ReadonlySet<string> = new Set(["workflow.rolledback", "workflow.changed", "workflow.migrated"]);

/** Why a checkpoint is due after an event (UC-3); undefined if none is. */
export function reasonOf(event: WorkflowEvent): CheckpointReason | undefined {
  if (event.event === "workflow.attempt.started") return "BeforeStep";
  if (event.event === "workflow.step.ended") return event.data.outcome === "failed" ? "StepFailed" : "AfterStep";
  if (event.event === "workflow.item.ended") return event.data.outcome === "failed" ? "StepFailed" : "AfterStep";
  if (event.event === "workflow.close.requested") return "Signal";
  if (event.event === "workflow.ended") return event.data.state === "interrupted" ? "Signal" : undefined;
  return MANUAL.has(event.event) ? "Manual" : undefined;
}

/** A step's index in the whole file, from 0. */
export function flatIndex(
  definition: Definition,
  { phase, index }: { readonly phase: Phase; readonly index: number },
): number {
  if (phase === "worktree") return 0;
  if (phase === "steps" || phase === "setup") return index;
  const before = stepsOf(definition, "setup").length;
  return phase === "map" ? before : before + 1 + index;
}

function completedStep(run: Run, record: StepRecord): CompletedStepRecord {
  const { step, phase, iteration, index, handler, outcome, error, variables, output, durationMs, at } = record;
  return {
    step_index: flatIndex(run.definition, record),
    step,
    command: commandOf(stepById(run.definition, step)),
    output,
    captured_variables: variables,
    duration_ms: durationMs,
    completed_at: at,
    outcome,
    error: error ?? null,
    phase,
    iteration,
    index,
    handler: handler ?? null,
    ...triedOf(record),
  };
}

/** What a step does, as the file says it: without values, which may be secret. */
export function commandOf(step: Step | undefined): string {
  if (step === undefined) return "";
  if (step.id === WORKTREE_STEP) return "git worktree add";
  if (step.work.kind === "shell") return step.work.command;
  return step.work.kind === "set" ? `set ${Object.keys(step.work.values).join(", ")}` : step.work.prompt;
}

function workflowType({ id, definition, main }: Run): WorkflowType {
  const { flow } = definition;
  if (flow.mode === "standard") return { kind: "Standard" };
  if (flow.mode === "mapreduce") return { kind: "MapReduce", job_id: id };
  return { kind: "Iterative", max_iterations: flow.max_iterations, current_iteration: main.place.iteration };
}

function mapReduceState(run: Run): MapReduceCheckpointState {
  return withItems(mapStateOf(run), run.items.all);
}

function mapStateOf({ items, active, main }: Run): Omit<MapReduceCheckpointState, "all"> {
  const { all: _, again, source, ...counts } = items;
  const phase = main.place.phase;
  return { ...counts, phase, again: itemsOf(again), source: source ?? null, active: [...active.values()] };
}

/** Many readers need no items: they are gathered when somebody looks. */
export function withItems(state: Omit<MapReduceCheckpointState, "all">, list: ItemList): MapReduceCheckpointState {
  return {
    ...state,
    get all() {
      return allItems(list);
    },
  };
}

/** The same as `toCheckpoint`, with its items in these pages. */
export function toPagedCheckpoint(
  run: Run,
  checkpoint: WorkflowCheckpoint,
  pages: StoredMapState["pages"],
): Omit<WorkflowCheckpoint, "mapreduce_state"> & { readonly mapreduce_state: StoredMapState } {
  return { ...checkpoint, mapreduce_state: { ...mapStateOf(run), pages } };
}

function restOf(run: Run): RunRest {
  const { name, repo, cwd, environment, definition, sourceSha256, parameters, createdAt } = run;
  const { status, main, attempts, kept, asked, point, removed, migrated } = run;
  const worktree = run.worktree && { repository: run.worktree.repository, branch: run.worktree.branch };
  const facts = { name, repo, cwd, worktree, environment, definition, source_sha256: sourceSha256, parameters };
  const rest = { status, main, attempts, kept: [...kept], asked, point, removed, migrated };
  return { ...facts, started_at: createdAt, ...rest, ...storedPast(run) };
}

function storedPast({ past }: Run): Pick<RunRest, "past"> {
  const isEmpty = past.steps === 0 && past.mark === 0 && past.rolledBack === null;
  return isEmpty ? {} : { past: { ...past, variables: toRecord(past.variables) } };
}

/** K1. `list`: its items, if they are known already. */
export function fromCheckpoint(checkpoint: WorkflowCheckpoint, list?: ItemList): Run {
  const { session_id, workflow_path, worktree_path, completed_steps, variables, mapreduce_state, run } = checkpoint;
  const { source_sha256, started_at, kept, worktree, ...rest } = run;
  const items = mapreduce_state === null ? undefined : itemsIn(mapreduce_state, list);
  return {
    ...rest,
    id: session_id,
    path: workflow_path,
    worktree: worktree_path === null || worktree === undefined ? undefined : { path: worktree_path, ...worktree },
    sourceSha256: source_sha256,
    createdAt: started_at,
    variables: tableOf(variables),
    active: new Map(
      mapreduce_state?.active.flatMap((track) => (track.item === undefined ? [] : [[track.item, track]])),
    ),
    items: items ?? NO_ITEMS,
    past: run.past === undefined ? noPast(run.parameters) : { ...run.past, variables: tableOf(run.past.variables) },
    records: vectorOf(completed_steps.map(recordIn)),
    kept: new Set(kept),
    migrated: run.migrated,
  };
}

function itemsIn(state: MapReduceCheckpointState, list = listOf(state.all)): Items {
  const { complete, next, again, againTaken, source, succeeded, failed, endings } = state;
  const counts = { complete, next, againTaken, succeeded, failed, endings };
  return { ...counts, all: list, again: vectorOf(again), source: source ?? undefined };
}

function recordIn(record: CompletedStepRecord): StepRecord {
  const { step, phase, iteration, index, handler, outcome, error, captured_variables, output } = record;
  const place = { step, phase, iteration, index, handler: handler ?? undefined };
  const end = { outcome, error: error ?? undefined, variables: captured_variables, output };
  return { ...place, ...end, durationMs: record.duration_ms, at: record.completed_at, ...triedOf(record) };
}
