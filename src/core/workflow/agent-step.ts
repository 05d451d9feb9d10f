// Steps whose work an agent of the daemon does: which agent that is.
// GS1. The agent's id is derived from the attempt's, which no other attempt ever has: whoever asks for it again finds it.
// GS2. Its name says whose it is, and ends with the attempt: no two of them share one.
import { derivedId } from "../agent/derive.ts";
import { MAX_NAME } from "../agent/limits.ts";
import type { Step } from "./definition.ts";
import { attemptsOf, type Run } from "./run.ts";

/** How much of a run's id people see. */
const SHORT = 8;

/** A step with a program of its own runs that in a holder. */
export function isOfAgent({ work }: Step): boolean {
  return work.kind === "agent" && (work.command ?? []).length === 0;
}

/** GS1 */
export function agentOf(attempt: string): string {
  return derivedId(attempt, "agent");
}

/** GS2 */
export function agentName({ name, id }: Run, step: string, item: number | undefined, attempt: string): string {
  const head = [name, step, ...(item === undefined ? [] : [item])].join("-").replaceAll(/[^A-Za-z0-9._-]/g, "-");
  const tail = `-${id.slice(0, SHORT)}${attempt.slice(attempt.lastIndexOf("."))}`;
  return `${head.replace(/^[^A-Za-z0-9]+/, "")}`
    .slice(0, MAX_NAME - tail.length)
    .concat(tail)
    .replace(/^-/, "");
}

/** Whether the run has begun this attempt, and has it no more. */
export function isAttemptOver(run: Run, attempt: string): boolean {
  const number = Number(attempt.slice(attempt.lastIndexOf(".") + 1));
  return number <= run.attempts && attemptsOf(run).every(({ id }) => id !== attempt);
}
