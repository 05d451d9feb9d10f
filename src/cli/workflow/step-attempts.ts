// The attempts of a step, from the run's log.
import { agentSession } from "../../core/agent/agent.ts";
import { agentOf } from "../../core/workflow/agent-step.ts";
import type { AttemptStarted } from "../../core/workflow/events.ts";
import { attemptNumber } from "../../core/workflow/run.ts";
import type { LogView } from "../../log/inspect.ts";
import { workflowEventOf } from "../../wire/stored/workflow.ts";

export type StepAttempt = {
  readonly attempt: string;
  /** Its number in the run. */
  readonly number: number;
  readonly step: string;
  readonly item: number | null;
  readonly try: number;
  readonly startedAt: string;
  /** The agent that works on it; null if it has a program of its own. */
  readonly agent: string | null;
  readonly end: AttemptEnd | undefined;
};

/** `output` is the end of its output, as the log has kept it. */
export type AttemptEnd = {
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it never ran, or what is unknown about its end. */
  readonly error: string | null;
  readonly output: string;
  readonly at: string;
};

/** A filter; an undefined field matches all. */
export type Which = {
  readonly step: string | undefined;
  readonly attempt: number | undefined;
  readonly item: number | undefined;
};

/** `isTrimmed`: whether retention has removed the beginning of the log, and older attempts with it. */
export type FoundAttempts = { readonly attempts: readonly StepAttempt[]; readonly isTrimmed: boolean };

export function attemptsIn(view: LogView, session: string, which: Which): FoundAttempts {
  const found = new Map<string, StepAttempt>();
  let isTrimmed = false;
  const sessions = new Set(view.sessions);
  for (const reading of view.read(session)) {
    const event = reading.kind === "entry" ? workflowEventOf(reading.entry) : undefined;
    if (reading.kind === "trimmed") isTrimmed = true;
    if (event?.event === "workflow.attempt.started") {
      const one = begun(event.data, sessions);
      if (isMeant(one, which)) found.set(one.attempt, one);
    }
    if (event?.event === "workflow.attempt.ended") close(found, event.data.attempt, event.data);
    if (event?.event === "workflow.attempt.uncertain") {
      const { attempt, reason, at } = event.data;
      close(found, attempt, { code: null, signal: null, error: `it is uncertain: ${reason}`, output: "", at });
    }
  }
  return { attempts: [...found.values()], isTrimmed };
}

function begun(data: AttemptStarted, sessions: ReadonlySet<string>): StepAttempt {
  const { attempt, step, item, try: time, at } = data;
  const number = attemptNumber(attempt);
  const agent = sessions.has(agentSession(agentOf(attempt))) ? agentOf(attempt) : null;
  return { attempt, number, step, item, try: time, startedAt: at, agent, end: undefined };
}

function close(found: Map<string, StepAttempt>, attempt: string, end: AttemptEnd): void {
  const one = found.get(attempt);
  if (one !== undefined) found.set(attempt, { ...one, end });
}

export function isMeant(
  one: { readonly step: string; readonly item: number | null; readonly number: number },
  { step, attempt, item }: Which,
): boolean {
  if ((step !== undefined && one.step !== step) || (attempt !== undefined && one.number !== attempt)) return false;
  return item === undefined || one.item === item;
}
