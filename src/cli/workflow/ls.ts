// `holdfast workflows`: the runs, one per line; with --json in the shape that other programs rely on.

import { localTime } from "../../base/local-time.ts";
import { ok } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { nextOf } from "../../core/workflow/progress.ts";
import type { RunState } from "../../core/workflow/run.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { look } from "../look.ts";
import { say } from "../print.ts";
import { shortId } from "../sessions.ts";
import { commandTable } from "../table.ts";
import { rowOf, stateText } from "./rows.ts";

const HEAD = ["ID", "NAME", "STARTED", "STATE", "NEXT"];
const WORKTREE = "WORKTREE";
/** In a narrow window these columns are cut, once the next commands are below their runs. */
const CUTS = [
  { column: HEAD.length, keeps: "end" },
  { column: HEAD.indexOf("STATE"), keeps: "start" },
  { column: HEAD.indexOf("NAME"), keeps: "start" },
] as const;

export type ListFlags = DataFlags & {
  readonly state?: readonly RunState[];
  readonly name?: string;
  readonly last?: number;
};

async function workflows(world: DaemonCommandWorld, flags: ListFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const listed = await look(world, { home: home.value, json: flags.json }, (reader) =>
    reader.call("workflow.list", {}),
  );
  if (!listed.ok) return listed;
  const all = listed.value.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt));
  const runs = chosen(all, flags);
  const { console } = world;
  if (flags.json) await console.out.write(`${visibleLine(JSON.stringify(runs.map(rowOf)))}\n`);
  else if (all.length === 0) await say(console, "there are no runs yet. `holdfast run FILE` starts one.");
  else if (runs.length === 0) await say(console, "there are no such runs.");
  else await console.out.write(tableOf(world, runs));
  return ok(EXIT.ok);
}

function chosen(runs: readonly ListedRun[], { state, name, last }: ListFlags): readonly ListedRun[] {
  const found = runs.filter(
    (run) => (state === undefined || state.includes(run.state)) && (name === undefined || run.name === name),
  );
  return last === undefined ? found : found.slice(Math.max(0, found.length - last));
}

function tableOf({ console }: DaemonCommandWorld, runs: readonly ListedRun[]): string {
  const some = runs.some(({ worktree }) => worktree !== null);
  const rows = runs.map((run) =>
    [...cellsOf(run, console), ...(some ? [run.worktree?.path ?? ""] : [])].map(visibleLine),
  );
  const column = HEAD.indexOf("NEXT");
  const cuts = some ? CUTS : CUTS.slice(1);
  return commandTable(console, [[...HEAD, ...(some ? [WORKTREE] : [])], ...rows], { column, cuts });
}

function cellsOf(run: ListedRun, console: DaemonCommandWorld["console"]): string[] {
  const { id, name, startedAt } = run;
  return [shortId(id), name, localTime(console, startedAt), stateText(run), nextText(run)];
}

function nextText({ id, state, needs, trouble }: ListedRun): string {
  const need = needs.find(({ agent }) => agent !== null);
  if (need !== undefined) return nextOf(id, need); // Even if other items of a map continue.
  if (trouble !== undefined) return `it is tried again: ${trouble}`;
  return ["waiting", "uncertain", "failed", "interrupted"].includes(state) ? `holdfast resume ${shortId(id)}` : "";
}

export const workflowsCommand = withDaemonWorld(workflows);
