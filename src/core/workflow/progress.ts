// The progress of a run, for people: `workflows`, the live view of `run`, and the web.
import type { Child } from "../terminal/terminal.ts";
import { currentStep } from "./advance.ts";
import { flatIndex, fromCheckpoint, type WorkflowCheckpoint } from "./checkpoint.ts";
import { isQueued } from "./concurrency.ts";
import { stepsOf } from "./definition.ts";
import { type Attempt, attemptsOf, type Run, type RunState, stateOf, workOf } from "./run.ts";

export type Progress = {
  readonly state: RunState;
  /**
   * The current step, from 1, and the number of steps; a map counts as one. In an iterative run, of the current
   * iteration.
   */
  readonly step: number;
  readonly steps: number;
  /** The id of that step; undefined in a map and after the last one. */
  readonly at: string | undefined;
  readonly iteration: number;
  readonly items: ItemProgress | undefined;
  /** Attempts that a person has to decide about, or that wait for a person. */
  readonly needs: readonly Need[];
};

/** `agent` is the agent that waits for a person, and `prompt` what it asks; without an agent it is uncertain. */
export type Need = {
  readonly attempt: string;
  readonly step: string;
  readonly why: string;
  readonly agent: string | null;
  readonly prompt: string | null;
};

export type ItemProgress = {
  readonly total: number;
  readonly active: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Whether the list, and so `total`, is complete. */
  readonly complete: boolean;
  /** Whether a run with failed items is a success nevertheless. */
  readonly mayFail: boolean;
};

export function progressOf(run: Run): Progress {
  const steps = stepCount(run);
  return {
    state: isQueued(run) ? "queued" : stateOf(run),
    step: Math.min(flatIndex(run.definition, run.main.place) + 1, steps),
    steps,
    at: run.main.place.phase === "map" ? run.main.attempt?.step : currentStep(run, run.main)?.id,
    iteration: run.main.place.iteration,
    items: itemProgress(run),
    needs: attemptsOf(run).flatMap(needOf),
  };
}

function needOf({ id: attempt, step, state }: Attempt): Need[] {
  if (state.kind !== "uncertain" && state.kind !== "waiting") return [];
  const { reason: why } = state;
  if (state.kind === "uncertain") return [{ attempt, step, why, agent: null, prompt: null }];
  const agent = state.before.kind === "handed" ? state.before.agent : null;
  return [{ attempt, step, why, agent, prompt: state.prompt ?? null }];
}

/** The next command for a person. */
export function nextOf(run: string, { agent, prompt }: Need): string {
  if (prompt !== null) return `holdfast answer ${prompt} allow|deny`;
  return agent === null ? `holdfast resume ${run.slice(0, 8)}` : `holdfast agent retry ${agent.slice(0, 8)}`;
}

function stepCount({ definition }: Run): number {
  if (definition.flow.mode !== "mapreduce") return stepsOf(definition, "steps").length;
  return definition.flow.setup.length + 1 + definition.flow.reduce.length;
}

function itemProgress({ items, active, definition: { flow } }: Run): ItemProgress | undefined {
  if (flow.mode !== "mapreduce") return undefined;
  const { all, succeeded, failed, complete } = items;
  const mayFail = flow.map.on_item_failure === "continue";
  return { total: all.length, active: active.size, succeeded, failed, complete, mayFail };
}

/** Where a run was at a checkpoint: "2 of 5 (test)", and for a map its progress. */
export function checkpointText(checkpoint: WorkflowCheckpoint): string {
  const { step, steps, at, items, iteration } = progressOf(fromCheckpoint(checkpoint));
  const name = at === undefined ? "" : ` (${at})`;
  const round = checkpoint.workflow_type.kind === "Iterative" ? `, iteration ${iteration}` : "";
  const map =
    items === undefined || items.total === 0 ? "" : `, ${items.succeeded + items.failed}/${items.total} items`;
  return `${step} of ${steps}${name}${round}${map}`;
}

/** The programs that were seen and whose end was not: used to find what they may have left behind. */
export function childrenOf(run: Run): Child[] {
  return attemptsOf(run).flatMap((attempt) => attemptChild(attempt) ?? []);
}

export function attemptChild({ state }: Attempt): Child | undefined {
  const seen = workOf(state);
  return seen.kind === "running" || seen.kind === "uncertain" ? seen.child : undefined;
}
