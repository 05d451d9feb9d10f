// Advances a run to the next thing that only the world can do (run an attempt, wait until a time, read a list).
// G1. It never starts what it cannot account for: an attempt's start is an event before it is an effect.
// G2. It looks at the existing tracks, at most as many as there may be workers; never at all items or all steps.
// G3. How much happens in process in one decision is bounded; the rest is left to the effect `advance`.

import { type Json, textOf } from "../../base/json.ts";
import { itemAt } from "../../base/vector.ts";
import { trackOf } from "./apply.ts";
import { type Definition, firstPhase, inputStep, type MapPhase, type Phase, type Step, stepsOf } from "./definition.ts";
import type { Draft } from "./draft.ts";
import type { StepError } from "./events.ts";
import { failed, ofFailure, stepError } from "./failure.ts";
import { launchStep } from "./launch.ts";
import { MAX_CAPTURED, MAX_ITEM_RESULT, sizeOf } from "./limits.ts";
import { attemptsOf, type Items, type Run, type StepPosition, type Track, triedOf } from "./run.ts";
import { scopeOf } from "./scope.ts";
import { fillAll, fillDeep, holds } from "./template.ts";

/** Advances everything that can continue now. */
export function advance(draft: Draft): void {
  close(draft);
  while (draft.run.status.kind === "going" && advanceMain(draft));
}

/** Closes the run once nothing is running any more; an uncertain attempt does not count as running. */
function close(draft: Draft): void {
  const { status } = draft.run;
  if (status.kind !== "closing" || attemptsOf(draft.run).some(({ state }) => state.kind !== "uncertain")) return;
  draft.add({ event: "workflow.ended", data: { state: status.as, error: null, at: draft.at } });
}

/** Returns whether something happened that lets more happen. */
function advanceMain(draft: Draft): boolean {
  const { main } = draft.run;
  if (main.failed !== undefined) return end(draft, main.failed);
  if (main.place.phase === "map") return advanceMap(draft);
  if (currentStep(draft.run, main) !== undefined || main.place.handler !== undefined)
    return advanceTrack(draft, undefined);
  return phaseEnds(draft);
}

function end(draft: Draft, error: StepError | null): boolean {
  draft.add({ event: "workflow.ended", data: { state: error === null ? "done" : "failed", error, at: draft.at } });
  return false;
}

/** The current step of a track: undefined after the last one, or after the last of `on_failure`. */
export function currentStep({ definition }: Run, { place, item }: Track): Step | undefined {
  if (place.phase === "map" && item === undefined) return inputOf(definition);
  const step = stepsOf(definition, place.phase)[place.index];
  return place.handler === undefined ? step : step?.on_failure?.[place.handler];
}

function inputOf({ flow }: Definition): Step | undefined {
  return flow.mode === "mapreduce" ? inputStep(flow.map) : undefined;
}

function phaseEnds(draft: Draft): boolean {
  const { run } = draft;
  const { flow } = run.definition;
  if (run.main.place.phase === "worktree") return enter(draft, firstPhase(run.definition));
  if (flow.mode === "iterative") return iterationEnds(draft, flow.max_iterations, flow.until);
  const next: Phase | undefined = flow.mode === "mapreduce" && run.main.place.phase === "setup" ? "map" : undefined;
  return next === undefined ? end(draft, null) : enter(draft, next);
}

function enter(draft: Draft, phase: Phase): boolean {
  draft.add({ event: "workflow.phase.entered", data: { phase, at: draft.at } });
  return true;
}

function iterationEnds(draft: Draft, most: number, until: string | undefined): boolean {
  const { iteration } = draft.run.main.place;
  const done = until === undefined ? undefined : holds(until, scopeOf(draft.run, draft.run.main));
  if (done?.ok === false) return end(draft, plainError("until", done.error.message));
  if (!draft.takesOne()) return false; // G3
  const enough = done?.value === true || iteration >= most;
  draft.add({ event: "workflow.iteration.ended", data: { iteration, again: !enough, at: draft.at } });
  if (!enough) return true;
  const missed = until !== undefined && done?.value !== true;
  return end(draft, missed ? plainError("until", `After ${most} iterations, \`${until}\` still does not hold.`) : null);
}

