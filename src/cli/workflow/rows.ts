// Formats runs, and has the daemon find the one that a person means.

import type { Result } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { pickRun, type RunKey } from "../../core/workflow/find.ts";
import { allRows } from "../../wire/rpc/page.ts";
import { NO_SUCH_METHOD } from "../../wire/rpc/rpc.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { EXIT } from "../command-world.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import type { Reader } from "../disk-reader.ts";
import { count } from "../print.ts";

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
  waitsForSlot,
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
    ...(waitsForSlot !== undefined && { waitsForSlot }),
  };
}

export function slotText(steps: number): string {
  return `${count(steps, "step")} ${steps === 1 ? "waits" : "wait"} for a free slot ([workflows] slots)`;
}

export async function printRun({ console }: DaemonCommandWorld, run: ListedRun): Promise<void> {
  await console.out.write(`${visibleLine(JSON.stringify(rowOf(run)))}\n`);
}

/** Which run is meant (core/workflow/find.ts). */
export type Picking = Pick<RunKey, "meant" | "newest">;

/**
 * Has the daemon find a run. The key may be the path of a workflow file, as the shell gives it. A daemon that is older
 * than this lists all runs, and the rule is applied here.
 */
export async function findRun(
  { console }: Pick<DaemonCommandWorld, "console">,
  reader: Reader,
  key: string | undefined,
  picking: Picking = {},
): Promise<Result<ListedRun>> {
  const wish = { ...picking, ...(key !== undefined && { key, path: console.absolute(key) }) };
  const found = await reader.call("workflow.find", wish);
  if (found.ok || found.error.code !== NO_SUCH_METHOD) return found;
  const all = await allRows(reader, "workflow.list", {});
  return all.ok ? pickRun(all.value, wish, (run) => run) : all;
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
