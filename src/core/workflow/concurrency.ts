// How many runs of one workflow file may be in progress at once (`concurrency` in the file).
// CC1. A run that has not begun and finds no place is queued. That follows from the runs alone and is stored nowhere:
//      no crash can leave a run waiting for nothing, and every round of the engine tries again (E4 of its header).
// CC2. Runs begin in the order in which they were created. A run that waits for a person keeps its place.
import { type Refusal, refused } from "../../base/result.ts";
import { firstPhase } from "./definition.ts";
import type { Run, Runs } from "./run.ts";

/** CC1 */
export function isQueued(run: Run): boolean {
  return run.status.kind === "going" && run.definition.concurrency !== undefined && !hasBegun(run);
}

/** Whether something of it was done, or decided to be done. */
function hasBegun({ attempts, records, items, asked, main, worktree, definition }: Run): boolean {
  const first = worktree === undefined ? firstPhase(definition) : "worktree";
  if (attempts > 0 || records.length > 0 || items.complete || items.all.length > 0) return true;
  return asked !== undefined || main.place.phase !== first;
}

/** The runs of the same file that come before it, and are not over (CC2). */
function ahead(runs: Runs, run: Run): Run[] {
  const underWay = [...runs.values()].filter(
    ({ id, path, removed, status }) =>
      id !== run.id && path === run.path && !removed && (status.kind === "going" || status.kind === "closing"),
  );
  return underWay.filter((other) => hasBegun(other) || isBefore(other, run));
}

function isBefore(one: Run, other: Run): boolean {
  return one.createdAt === other.createdAt ? one.id < other.id : one.createdAt < other.createdAt;
}

export function hasPlace(runs: Runs, run: Run): boolean {
  const { concurrency } = run.definition;
  return concurrency === undefined || ahead(runs, run).length < concurrency;
}

/** Why it may not begin or begin again, with the run that is in its way. */
export function busy(runs: Runs, run: Run): Refusal {
  const [first = run] = ahead(runs, run);
  const limit = `concurrency: ${run.definition.concurrency}`;
  const message = `${first.name} is running already (${first.id.slice(0, 8)}), and its file has ${limit}.`;
  return refused("running", message, `Follow it: holdfast resume ${first.id.slice(0, 8)}`).error;
}
