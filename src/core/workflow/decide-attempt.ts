// Decides on what the world, or a person, reports about an attempt (W2 … W4 of decide.ts).
import { type Refusal, refused } from "../../base/result.ts";
import { advance } from "./advance.ts";
import { captured, recorded } from "./capture.ts";
import type { Output, WorkflowCommand } from "./commands.ts";
import { onUncertain, type Step, stepById } from "./definition.ts";
import type { Draft } from "./draft.ts";
import type { Asker, StopReason, Tried, UncertainVerdict } from "./events.ts";
import { attemptError, failed, stepError } from "./failure.ts";
import { MAX_MESSAGE } from "./limits.ts";
import { onLoss } from "./resume.ts";
import { type Attempt, askedText, attemptNumber, attemptsOf, type Track, tracksOf, triedOf } from "./run.ts";

type Report = Extract<WorkflowCommand, { readonly attempt: string }>;
type Ended = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly error: string | null;
  readonly output: Output;
};

/** The attempt, with its track and step. */
type Present = { readonly track: Track; readonly attempt: Attempt; readonly step: Step };

export function isAttemptReport(command: WorkflowCommand): command is Report {
  return "attempt" in command;
}

export function decideAttempt(draft: Draft, command: Report): Refusal | undefined {
  const present = presentOf(draft, command.attempt);
  if (command.kind === "resolve") return resolve(draft, present, command);
  if (present === undefined) return undefined; // W2
  const reason = "reason" in command ? command.reason.slice(0, MAX_MESSAGE) : "";
  if (command.kind === "attempt-running") running(draft, present, command);
  else if (command.kind === "attempt-handed") handed(draft, present, command.agent);
  else if (command.kind === "attempt-waiting") waiting(draft, present, { ...command, reason });
  else if (command.kind === "attempt-lost") lost(draft, present, { ...command, reason });
  else if (command.kind === "attempt-ended") ended(draft, present, { ...command, error: null });
  else ended(draft, present, { code: null, signal: null, error: reason, output: { text: "", bytes: 0 } });
  return undefined;
}

function presentOf({ run }: Draft, id: string): Present | undefined {
  const track = tracksOf(run).find(({ attempt }) => attempt?.id === id);
  const step = track?.attempt === undefined ? undefined : stepById(run.definition, track.attempt.step);
  return track?.attempt === undefined || step === undefined ? undefined : { track, attempt: track.attempt, step };
}

function running(
  draft: Draft,
  { attempt, step }: Present,
  { child, holder }: Extract<Report, { kind: "attempt-running" }>,
): void {
  const { id, state } = attempt;
  const { pid, startTime: start_time, bootId: boot_id } = child;
  if (state.kind === "running" && state.child.pid === pid && state.child.startTime === start_time) return;
  const deadline = deadlineOf(draft, attempt, step);
  draft.add({ event: "workflow.attempt.running", data: { attempt: id, pid, start_time, boot_id, holder, deadline } });
}

/** From now on; after waiting for a person, with the time that was left then. */
function deadlineOf(draft: Draft, { state }: Attempt, { timeout_ms }: Step): string | null {
  const left = (state.kind === "waiting" ? state.leftMs : undefined) ?? timeout_ms;
  return left === undefined ? null : draft.in(left);
}

function handed(draft: Draft, { attempt, step }: Present, agent: string): void {
  const { id, state } = attempt;
  if (state.kind === "handed" || state.kind === "uncertain") return;
  const deadline = deadlineOf(draft, attempt, step);
  draft.add({ event: "workflow.attempt.handed", data: { attempt: id, agent, deadline } });
}

type Waiting = Extract<Report, { readonly kind: "attempt-waiting" }>;

function waiting(draft: Draft, { attempt, step }: Present, { reason, prompt, since }: Waiting): void {
  const { id, state } = attempt;
  if (state.kind === "uncertain" || (state.kind === "waiting" && state.reason === reason && state.prompt === prompt))
    return;
  const left = state.kind === "waiting" ? state.leftMs : leftOf(draft, attempt, step, since);
  const data = {
    attempt: id,
    reason,
    ...(prompt !== undefined && { prompt }),
    ...(left !== undefined && { left_ms: left }),
  };
  draft.add({ event: "workflow.attempt.waiting", data });
}

/** What was left of its time at that moment; `then` is undefined for now. */
function leftOf(
  draft: Draft,
  { deadline }: Attempt,
  { timeout_ms }: Step,
  then: string | undefined,
): number | undefined {
  if (deadline === undefined || timeout_ms === undefined) return undefined;
  return Math.min(timeout_ms, Math.max(0, draft.left(deadline) + draft.since(then)));
}