function plainError(step: string, message: string): StepError {
  return { step, message, exit_code: null, retryable: false };
}

function advanceMap(draft: Draft): boolean {
  const { flow } = draft.run.definition;
  if (flow.mode !== "mapreduce") return false;
  if (!draft.run.items.complete) return advanceInput(draft, flow.map);
  for (const item of draft.run.active.keys()) while (advanceItem(draft, item));
  while (mayBegin(draft.run, flow.map) && beginItem(draft, flow.map));
  const { items, active } = draft.run;
  if (active.size > 0 || nextItem(items, flow.map) !== undefined) return false;
  if (hasTooManyFailures(items, flow.map)) return end(draft, tooManyFailures(items, flow.map));
  draft.add({ event: "workflow.phase.entered", data: { phase: "reduce", at: draft.at } });
  return true;
}

/**
 * If a command writes the list, its step runs first; then, and for files and globs, the effect `read-items` follows.
 */
function advanceInput(draft: Draft, map: MapPhase): boolean {
  if (map.input.kind !== "command" || draft.run.main.place.index > 0) return false;
  return advanceTrack(draft, undefined);
}

/** After too many failures only those that a person wants to be tried again. */
function nextItem(items: Items, map: MapPhase): number | undefined {
  if (items.againTaken < items.again.length) return itemAt(items.again, items.againTaken);
  return items.next < items.all.length && !hasTooManyFailures(items, map) ? items.next : undefined;
}

/** Items that wait for a person do not keep others from starting. */
export function mayBegin(run: Run, map: MapPhase): boolean {
  let busy = 0;
  for (const { attempt } of run.active.values()) if (attempt?.state.kind !== "uncertain") busy += 1;
  return busy < map.max_parallel && nextItem(run.items, map) !== undefined;
}

function hasTooManyFailures({ failed, all }: Items, { max_failures: most }: MapPhase): boolean {
  if (most === undefined) return false;
  return "items" in most ? failed > most.items : failed * 100 > most.percent * all.length;
}

/** Only `dlq retry` changes that, so `resume` has nothing to retry. */
function tooManyFailures({ failed, all }: Items, { max_failures: most }: MapPhase): StepError {
  const limit = most !== undefined && "percent" in most ? `${most.percent}%` : most?.items;
  return plainError("map", `${failed} of ${all.length} items have failed, and max_failures is ${limit}.`);
}

function beginItem(draft: Draft, map: MapPhase): boolean {
  const item = nextItem(draft.run.items, map);
  if (item === undefined || !draft.takesOne()) return false; // G3
  draft.add({ event: "workflow.item.started", data: { item, at: draft.at } });
  while (advanceItem(draft, item));
  return true;
}

function advanceItem(draft: Draft, item: number): boolean {
  const track = trackOf(draft.run, item);
  if (track.failed !== undefined) return endItem(draft, item, track.failed);
  if (currentStep(draft.run, track) !== undefined || track.place.handler !== undefined)
    return advanceTrack(draft, item);
  return endItem(draft, item, null);
}

function endItem(draft: Draft, item: number, error: StepError | null): boolean {
  const track = trackOf(draft.run, item);
  const result = error === null ? resultOf(track) : null;
  if (!draft.takesOne() || !draft.fits(sizeOf(result))) return false; // G3
  const outcome = error === null ? "succeeded" : "failed";
  draft.add({ event: "workflow.item.ended", data: { item, outcome, result, error, at: draft.at } });
  return false;
}

/** What its steps put into the variable `result`; without one, the output of the last step. */
function resultOf({ variables, output }: Track): Json {
  const result = Object.hasOwn(variables, "result")
    ? (variables["result"] ?? null)
    : (output ?? "").replace(/\n+$/, "");
  // Cut so that it fits however its characters are encoded.
  return sizeOf(result) <= MAX_ITEM_RESULT ? result : { truncated: textOf(result).slice(0, MAX_ITEM_RESULT / 6) };
}

