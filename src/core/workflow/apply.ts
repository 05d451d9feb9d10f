// Folds the events of a run.
// A1. The fold checks no rules: it takes what the event says, so that old logs stay valid when rules change.
// A2. The previous state is not modified: a turn that is undone still has it.
// A3. The cost of one event does not grow with the history (except for `rolledback`, which looks at all that it
//     undoes, and one in many ends of an iteration, which looks at what it lets go).
import { assert } from "../../base/assert.ts";
import { tableOf, withAll } from "../../base/table.ts";
import { push, vectorOf } from "../../base/vector.ts";
import { applyItems, NO_ITEMS, newTrack } from "./apply-items.ts";
import { applyMigrated } from "./apply-migrated.ts";
import { applyRollback } from "./apply-rollback.ts";
import { firstPhase, INPUT_STEP, type Phase, stepsOf } from "./definition.ts";
import type * as e from "./events.ts";
import { letGo, noPast } from "./past.ts";
import {
  type Attempt,
  type Run,
  type Status,
  type StepPosition,
  type StepRecord,
  type Track,
  triedOf,
  workOf,
} from "./run.ts";

/** The run after the event; `before` is undefined for its first one. */
export function applyWorkflow(before: Run | undefined, event: e.WorkflowEvent): Run {
  if (event.event === "workflow.created") return created(event.id, event.data);
  if (before === undefined) throw new Error(`${event.event} of run ${event.id}, which was never created`);
  return (
    applyAttempt(before, event) ?? applyStep(before, event) ?? applyItems(before, event) ?? applyRun(before, event)
  );
}

function created(id: string, data: e.Created): Run {
  const { name, path, repo, cwd, environment, definition, source_sha256, parameters, at } = data;
  const worktree = worktreeIn(data);
  return {
    id,
    name,
    path,
    repo,
    cwd,
    worktree,
    environment,
    definition,
    sourceSha256: source_sha256,
    parameters,
    createdAt: at,
    status: { kind: "going" },
    variables: tableOf(parameters),
    main: newTrack(undefined, worktree === undefined ? firstPhase(definition) : "worktree"),
    active: new Map(),
    items: NO_ITEMS,
    past: noPast(parameters),
    records: vectorOf(),
    attempts: 0,
    kept: new Set(),
    asked: undefined,
    point: "before",
    removed: false,
    migrated: undefined,
  };
}

function worktreeIn({ worktree, repository, branch }: e.Created): Run["worktree"] {
  if (worktree === null || repository === undefined || branch === undefined) return undefined;
  return { path: worktree, repository, branch };
}

/** The track of an item, or the main one. */
export function trackOf(run: Run, item: number | undefined): Track {
  const track = item === undefined ? run.main : run.active.get(item);
  assert(track !== undefined, `item ${item} is being worked on`);
  return track;
}

export function withTrack(run: Run, track: Track): Run {
  if (track.item === undefined) return { ...run, main: track };
  return { ...run, active: new Map(run.active).set(track.item, track) };
}

function applyAttempt(run: Run, event: e.WorkflowEvent): Run | undefined {
  if (event.event === "workflow.attempt.started") return attemptStarted(run, event.data);
  if (!event.event.startsWith("workflow.attempt.") || !("attempt" in event.data)) return undefined;
  const { attempt: id } = event.data;
  const track = [run.main, ...run.active.values()].find(({ attempt }) => attempt?.id === id);
  if (track?.attempt === undefined) return run;
  return withTrack(applyAsker(applySource(run, event), event), afterReport(track, track.attempt, event));
}

function applyAsker(run: Run, event: e.WorkflowEvent): Run {
  if (event.event !== "workflow.attempt.resolved" || event.data.who === undefined) return run;
  return { ...run, asked: { by: event.data.who, at: event.data.at } };
}

