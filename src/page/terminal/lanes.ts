// Terminals by lane: the running ones, those that a person must decide about, and those that ended.
import type { BriefTerminal } from "../../wire/rpc/rpc.ts";

export type Lane = {
  readonly lane: string;
  readonly open: readonly BriefTerminal[];
  readonly lost: readonly BriefTerminal[];
  /** The newest end first. */
  readonly ended: readonly BriefTerminal[];
};

/** In the order of their names, so that nothing moves when something is printed somewhere. */
export function lanesOf(terminals: readonly BriefTerminal[]): Lane[] {
  const lanes = Map.groupBy(
    terminals.filter(({ removed }) => !removed),
    ({ lane }) => lane,
  );
  return [...lanes].sort(([a], [b]) => a.localeCompare(b)).map(([lane, all]) => laneOf(lane, all));
}

function laneOf(lane: string, all: readonly BriefTerminal[]): Lane {
  const named = all.toSorted((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
  return {
    lane,
    open: named.filter(({ state }) => state.kind === "running" || state.kind === "starting"),
    lost: named.filter(({ state }) => state.kind === "uncertain"),
    ended: named.filter(({ state }) => state.kind === "ended").sort((a, b) => endOf(b).localeCompare(endOf(a))),
  };
}

function endOf({ state }: BriefTerminal): string {
  return state.kind === "ended" ? state.at : "";
}