function ended(draft: Draft, { track, attempt, step }: Present, { code, signal, error, output }: Ended): void {
  const { at } = draft;
  const facts = { attempt: attempt.id, code, signal, error, output: recorded(output.text), output_bytes: output.bytes };
  draft.add({ event: "workflow.attempt.ended", data: { ...facts, at } });
  const stopped = attempt.stop?.reason;
  if (code === 0 && stopped !== "timeout") succeeded(draft, { track, attempt, step }, output);
  else if (stopped === undefined || stopped === "timeout") {
    const message = error ?? messageOf(step, code, signal, stopped);
    const failure = attemptError(attempt, stepError(step, message, code, true));
    failed(draft, { ...track, output: facts.output }, step, failure);
  }
  // Otherwise it ended because the run is being closed: its step is neither done nor failed, and `resume` starts it
  // again.
  advance(draft);
}

function succeeded(draft: Draft, { track, attempt, step }: Present, output: Output): void {
  const variables = captured(step, output, 0);
  if (!variables.ok) {
    failed(draft, track, step, attemptError(attempt, stepError(step, variables.error.message, 0, true)));
    return;
  }
  const data = { step: step.id, item: track.item ?? null, outcome: "succeeded", error: null } as const;
  const values = { variables: variables.value, output: recorded(output.text) };
  draft.add({
    event: "workflow.step.ended",
    data: { ...data, ...values, duration_ms: draft.since(track.since), at: draft.at, ...succeededAt(track, attempt) },
  });
}

/** The items of a map keep no steps. */
function succeededAt({ item, tries }: Track, { id }: Attempt): Tried {
  return triedOf({ tries, ...(item === undefined && { attempt: attemptNumber(id) }) });
}

function messageOf(step: Step, code: number | null, signal: string | null, stopped: StopReason | undefined): string {
  if (stopped === "timeout") return `Timed out after ${(step.timeout_ms ?? 0) / 1000} s.`;
  return signal === null ? `It ended with exit code ${code}.` : `It was ended by ${signal}.`;
}

type Lost = Extract<Report, { readonly kind: "attempt-lost" }>;

/** W3. What has not run at all is tried again, a few times in a row. */
function lost(draft: Draft, present: Present, { reason, unstarted }: Lost): void {
  const { track, attempt, step } = present;
  if (attempt.state.kind === "uncertain") return;
  const { at } = draft;
  draft.add({ event: "workflow.attempt.uncertain", data: { attempt: attempt.id, reason, at } });
  const policy = onLoss(unstarted === true ? "rerun" : onUncertain(step), track.lost);
  if (policy === "rerun" && draft.run.status.kind === "going") verdict(draft, present, "rerun", "policy");
  else if (policy === "fail") verdict(draft, present, "failed", "policy");
  advance(draft);
}

/** Attempts that were lost while the run was being stopped, and whose file says what to do. */
export function rerunUncertain(draft: Draft): void {
  for (const { id, state } of attemptsOf(draft.run)) {
    const present = state.kind === "uncertain" ? presentOf(draft, id) : undefined;
    if (present !== undefined && onUncertain(present.step) === "rerun") verdict(draft, present, "rerun", "policy");
  }
}

function resolve(
  draft: Draft,
  present: Present | undefined,
  { attempt, verdict: given, by }: Extract<Report, { kind: "resolve" }>,
): Refusal | undefined {
  if (present?.attempt.state.kind !== "uncertain") {
    const { run } = draft;
    if (by !== undefined && run.asked?.by.wish === by.wish) return undefined; // W4
    const who = askedText(run);
    const message = `${attempt} is not uncertain${who === undefined ? "" : `: ${who}`}.`;
    return refused("not-uncertain", message, "`holdfast workflows` shows what is.").error;
  }
  verdict(draft, present, given, by ?? "person");
  advance(draft);
  return undefined;
}

function verdict(
  draft: Draft,
  { track, attempt, step }: Present,
  given: UncertainVerdict,
  who: Asker | "person" | "policy",
): void {
  const { at } = draft;
  const by = typeof who === "string" ? { by: who } : { by: "person" as const, who };
  draft.add({ event: "workflow.attempt.resolved", data: { attempt: attempt.id, verdict: given, ...by, at } });
  if (given === "failed") {
    const message = "It was started, and how it ended is not known.";
    const failure = attemptError(attempt, stepError(step, message, null, true));
    failed(draft, { ...track, attempt: undefined }, step, failure);
  }
  if (given !== "done") return;
  const data = { step: step.id, item: track.item ?? null, outcome: "succeeded", error: null, variables: {} } as const;
  draft.add({
    event: "workflow.step.ended",
    data: { ...data, output: null, duration_ms: draft.since(track.since), at, ...succeededAt(track, attempt) },
  });
}
