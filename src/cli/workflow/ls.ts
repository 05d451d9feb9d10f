// `holdfast workflows`: the runs, one per line; with --json in the shape that other programs rely on.

import { shortId } from "../../base/ids.ts";
import { localTime } from "../../base/local-time.ts";
import { ok, type Result } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { nextOf } from "../../core/workflow/progress.ts";
import type { RunState } from "../../core/workflow/run.ts";
import { allRows, eachPage, fits } from "../../wire/rpc/page.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { Reader } from "../disk-reader.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { look } from "../look.ts";
import { JsonList, say } from "../print.ts";
import { commandTable, PagedTable } from "../table.ts";
import { rowOf, slotText, stateText } from "./rows.ts";

const HEAD = ["ID", "NAME", "STARTED", "STATE", "NEXT"];
const WORKTREE = "WORKTREE";
/** In a narrow window these columns are cut, once the next commands are below their runs. */
const CUTS = [
  { column: HEAD.length, keeps: "end" },
  { column: HEAD.indexOf("STATE"), keeps: "start" },
  { column: HEAD.indexOf("NAME"), keeps: "start" },
] as const;

const ALL_TABLE = {
  column: HEAD.indexOf("NEXT") + 1,
  cuts: CUTS.slice(1).map(({ column, keeps }) => ({ column: column + 1, keeps })),
};

export type ListFlags = DataFlags & {
  readonly state?: readonly RunState[];
  readonly name?: string;
  readonly last?: number;
  readonly all?: boolean;
};

async function workflows(world: DaemonCommandWorld, flags: ListFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const { last, state, name } = flags;
  const filter = { ...(state !== undefined && { state }), ...(name !== undefined && { name }) };
  if (flags.all === true) return workflowsAll(world, home.value, flags);
  const print = printerOf(world, flags);
  let after: string | undefined;
  const listed = await look(world, { home: home.value, json: flags.json }, async (reader) => {
    if (last !== undefined) return printLast(reader, filter, last, print.rows);
    const from = after === undefined ? {} : { after }; // A page that was printed is not printed again.
    return eachPage(reader, "workflow.list", { ...filter, ...from }, async (runs, next) => {
      await print.rows(runs);
      after = next ?? after;
    });
  });
  if (!listed.ok) return listed;
  const chosen = state !== undefined || name !== undefined || last === 0;
  await print.end(chosen ? "there are no such runs." : "there are no runs yet. `holdfast run FILE` starts one.");
  return ok(EXIT.ok);
}

async function workflowsAll(world: DaemonCommandWorld, home: string, flags: ListFlags): Promise<Exit> {
  const { everywhere, printAllJson, behindHosts } = await import("../fleet/all.ts");
  const { console } = world;
  const { last = Number.POSITIVE_INFINITY, state, name } = flags;
  const filter = { ...(state !== undefined && { state }), ...(name !== undefined && { name }) };
  const chosen = (runs: readonly ListedRun[]) =>
    last === 0 ? [] : runs.filter((run) => fits(run, filter)).slice(-last || undefined);
  const homes = await everywhere<ListedRun>(world, home, {
    kind: "runs",
    own: async () => {
      const runs = await look(world, { home, json: flags.json }, (reader) => allRows(reader, "workflow.list", filter));
      return runs.ok ? ok(chosen(runs.value)) : runs;
    },
    rows: ({ runs }) => chosen(runs),
  });
  if (!homes.ok) return homes;
  // What is next is a command for that home, and would mean another run here.
  const cells = (run: ListedRun, isHere: boolean) => cellsOf(run, console).with(-1, isHere ? nextText(run) : "");
  const rows = behindHosts(homes.value, cells);
  if (flags.json) await printAllJson(world, homes.value, (runs) => runs.map(rowOf));
  else if (rows.length === 0) await say(console, "there are no such runs in the fleet.");
  else await console.out.write(commandTable(console, [["HOST", ...HEAD], ...rows], ALL_TABLE));
  return ok(EXIT.ok);
}

/** They come as the newest first. */
async function printLast(
  reader: Reader,
  filter: Pick<ListFlags, "state" | "name">,
  last: number,
  print: (runs: readonly ListedRun[]) => Promise<void>,
): Promise<Result<void>> {
  const runs = last === 0 ? ok([]) : await allRows(reader, "workflow.list", { ...filter, newest: true, limit: last });
  if (!runs.ok) return runs;
  await print(runs.value.toReversed());
  return ok(undefined);
}

type RunsPrinter = { rows(runs: readonly ListedRun[]): Promise<void>; end(none: string): Promise<void> };

function printerOf({ console }: DaemonCommandWorld, { json }: ListFlags): RunsPrinter {
  const list = new JsonList(console);
  if (json) return { rows: (runs) => list.add(runs.map(rowOf)), end: () => list.end() };
  const table = new PagedTable(console, HEAD);
  return {
    rows: async (runs) => {
      if (runs.length > 0) await console.out.write(pageText(console, table, runs));
    },
    end: async (none) => {
      if (table.isEmpty) await say(console, none);
    },
  };
}

function pageText(console: DaemonCommandWorld["console"], table: PagedTable, runs: readonly ListedRun[]): string {
  const some = runs.some(({ worktree }) => worktree !== null);
  const rows = runs.map((run) =>
    [...cellsOf(run, console), ...(some ? [run.worktree?.path ?? ""] : [])].map(visibleLine),
  );
  const [column, cuts] = [HEAD.indexOf("NEXT"), some ? CUTS : CUTS.slice(1)];
  return table.add(rows, ([head = [], ...others]) =>
    commandTable(console, [some && table.isEmpty ? [...head, WORKTREE] : head, ...others], { column, cuts }),
  );
}

function cellsOf(run: ListedRun, console: DaemonCommandWorld["console"]): string[] {
  const { id, name, startedAt } = run;
  return [shortId(id), name, localTime(console, startedAt), stateText(run), nextText(run)];
}

function nextText({ id, state, needs, trouble, waitsForSlot = 0 }: ListedRun): string {
  const need = needs.find(({ agent }) => agent !== null);
  if (need !== undefined) return nextOf(id, need); // Even if other items of a map continue.
  if (trouble !== undefined) return `it is tried again: ${trouble}`;
  if (waitsForSlot > 0) return slotText(waitsForSlot);
  return ["waiting", "uncertain", "failed", "interrupted"].includes(state) ? `holdfast resume ${shortId(id)}` : "";
}

export const workflowsCommand = withDaemonWorld(workflows);