function attemptStarted(run: Run, data: e.AttemptStarted): Run {
  const track = trackOf(run, data.item ?? undefined);
  const attempt: Attempt = {
    id: data.attempt,
    step: data.step,
    try: data.try,
    startedAt: data.at,
    deadline: undefined,
    state: { kind: "starting" },
    stop: undefined,
  };
  const after = { ...track, attempt, tries: data.try, retryAt: undefined, since: track.since ?? data.at };
  return withTrack({ ...run, attempts: run.attempts + 1, point: "before" }, after);
}

function afterReport(track: Track, attempt: Attempt, event: e.WorkflowEvent): Track {
  if (event.event === "workflow.attempt.uncertain") {
    const seen = workOf(attempt.state);
    const child = seen.kind === "running" ? seen.child : undefined;
    const state = { kind: "uncertain", reason: event.data.reason, child } as const;
    return { ...track, lost: track.lost + 1, attempt: { ...attempt, state } };
  }
  if (event.event === "workflow.attempt.ended") return { ...track, attempt: undefined, output: event.data.output };
  if (event.event === "workflow.attempt.resolved")
    return { ...track, attempt: undefined, tries: event.data.verdict === "rerun" ? track.tries - 1 : track.tries };
  return { ...track, attempt: goingOn(attempt, event) };
}

/** An attempt that has not ended. */
function goingOn(attempt: Attempt, event: e.WorkflowEvent): Attempt {
  switch (event.event) {
    case "workflow.attempt.running": {
      const { pid, start_time, boot_id, holder, deadline } = event.data;
      const state = { kind: "running", child: { pid, startTime: start_time, bootId: boot_id }, holder } as const;
      return { ...attempt, deadline: deadline ?? undefined, state };
    }
    case "workflow.attempt.handed": {
      const { agent, deadline } = event.data;
      return { ...attempt, deadline: deadline ?? undefined, state: { kind: "handed", agent } };
    }
    case "workflow.attempt.waiting": {
      const { reason, prompt, left_ms: leftMs } = event.data;
      return { ...attempt, state: { kind: "waiting", reason, prompt, leftMs, before: workOf(attempt.state) } };
    }
    case "workflow.attempt.stop.requested": {
      const { reason, signal, kill_at } = event.data;
      return { ...attempt, stop: { reason, signal, killAt: kill_at ?? undefined } };
    }
    default:
      return attempt;
  }
}

/** The attempt that wrote the list of items. */
function applySource(run: Run, event: e.WorkflowEvent): Run {
  if (event.event !== "workflow.attempt.ended" || run.main.attempt?.id !== event.data.attempt) return run;
  if (run.main.attempt.step !== INPUT_STEP) return run;
  return { ...run, items: { ...run.items, source: event.data.attempt } };
}

function applyStep(run: Run, event: e.WorkflowEvent): Run | undefined {
  if (event.event === "workflow.step.retrying") {
    const track = trackOf(run, event.data.item ?? undefined);
    return withTrack(run, { ...track, retryAt: event.data.not_before });
  }
  if (event.event === "workflow.step.handling") {
    const { item, error, duration_ms, tries } = event.data;
    const track = trackOf(run, item ?? undefined);
    const place = { ...track.place, handler: 0 };
    return withTrack(run, {
      ...rested(track),
      place,
      handling: { error, durationMs: duration_ms, ...(tries && { tries }) },
    });
  }
  if (event.event === "workflow.step.ended") return stepEnded(run, event.data);
  return undefined;
}

/** A track without anything of its last step. */
function rested(track: Track): Track {
  return { ...track, attempt: undefined, tries: 0, retryAt: undefined, since: undefined, lost: 0 };
}

function stepEnded(run: Run, data: e.StepEnded): Run {
  const track = trackOf(run, data.item ?? undefined);
  const inHandler = track.place.handler !== undefined && stepIdAt(run, track.place) !== data.step;
  const after: Track = {
    ...rested(track),
    place: placeAfter(track.place, data, inHandler),
    handling: inHandler ? track.handling : undefined,
    failed: data.outcome === "failed" && !inHandler ? (data.error ?? undefined) : undefined,
    output: data.output ?? track.output,
  };
  const variables = data.variables;
  if (track.item !== undefined) return withTrack(run, { ...after, variables: { ...track.variables, ...variables } });
  const records = push(run.records, recordOf(track.place, data, inHandler));
  return { ...run, main: after, variables: withAll(run.variables, variables), records, point: "after" };
}

