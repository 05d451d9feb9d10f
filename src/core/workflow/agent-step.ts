// Steps that an agent of the daemon works on: which agent that is.
// GS1. The agent's id is derived from the attempt's, which is never used again: a repeated request finds the same
//      agent.
// GS2. Its name says what it works on, and ends with the attempt: no two agents share one.
// GS3. It is in the lane of its workflow, by which it can be muted.
import { derivedId } from "../agent/derive.ts";
import { MAX_NAME } from "../agent/limits.ts";
import type { Step } from "./definition.ts";
import { attemptNumber, attemptsOf, type Run } from "./run.ts";

/** How much of a run's id is shown. */
const SHORT = 8;

/** A step with its own program runs in a holder. */
export function isOfAgent({ work }: Step): boolean {
  return work.kind === "agent" && (work.command ?? []).length === 0;
}

/** GS1 */
export function agentOf(attempt: string): string {
  return derivedId(attempt, "agent");
}

/** GS2 */
export function agentName({ name, id }: Run, step: string, item: number | undefined, attempt: string): string {
  const head = plainName([name, step, ...(item === undefined ? [] : [item])].join("-"));
  const tail = `-${id.slice(0, SHORT)}${attempt.slice(attempt.lastIndexOf("."))}`;
  return head
    .slice(0, MAX_NAME - tail.length)
    .concat(tail)
    .replace(/^-/, "");
}

/** GS3. Undefined if nothing of the name can be one of a lane. */
export function laneOf({ name }: Pick<Run, "name">): string | undefined {
  return plainName(name).slice(0, MAX_NAME) || undefined;
}

function plainName(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9._-]/g, "-").replace(/^[^A-Za-z0-9]+/, "");
}

/** Whether the run has started this attempt and no longer has it. */
export function isAttemptOver(run: Run, attempt: string): boolean {
  return attemptNumber(attempt) <= run.attempts && attemptsOf(run).every(({ id }) => id !== attempt);
}