/** One step of a track; returns whether it may continue at once. */
function advanceTrack(draft: Draft, item: number | undefined): boolean {
  const { run } = draft;
  const track = trackOf(run, item);
  if (track.attempt !== undefined || (track.retryAt !== undefined && !draft.isDue(track.retryAt))) return false;
  const step = currentStep(run, track);
  if (!draft.takesOne()) return false; // G3
  if (step === undefined) return handled(draft, track);
  if (run.kept.has(step.id) && item === undefined && track.place.handler === undefined)
    return pass(draft, track, step, "kept");
  const due = isDue(run, track, step);
  if (!due.ok) return failed(draft, track, step, stepError(step, due.error.message, null, false));
  if (!due.value) return pass(draft, track, step, "skipped");
  return step.work.kind === "set" ? set(draft, track, step, step.work.values) : start(draft, track, step);
}

/** Its `on_failure` steps are done: the failure stands. */
function handled(draft: Draft, track: Track): boolean {
  const step = stepsOf(draft.run.definition, track.place.phase)[track.place.index];
  if (step === undefined || track.handling === undefined) return false;
  const { error, durationMs } = track.handling;
  const outcome = step.continue_on_error === true ? "ignored" : "failed";
  const facts = { step: step.id, item: track.item ?? null, outcome, error } as const;
  const end = { output: track.output, duration_ms: durationMs, at: draft.at, ...triedOf(track.handling) };
  draft.add({ event: "workflow.step.ended", data: { ...facts, variables: ofFailure(step, error), ...end } });
  return true;
}

/** A `when` is evaluated once, before the first try. */
function isDue(run: Run, track: Track, step: Step) {
  const asked = track.tries > 0 || step.when === undefined;
  return asked ? ({ ok: true, value: true } as const) : holds(step.when, scopeOf(run, track));
}

function pass(draft: Draft, track: Track, step: Step, outcome: "skipped" | "kept"): boolean {
  const data = { step: step.id, item: track.item ?? null, outcome, error: null, variables: {}, output: null } as const;
  draft.add({ event: "workflow.step.ended", data: { ...data, duration_ms: 0, at: draft.at } });
  return true;
}

function set(draft: Draft, track: Track, step: Step, values: Readonly<Record<string, Json>>): boolean {
  const filled = fillAll(values, scopeOf(draft.run, track), fillDeep);
  if (!filled.ok) return failed(draft, track, step, stepError(step, filled.error.message, null, false));
  const size = sizeOf(filled.value);
  if (size > MAX_CAPTURED) {
    const message = `It sets ${size} bytes; at most ${MAX_CAPTURED} are allowed.`;
    return failed(draft, track, step, stepError(step, message, null, false));
  }
  if (!draft.fits(size)) return false; // G3
  const data = { step: step.id, item: track.item ?? null, outcome: "succeeded", error: null } as const;
  draft.add({
    event: "workflow.step.ended",
    data: { ...data, variables: filled.value, output: null, duration_ms: 0, at: draft.at },
  });
  return true;
}

function start(draft: Draft, track: Track, step: Step): boolean {
  const { run, at } = draft;
  const attempt = { id: `${run.id}.${run.attempts + 1}`, try: track.tries + 1 };
  const launch = launchStep(run, track, step, { attempt, directory: "/" });
  if (!launch.ok) return failed(draft, track, step, stepError(step, launch.error.message, null, false));
  const data = { attempt: attempt.id, step: step.id, item: track.item ?? null, try: attempt.try, at };
  draft.add({ event: "workflow.attempt.started", data }); // G1
  return false;
}

/** Whether a track could continue in process (G3): nothing is running for it, and it does not wait for a time. */
export function isReady(run: Run, track: Track): boolean {
  if (track.attempt !== undefined || track.retryAt !== undefined) return false;
  return track.item !== undefined || track.place.phase !== "map" || mapIsReady(run, track.place);
}

function mapIsReady(run: Run, place: StepPosition): boolean {
  const { flow } = run.definition;
  if (flow.mode !== "mapreduce") return false;
  if (!run.items.complete) return flow.map.input.kind === "command" && place.index === 0;
  return mayBegin(run, flow.map) || (run.active.size === 0 && nextItem(run.items, flow.map) === undefined);
}
