// How far a run is, for people: `workflows`, the live view of `run`, and the web.
import type { Child } from "../terminal.ts";
import { currentStep } from "./advance.ts";
import { flatIndex } from "./checkpoint.ts";
import { stepsOf } from "./definition.ts";
import { type Attempt, attemptsOf, type Run, type RunState, stateOf } from "./run.ts";

export type Progress = {
  readonly state: RunState;
  /** The step it is at, from 1, and how many there are; a map counts as one. In an iterative run, of the present iteration. */
  readonly step: number;
  readonly steps: number;
  /** The id of that step; undefined in a map and behind the last one. */
  readonly at: string | undefined;
  readonly iteration: number;
  readonly items: ItemProgress | undefined;
  /** Attempts that a person has to decide about, or that wait for one. */
  readonly needs: readonly { readonly attempt: string; readonly step: string; readonly why: string }[];
};

export type ItemProgress = {
  readonly total: number;
  readonly active: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Whether the list is whole, so that `total` is. */
  readonly complete: boolean;
};

export function progressOf(run: Run): Progress {
  const steps = stepCount(run);
  return {
    state: stateOf(run),
    step: Math.min(flatIndex(run.definition, run.main.place) + 1, steps),
    steps,
    at: run.main.place.phase === "map" ? run.main.attempt?.step : currentStep(run, run.main)?.id,
    iteration: run.main.place.iteration,
    items: run.definition.flow.mode === "mapreduce" ? itemProgress(run) : undefined,
    needs: attemptsOf(run).flatMap(({ id, step, state }) => {
      const waits = state.kind === "uncertain" || state.kind === "waiting";
      return waits ? [{ attempt: id, step, why: state.reason }] : [];
    }),
  };
}

function stepCount({ definition }: Run): number {
  if (definition.flow.mode !== "mapreduce") return stepsOf(definition, "steps").length;
  return definition.flow.setup.length + 1 + definition.flow.reduce.length;
}

function itemProgress({ items, active }: Run): ItemProgress {
  const { all, succeeded, failed, complete } = items;
  return { total: all.length, active: active.size, succeeded, failed, complete };
}

/** The programs that were seen and whose end was not: what they may have left behind is known by them. */
export function childrenOf(run: Run): Child[] {
  return attemptsOf(run).flatMap((attempt) => attemptChild(attempt) ?? []);
}

export function attemptChild({ state }: Attempt): Child | undefined {
  const seen = state.kind === "waiting" ? state.before : state;
  return seen.kind === "running" || seen.kind === "uncertain" ? seen.child : undefined;
}
