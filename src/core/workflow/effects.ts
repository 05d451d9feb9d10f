// What a run needs from the world, derived from its state: after a crash, effects without an outcome are requested
// again.
import { isReady } from "./advance.ts";
import type { WorkflowEffect } from "./commands.ts";
import { isQueued } from "./concurrency.ts";
import { type Attempt, attemptsOf, type Run, tracksOf } from "./run.ts";

export function effectsOf(run: Run): WorkflowEffect[] {
  const { id } = run;
  if (run.removed) return [...leftOver(run), { kind: "discard", id }];
  if (run.status.kind === "cancelled") return [...leftOver(run), { kind: "finish", id }];
  if (run.status.kind !== "going" && run.status.kind !== "closing") return [{ kind: "finish", id }];
  const effects = attemptsOf(run).flatMap((attempt) => ofAttempt(id, attempt));
  const at = timerOf(run);
  if (at !== undefined) effects.push({ kind: "timer", id, at });
  if (run.status.kind === "going") effects.push(...inProcess(run));
  return effects;
}

/** Only a run that was set aside is over while attempts run. */
function leftOver(run: Run): WorkflowEffect[] {
  const begun = attemptsOf(run).filter(({ state }) => state.kind !== "uncertain");
  return begun.map(({ id: attempt }) => ({ kind: "stop", id: run.id, attempt, signal: "SIGKILL" }));
}

function ofAttempt(id: string, { id: attempt, state, stop }: Attempt): WorkflowEffect[] {
  if (state.kind === "uncertain") return [];
  if (stop !== undefined) return [{ kind: "stop", id, attempt, signal: stop.signal }];
  return state.kind === "starting" ? [{ kind: "start", id, attempt }] : [];
}

/** The earliest of all deadlines, kill times and waits before a next try. */
export function timerOf(run: Run): string | undefined {
  return [...timesOf(run)].sort()[0];
}

/** All of them. */
export function timesOf(run: Run): readonly string[] {
  if (run.removed || (run.status.kind !== "going" && run.status.kind !== "closing")) return [];
  const times = tracksOf(run).flatMap((track) => [track.retryAt, dueOf(track.attempt)]);
  return times.filter((time) => time !== undefined);
}

/** When something is to be done about an attempt that has not ended by then. */
export function dueOf(attempt: Attempt | undefined): string | undefined {
  if (attempt === undefined || attempt.state.kind === "uncertain") return undefined;
  if (attempt.stop !== undefined) return attempt.stop.killAt;
  return attempt.state.kind === "waiting" ? undefined : attempt.deadline;
}

function inProcess(run: Run): WorkflowEffect[] {
  if (isQueued(run)) return []; // Whether it may begin depends on others: the engine asks on each of its rounds.
  const { id, items, main, definition } = run;
  if (tracksOf(run).some((track) => isReady(run, track))) return [{ kind: "advance", id }];
  if (definition.flow.mode !== "mapreduce" || main.place.phase !== "map" || items.complete) return [];
  const waits = main.attempt !== undefined || main.retryAt !== undefined;
  return waits ? [] : [{ kind: "read-items", id, from: items.all.length, attempt: items.source }];
}
