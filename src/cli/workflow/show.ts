// `holdfast workflows show`: one run in full: its state, the steps that ended, what is running, and the next command.

import { shortId } from "../../base/ids.ts";
import { localTime } from "../../base/local-time.ts";
import { ok, type Result } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import { nextOf } from "../../core/workflow/progress.ts";
import type { ListedStep, ShownRun } from "../../wire/rpc/workflow.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { Reader } from "../disk-reader.ts";
import type { DataFlags } from "../flags.ts";
import { foldedFor } from "../fold.ts";
import { existingHome } from "../home.ts";
import { look } from "../look.ts";
import { printJson } from "../print.ts";
import { columns, tableText } from "../table.ts";
import { findRun, rowOf, slotText, stateText } from "./rows.ts";
import { stepText } from "./run-view.ts";

async function show(world: DaemonCommandWorld, flags: DataFlags, key: string): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const { console } = world;
  const shown = await look(world, { home: home.value, json: flags.json }, async (reader) => {
    const run = await findRun(world, reader, key, { newest: true });
    return run.ok ? whole(reader, run.value.id) : run;
  });
  if (!shown.ok) return shown;
  const { from, records, attempts, retries = [] } = shown.value;
  if (flags.json) await printJson(console, { ...rowOf(shown.value), from, records, attempts, retries });
  else await console.out.write(visible(runText(world, shown.value)));
  return ok(EXIT.ok);
}

/** With all of its steps, of which an answer has only some. */
async function whole(reader: Reader, id: string): Promise<Result<ShownRun>> {
  let records: ListedStep[] = [];
  for (let next = 0, first = 0; ; ) {
    const page = await reader.call("workflow.show", { id, from: next });
    if (!page.ok) return page;
    const { from, ended } = page.value;
    if (from !== next) [records, first] = [[], from]; // Older ones were let go.
    records.push(...page.value.records);
    next = from + page.value.records.length;
    if (page.value.records.length === 0 || next >= ended) return ok({ ...page.value, from: first, records });
  }
}

function runText({ console }: DaemonCommandWorld, run: ShownRun): string {
  const { id, name, path, cwd, worktree, startedAt, error, resumed, needs } = run;
  const facts: (readonly [string, string | null])[] = [
    ["run", `${name} (${id})`],
    ["file", path],
    ["directory", cwd],
    ["worktree", worktree === null ? null : `${worktree.path} (branch ${worktree.branch})`],
    ["started", localTime(console, startedAt)],
    ["resumed", resumed === null ? null : `${localTime(console, resumed.at)} by process ${resumed.pid}`],
    ["state", stateText(run)],
    ["waits", run.waitsForSlot === undefined ? null : slotText(run.waitsForSlot)],
    ["error", error === null ? null : `${error.step}: ${error.message}`],
    ...needs.map((need) => ["needs you", `${need.step}: ${need.why} → ${nextOf(id, need)}`] as const),
    ...["failed", "interrupted"]
      .filter((state) => state === run.state)
      .map(() => next(`holdfast resume ${shortId(id)}`)),
    ...["done_with_failures"].filter((state) => state === run.state).map(() => next(`holdfast dlq ls ${shortId(id)}`)),
  ];
  const known = facts.flatMap(([fact, text]) => (text === null ? [] : [[fact, visibleLine(text)]]));
  const { out, widthOf } = console;
  const lines = columns(known, widthOf).map((line) => `${foldedFor(out, widthOf, line)}\n`);
  return [...lines, ...stepLines(console, run)].join("");
}

function next(command: string): readonly [string, string] {
  return ["next", command];
}

function stepLines(console: DaemonCommandWorld["console"], run: ShownRun): string[] {
  const { id, from, records, attempts, retries = [] } = run;
  const running = attempts.map((attempt) => [
    `${whoText(attempt)}: running since ${localTime(console, attempt.startedAt)}`,
  ]);
  const waiting = retries.map((retry) => [
    `${whoText(retry)}: try ${retry.tries} failed; the next one is at ${localTime(console, retry.at)}`,
  ]);
  const before =
    from === 0 ? [] : [[`${from} earlier ones: \`holdfast log show ${shortId(id)}\` has them, if they are kept`]];
  const rows = [...before, ...records.map((record) => [stepText(record)]), ...running, ...waiting];
  if (rows.length === 0) return ["no step has ended yet\n"];
  return [
    "steps\n",
    tableText(
      console,
      rows.map(([line = ""]) => [`  ${visibleLine(line)}`]),
    ),
  ];
}

function whoText({ step, item }: { readonly step: string; readonly item: number | null }): string {
  return item === null ? step : `${step}, item ${item}`;
}

export const workflowsShowCommand = withDaemonWorld(show);
