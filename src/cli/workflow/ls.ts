// `holdfast workflows`: the runs, one per line; with --json in the shape that other programs rely on.

import { ok } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { nextOf } from "../../core/workflow/progress.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { say } from "../print.ts";
import { shortId } from "../sessions.ts";
import { columns } from "../table.ts";
import { rowOf, stateText } from "./rows.ts";

const HEAD = ["ID", "NAME", "STARTED", "STATE", "NEXT"];
const WORKTREE = "WORKTREE";

async function workflows(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const listed = await onDaemon(world, home.value, (client) => client.call("workflow.list", {}));
  if (!listed.ok) return listed;
  const runs = listed.value.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt));
  const { console } = world;
  if (flags.json) await console.out.write(`${visibleLine(JSON.stringify(runs.map(rowOf)))}\n`);
  else if (runs.length === 0) await say(console, "there are no runs yet. `holdfast run FILE` starts one.");
  else await console.out.write(tableOf(world, runs));
  return ok(EXIT.ok);
}

function tableOf({ console }: DaemonCommandWorld, runs: readonly ListedRun[]): string {
  const some = runs.some(({ worktree }) => worktree !== null);
  const rows = runs.map((run) => [...cellsOf(run), ...(some ? [run.worktree?.path ?? ""] : [])].map(visibleLine));
  return columns([[...HEAD, ...(some ? [WORKTREE] : [])], ...rows], console.widthOf)
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}

function cellsOf(run: ListedRun): string[] {
  const { id, name, startedAt } = run;
  return [shortId(id), name, startedAt.slice(0, 19), stateText(run), nextText(run)];
}

function nextText({ id, state, needs, trouble }: ListedRun): string {
  const need = needs.find(({ agent }) => agent !== null);
  if (need !== undefined) return nextOf(id, need); // Even if other items of a map continue.
  if (trouble !== undefined) return `it is tried again: ${trouble}`;
  return ["waiting", "uncertain", "failed", "interrupted"].includes(state) ? `holdfast resume ${shortId(id)}` : "";
}

export const workflowsCommand = withDaemonWorld(workflows);
