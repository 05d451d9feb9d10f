// Finds the run that a person means.
// FR1. A name, or the path of a workflow file, means its only run, or the only one of several that can be meant (UC-7);
//      anything else is a prefix of an id that matches only one.
// FR2. Of several, a command that only looks takes the one that was started last; any other is refused with a list of
//      them.
// FR3. Without a key, the only run that can be meant is, of those that are not archived.
import { matchOne, shortId } from "../../base/ids.ts";
import { nearest } from "../../base/nearest.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import type { RunState } from "./run.ts";

/** What tells a run apart is known without looking at it; what can be done with it is not. */
type NamedRun = { readonly id: string; readonly name: string; readonly path: string };
export type SeenRun = NamedRun & {
  readonly state: RunState;
  readonly startedAt: string;
  readonly items: { readonly failed: number } | null;
};

/** Which runs a command can be about. */
export type MeantRuns = keyof typeof MEANT;
export const MEANT = {
  resumable: ({ state }: SeenRun) => ["failed", "interrupted", "uncertain", "waiting"].includes(state),
  endable: ({ state }: SeenRun) => !["done", "done_with_failures", "cancelled"].includes(state),
  running: ({ state }: SeenRun) => state === "running",
  failing: ({ items }: SeenRun) => items !== null && items.failed > 0,
} as const;

export type RunKey = {
  readonly key?: string;
  /** The key as a full path, if it is one. */
  readonly path?: string;
  readonly meant?: MeantRuns;
  /** FR2 */
  readonly newest?: boolean;
};

/** A person reads no more of them. */
const MAX_LISTED = 20;
const SEE_ALL = "`holdfast workflows` shows all.";

/** `look`: called only for those that may be meant. */
export function pickRun<T extends NamedRun>(
  runs: readonly T[],
  { key, path, meant, newest = false }: RunKey,
  look: (run: T) => SeenRun,
): Result<T> {
  const fits = meant === undefined ? () => true : (run: T) => MEANT[meant](look(run));
  if (key === undefined) return onlyRun(runs.filter(fits), meant, look);
  const named = namedRuns(runs, key, path);
  const narrowed = meant === undefined ? named : named.filter(fits);
  const [only, ...others] = narrowed.length === 1 ? narrowed : named;
  if (only !== undefined && others.length === 0) return ok(only); // FR1
  const last = newest ? inOrder(named, look).at(-1) : undefined;
  if (last !== undefined) return ok(last.run);
  if (only !== undefined) return whichRun(named, `There are ${named.length} runs of ${key}`, look); // FR2
  return runById(runs, key);
}

/** The runs with this name, else those of this workflow file. */
function namedRuns<T extends NamedRun>(runs: readonly T[], key: string, path: string | undefined): T[] {
  const named = runs.filter(({ name }) => name === key);
  return named.length > 0 || path === undefined ? named : runs.filter((run) => run.path === path);
}

function runById<T extends NamedRun>(runs: readonly T[], key: string): Result<T> {
  const id = matchOne(
    runs.map((run) => run.id),
    key,
  );
  const found = id.ok ? runs.find((run) => run.id === id.value) : undefined;
  if (found !== undefined) return ok(found);
  if (!id.ok && id.error.code === "ambiguous") return refused("ambiguous", id.error.message, "Give more of it.");
  const near = nearest(key, new Set(runs.map(({ name }) => name)));
  const hint = near === undefined ? SEE_ALL : `Did you mean ${near}? ${SEE_ALL}`;
  return refused("unknown", `There is no run "${key}".`, hint);
}

/** FR3 */
function onlyRun<T extends NamedRun>(
  runs: readonly T[],
  meant: MeantRuns | undefined,
  look: (run: T) => SeenRun,
): Result<T> {
  const [only, ...others] = runs;
  const to = meant === "resumable" ? " to resume" : "";
  if (only === undefined && to !== "") return refused("unknown", "There is no run to resume.", SEE_ALL);
  if (only === undefined) return refused("unknown", "There is no run yet.", "`holdfast run FILE` starts one.");
  return others.length === 0 ? ok(only) : whichRun(runs, `There are ${runs.length} runs${to}`, look);
}

/** One per line, in the order in which they were started. */
function whichRun<T extends NamedRun>(runs: readonly T[], message: string, look: (run: T) => SeenRun): Result<never> {
  const shown = inOrder(runs, look).slice(-MAX_LISTED);
  const width = Math.max(...shown.map(({ run }) => run.name.length));
  const lines = shown.map(({ run, seen }) => `${shortId(run.id)}  ${run.name.padEnd(width)}  ${seen.state}`);
  const older = runs.length > shown.length ? [`${runs.length - shown.length} older ones, and`] : [];
  const last = `${lines.pop()}, the newest`;
  const list = [...older, ...lines, last].map((line) => `  ${visibleLine(line)}`);
  return refused("ambiguous", [`${message}:`, ...list].join("\n"), "Give the id of the one you mean.");
}

function inOrder<T extends NamedRun>(runs: readonly T[], look: (run: T) => SeenRun) {
  const seen = runs.map((run) => ({ run, seen: look(run) }));
  return seen.sort((a, b) => (a.seen.startedAt < b.seen.startedAt ? -1 : a.seen.startedAt > b.seen.startedAt ? 1 : 0));
}