function stepIdAt(run: Run, { phase, index }: StepPosition): string | undefined {
  return stepsOf(run.definition, phase)[index]?.id;
}

function placeAfter(place: StepPosition, { outcome }: e.StepEnded, inHandler: boolean): StepPosition {
  if (inHandler) return { ...place, handler: (place.handler ?? 0) + 1 };
  return { ...place, handler: undefined, index: outcome === "failed" ? place.index : place.index + 1 };
}

function recordOf(
  { phase, iteration, index, handler }: StepPosition,
  data: e.StepEnded,
  inHandler: boolean,
): StepRecord {
  const { step, outcome, error, variables, output, duration_ms, at } = data;
  const place = { phase, iteration, index, handler: inHandler ? handler : undefined };
  const end = { outcome, error: error ?? undefined, variables, output, durationMs: duration_ms, at };
  return { step, ...place, ...end, ...triedOf(data) };
}

function applyRun(run: Run, event: e.WorkflowEvent): Run {
  switch (event.event) {
    case "workflow.iteration.ended":
      return event.data.again ? nextIteration(letGo(run, event.data.iteration), event.data.iteration + 1) : run;
    case "workflow.phase.entered":
      return { ...run, kept: new Set(), main: newTrack(undefined, event.data.phase) };
    case "workflow.close.requested":
      return { ...run, status: { kind: "closing", as: event.data.as } };
    case "workflow.ended":
      return { ...run, status: statusAfter(event.data) };
    case "workflow.resumed":
      return resumed(run, event.data);
    case "workflow.changed":
      return changed(run, event.data);
    case "workflow.rolledback":
      return applyRollback(run, event.data);
    case "workflow.migrated":
      return applyMigrated(run, event.data);
    case "workflow.removed":
      return { ...run, removed: true };
    default:
      // The events of attempts, steps and items were folded before.
      return run;
  }
}

function nextIteration(run: Run, iteration: number): Run {
  const main = newTrack(undefined, run.main.place.phase);
  return { ...run, kept: new Set(), main: { ...main, place: { ...main.place, iteration } } };
}

function statusAfter({ state, error, at }: e.RunEnded): Status {
  if (state !== "failed") return { kind: state, at };
  assert(error !== null, "a run that failed says why");
  return { kind: "failed", error, at };
}

/** A failed step is tried again from its beginning; an uncertain one stays uncertain. */
function resumed(run: Run, { by, at }: { readonly by?: e.Asker; readonly at: string }): Run {
  const active = new Map([...run.active].map(([item, track]) => [item, renewed(track)]));
  const asked = by === undefined ? run.asked : { by, at };
  return { ...run, status: { kind: "going" }, main: renewed(run.main), active, asked, point: "before" };
}

function renewed(track: Track): Track {
  return track.attempt === undefined ? { ...rested(track), failed: undefined } : { ...track, failed: undefined };
}

function changed(run: Run, { definition, source_sha256, kept }: e.Changed): Run {
  const main = { ...rested(run.main), handling: undefined, place: { ...run.main.place, index: 0, handler: undefined } };
  const inMap = run.main.place.phase === "map";
  const active = new Map([...run.active].map(([item, track]) => [item, moved(run, track, definition)]));
  return {
    ...run,
    definition,
    sourceSha256: source_sha256,
    kept: new Set(kept),
    main: inMap ? run.main : { ...main, failed: run.main.failed },
    active,
  };
}

/** An item moves to the step with the same id in the new file, or to the first. */
function moved(run: Run, track: Track, definition: Run["definition"]): Track {
  const phase: Phase = "map";
  const id = stepIdAt(run, track.place);
  const index = Math.max(
    0,
    stepsOf(definition, phase).findIndex((step) => step.id === id),
  );
  return { ...track, place: { ...track.place, index } };
}
