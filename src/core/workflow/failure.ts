// What follows when a step fails: it is retried, its `on_failure` steps start, or it has failed for good.
// Q1. Waits between tries double from `backoff_ms` to `max_backoff_ms`, not randomly: the time is in the event, and
//     survives a restart.

import type { Json } from "../../base/json.ts";
import type { Step } from "./definition.ts";
import { stepsOf } from "./definition.ts";
import type { Draft } from "./draft.ts";
import type { StepError } from "./events.ts";
import { MAX_MESSAGE } from "./limits.ts";
import { type Attempt, attemptNumber, type Track, triedOf } from "./run.ts";

export function stepError(step: Step, message: string, exit_code: number | null, retryable: boolean): StepError {
  return { step: step.id, message: message.slice(0, MAX_MESSAGE), exit_code, retryable };
}

/** The same of an attempt that was made. */
export function attemptError({ id }: Attempt, error: StepError): StepError {
  return { ...error, attempt: attemptNumber(id) };
}

/** Always returns true: what follows can continue at once. */
export function failed(draft: Draft, track: Track, step: Step, error: StepError): boolean {
  const item = track.item ?? null;
  if (isTriedAgain(track, step, error)) {
    const not_before = draft.in(waitMs(step, track.tries));
    draft.add({ event: "workflow.step.retrying", data: { step: step.id, item, error, not_before } });
    return true;
  }
  const duration_ms = draft.since(track.since);
  if (track.place.handler === undefined && (step.on_failure ?? []).length > 0) {
    draft.add({
      event: "workflow.step.handling",
      data: { step: step.id, item, error, duration_ms, ...triedOf({ tries: track.tries }) },
    });
    return true;
  }
  const outcome = step.continue_on_error === true ? "ignored" : "failed";
  const data = {
    item,
    variables: ofFailure(step, error),
    output: track.output,
    at: draft.at,
    ...triedOf({ tries: track.tries }),
  };
  draft.add({ event: "workflow.step.ended", data: { step: step.id, outcome, error, duration_ms, ...data } });
  if (outcome === "failed" && track.place.handler !== undefined) handlerFailed(draft, track);
  return true;
}

/** The exit code of a failed step is captured too: `continue_on_error` is of little use without it. */
export function ofFailure({ capture = {} }: Step, { exit_code }: StepError): Readonly<Record<string, Json>> {
  const names = Object.keys(capture).filter((name) => capture[name] === "exit_code");
  return Object.fromEntries(names.map((name) => [name, exit_code]));
}

function isTriedAgain(track: Track, { retry }: Step, error: StepError): boolean {
  if (retry === undefined || !error.retryable || track.tries >= retry.attempts) return false;
  if (retry.exit_codes === undefined) return true;
  return error.exit_code !== null && retry.exit_codes.includes(error.exit_code);
}

/** Q1. */
function waitMs({ retry }: Step, tries: number): number {
  if (retry === undefined) return 0;
  return Math.min(retry.backoff_ms * 2 ** Math.max(0, tries - 1), retry.max_backoff_ms);
}

/** The remaining `on_failure` steps are skipped, and the original step has failed with its own error. */
function handlerFailed(draft: Draft, track: Track): void {
  const step = stepsOf(draft.run.definition, track.place.phase)[track.place.index];
  if (step === undefined || track.handling === undefined) return;
  const { error, durationMs } = track.handling;
  const outcome = step.continue_on_error === true ? "ignored" : "failed";
  const data = { step: step.id, item: track.item ?? null, outcome, error, variables: ofFailure(step, error) } as const;
  const end = { output: null, duration_ms: durationMs, at: draft.at, ...triedOf(track.handling) };
  draft.add({ event: "workflow.step.ended", data: { ...data, ...end } });
}
