// Which runs the list shows: by state, by the beginning of a name or id, and by when they began.
// RF1. The daemon chooses by state and name. It lists the newest first, so that a page without any run that is young
//      enough is the last one: older pages are not asked for.
import { ok, type Refusal, type Result } from "../../base/result.ts";
import type { RunState } from "../../core/workflow/run.ts";
import { type Asked, eachPage } from "../../wire/rpc/page.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";

const HOUR = 3_600_000;

export const STATES: Readonly<Record<string, readonly RunState[] | undefined>> = {
  "all states": undefined,
  "going on": ["queued", "running", "waiting", "uncertain"],
  "needs a person": ["waiting", "uncertain"],
  failed: ["failed", "done_with_failures"],
  stopped: ["interrupted", "cancelled"],
  done: ["done"],
};

export const TIMES: Readonly<Record<string, number | undefined>> = {
  "any time": undefined,
  "the last hour": HOUR,
  "the last day": 24 * HOUR,
  "the last week": 7 * 24 * HOUR,
  "the last month": 30 * 24 * HOUR,
};

/** Words of the tables above. */
export type RunFilter = { readonly state: string; readonly name: string; readonly time: string };
export const EVERYTHING: RunFilter = { state: "all states", name: "", time: "any time" };

/** What fits a look; the rest is on the next page. */
export const RUNS_A_PAGE = 50;

export type RunPage = { readonly runs: readonly ListedRun[]; readonly next: string | null };

export async function runPage(
  reader: Asked<"workflow.list">,
  { state, name, time }: RunFilter,
  after: string | undefined,
  now: number,
): Promise<Result<RunPage, Refusal>> {
  const states = STATES[state];
  const wish = {
    ...{ newest: true, limit: RUNS_A_PAGE },
    ...(after !== undefined && { after }),
    ...(states !== undefined && { state: states }),
    ...(name.trim() !== "" && { starts: name.trim() }),
  };
  const found: ListedRun[] = [];
  let end: string | null = null;
  const read = await eachPage(reader, "workflow.list", wish, (rows, next) => {
    found.push(...rows);
    end = next;
  });
  return read.ok ? ok(youngIn(found, end, TIMES[time], now)) : read;
}

/** RF1 */
export function youngIn(
  runs: readonly ListedRun[],
  next: string | null,
  within: number | undefined,
  now: number,
): RunPage {
  if (within === undefined) return { runs, next };
  const young = runs.filter(({ startedAt }) => now - Date.parse(startedAt) <= within);
  return { runs: young, next: young.length === 0 ? null : next };
}
