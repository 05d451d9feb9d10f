// The times an agent waits for, derived from its state (S3 of process.ts).
import { timeText } from "../../base/time-text.ts";
import { type Agent, openPrompts } from "./agent.ts";

/** The earliest of all of them. */
export function timerOf(agent: Agent): string | undefined {
  return [...timesOf(agent)].sort()[0];
}

/** When `wake` is to be submitted. */
export function timesOf(agent: Agent): readonly string[] {
  const due = dueOf(agent);
  if (agent.terminated !== undefined) return due === undefined ? [] : [due];
  const prompts = agent.prompts.flatMap(({ state, deadline }) => (state.kind === "open" ? [deadline] : []));
  const reminders = agent.reminders.map(({ due }) => due);
  const waits = [due, agent.sleep?.until, agent.sleep === undefined ? agent.turn?.retryAt : undefined];
  return [...prompts, ...reminders, ...waits].filter((time) => time !== undefined);
}

/** When something is to be done about its process. */
export function dueOf(agent: Agent): string | undefined {
  const { process: program } = agent;
  if (program.kind === "BackoffWait") return program.until;
  if (program.kind === "Hung" || program.kind === "Stopping") return program.killAt ?? undefined;
  return hungAt(agent);
}

/**
 * SP-1: when a silent process is hung. The time does not run while a person is asked, the agent sleeps, or its provider
 * has said that it waits before it tries again.
 */
export function hungAt(agent: Agent): string | undefined {
  const { process: program, turn, settings } = agent;
  if (program.kind !== "Running" || turn === undefined || agent.sleep !== undefined) return undefined;
  if (openPrompts(agent).length > 0) return undefined;
  const last = Math.max(Date.parse(program.heardAt), Date.parse(turn.trouble?.until ?? program.heardAt));
  return timeText(last + settings.hung_after_ms);
}
