// Formats runs, and finds the one that a person means.

import { matchOne } from "../../base/ids.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { nearest } from "../../wire/files/nearest.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { EXIT } from "../command-world.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { count } from "../print.ts";
import { shortId } from "../sessions.ts";
import { columns } from "../table.ts";

/** The exit code shells use for a program that Ctrl-C ended. */
const INTERRUPTED = 130;

/** Other programs rely on this shape: fields are added, never changed. */
export function rowOf({
  id,
  name,
  path,
  state,
  step,
  steps,
  startedAt,
  at,
  iteration,
  items,
  needs,
  trouble,
  lacks,
  error,
  resumed,
  worktree,
}: ListedRun) {
  return {
    id,
    name,
    path,
    state,
    step,
    steps,
    startedAt,
    at,
    iteration,
    items,
    needs,
    error,
    resumed,
    worktree,
    ...(trouble !== undefined && { trouble }),
    ...(lacks !== undefined && { lacks }),
  };
}

export async function printRun({ console }: DaemonCommandWorld, run: ListedRun): Promise<void> {
  await console.out.write(`${visibleLine(JSON.stringify(rowOf(run)))}\n`);
}

/** How to resolve paths, and which runs can be meant: for example, only resumable ones. */
export type Picking = {
  absolute(path: string): string;
  readonly meant?: (run: ListedRun) => boolean;
  /** For commands that only look: of several, the one that was started last. */
  readonly newest?: boolean;
};

/**
 * A name, or the path of a workflow file, means its only run, or the only one of several that can be meant (UC-7);
 * anything else is a prefix of an id that matches only one.
 */
export function pickRun(
  runs: readonly ListedRun[],
  key: string,
  { absolute, meant, newest = false }: Picking,
): Result<ListedRun> {
  const named = runsOf(runs, key, absolute);
  const narrowed = meant === undefined ? named : named.filter(meant);
  const [only, ...others] = narrowed.length === 1 ? narrowed : named;
  if (only !== undefined && others.length === 0) return ok(only);
  const last = named.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt)).at(-1);
  if (newest && last !== undefined) return ok(last);
  if (only !== undefined) return which(named, `There are ${named.length} runs of ${key}`);
  const id = matchOne(
    runs.map((run) => run.id),
    key,
  );
  const found = id.ok ? runs.find((run) => run.id === id.value) : undefined;
  if (found !== undefined) return ok(found);
  if (!id.ok && id.error.code === "ambiguous") return refused("ambiguous", id.error.message, "Give more of it.");
  const near = nearest(
    key,
    runs.map(({ name }) => name),
  );
  const meantName = near === undefined ? "" : `Did you mean ${near}? `;
  return refused("unknown", `There is no run "${key}".`, `${meantName}\`holdfast workflows\` shows all.`);
}

/** The runs with this name, else those of this workflow file. */
export function runsOf(runs: readonly ListedRun[], key: string, absolute: Picking["absolute"]): ListedRun[] {
  const named = runs.filter(({ name }) => name === key);
  return named.length > 0 ? named : runs.filter(({ path }) => path === absolute(key));
}

/** One per line, in the order in which they were started. */
export function which(runs: readonly ListedRun[], message: string): Result<never> {
  const inOrder = runs.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt));
  const cells = inOrder.map(({ id, name, state }) => [shortId(id), name, state]);
  const [last = "", ...others] = columns(cells, (text) => text.length).reverse();
  const lines = [...others.reverse(), `${last}, the newest`].map((line) => `  ${visibleLine(line)}`);
  return refused("ambiguous", [`${message}:`, ...lines].join("\n"), "Give the id of the one you mean.");
}

/** Whether it goes on by itself. */
export function isUnderWay(state: ListedRun["state"]): boolean {
  return state === "running" || state === "queued";
}

/** The exit code for a run's state. */
export function exitOf({ state, error, items }: ListedRun): number {
  if (state === "done_with_failures") return items?.mayFail === true ? EXIT.ok : EXIT.failed;
  if (state === "done" || isUnderWay(state)) return EXIT.ok;
  if (state === "waiting" || state === "uncertain") return EXIT.waiting;
  return state === "interrupted" ? INTERRUPTED : error?.exitCode || EXIT.failed;
}

/** "2 failed items". */
export function failedItems(items: ListedRun["items"]): string {
  return count(items?.failed ?? 0, "failed item");
}

/** "uncertain: step 3 (test)". */
export function stateText({ state, step, steps, at, needs, items }: ListedRun): string {
  if (state === "done_with_failures") return `done with ${failedItems(items)}`;
  if (state === "done" || state === "cancelled" || state === "queued") return state;
  const name = needs[0]?.step ?? at;
  const place = `step ${step}${state === "running" ? ` of ${steps}` : ""}${name === null ? "" : ` (${name})`}`;
  const counted = items === null || items.total === 0 ? "" : `, ${items.succeeded + items.failed}/${items.total} items`;
  return `${state}: ${place}${counted}`;
}
