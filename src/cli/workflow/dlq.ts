// `holdfast dlq ls|show|retry|clear`: the items of a map that failed for good.
// DQ1. All items, or the given ones. A retried request is safe: items that a dead daemon already took are not in the
//      queue.

import { localTime } from "../../base/local-time.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import type { DeadLetter, ListedRun, ShownItem } from "../../wire/rpc/workflow.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { Reader } from "../disk-reader.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { look } from "../look.ts";
import { count, say } from "../print.ts";
import { tableText } from "../table.ts";
import { followToEnd } from "./ended.ts";
import { findRun, printRun } from "./rows.ts";

export type DlqFlags = DataFlags & { readonly detach?: boolean };

const HEAD = ["ITEM", "TRIES", "STEP", "WHY", "VALUE"];
const CUTS = [
  { column: HEAD.indexOf("VALUE"), keeps: "start" },
  { column: HEAD.indexOf("WHY"), keeps: "start" },
] as const;

/** `newest`: of several runs that have this name, for commands that only look. */
function runOf(world: DaemonCommandWorld, client: Reader, key: string, newest = false): Promise<Result<ListedRun>> {
  return findRun(world, client, key, { meant: "failing", newest });
}

async function ls(world: DaemonCommandWorld, flags: DataFlags, key: string): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const letters = await look(world, { home: home.value, json: flags.json }, async (client) => {
    const run = await runOf(world, client, key, true);
    return run.ok ? lettersOf(client, run.value.id) : run;
  });
  if (!letters.ok) return letters;
  const { console } = world;
  if (flags.json) await console.out.write(`${visibleLine(JSON.stringify(letters.value))}\n`);
  else if (letters.value.length === 0) await say(console, "The dead-letter queue is empty.");
  else await console.out.write(tableOf(world, letters.value));
  return ok(EXIT.ok);
}

async function lettersOf(client: Reader, id: string): Promise<Result<readonly DeadLetter[]>> {
  const found: DeadLetter[] = [];
  for (let from: number | null = 0; from !== null; ) {
    const page: Result<{ readonly letters: readonly DeadLetter[]; readonly next: number | null }> = await client.call(
      "dlq.list",
      { id, from },
    );
    if (!page.ok) return page;
    found.push(...page.value.letters);
    from = page.value.next;
  }
  return ok(found);
}

function tableOf({ console }: DaemonCommandWorld, letters: readonly DeadLetter[]): string {
  const rows = letters.map(({ item, tries, step, message, value }) =>
    [String(item), String(tries), step, message, value].map(visibleLine),
  );
  return tableText(console, [HEAD, ...rows], CUTS);
}

async function show(world: DaemonCommandWorld, flags: DataFlags, key: string, item: number): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const shown = await look(world, { home: home.value, json: flags.json }, async (client) => {
    const run = await runOf(world, client, key, true);
    return run.ok ? client.call("dlq.show", { id: run.value.id, item }) : run;
  });
  if (!shown.ok) return shown;
  const { console } = world;
  const text = flags.json ? `${visibleLine(JSON.stringify(shown.value))}\n` : visible(itemText(console, shown.value));
  await console.out.write(text);
  return ok(EXIT.ok);
}

function itemText(console: DaemonCommandWorld["console"], { item, state, tries, at, error, value }: ShownItem): string {
  const why = error === null ? [] : [`step: ${error.step}`, `why: ${error.message}`];
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const when = at === null ? [] : [`at: ${localTime(console, at)}`];
  return [`item: ${item}`, `state: ${state}`, `tries: ${tries}`, ...when, ...why]
    .concat(`value: ${text}`, "")
    .join("\n");
}

type Change = "dlq.retry" | "dlq.clear";

async function change(
  world: DaemonCommandWorld,
  flags: DlqFlags,
  method: Change,
  words: readonly string[],
): Promise<Exit> {
  const [key = "", ...named] = words;
  const items = numbersOf(named);
  if (!items.ok) return items;
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const done = await onDaemon(world, home.value, async (client, again) => {
    const run = await runOf(world, client, key);
    if (!run.ok) return run;
    const taken = await client.call(method, { id: run.value.id, items: items.value });
    return again && !taken.ok && taken.error.code === "not-in-queue" ? run : taken; // DQ1
  });
  if (!done.ok) return done;
  const json = flags.json === true;
  if (method === "dlq.retry" && !flags.detach) {
    const { id, ended: old } = done.value;
    return followToEnd(world, home.value, { id, json, old });
  }
  if (json) await printRun(world, done.value);
  else await say(world.console, `${count(done.value.items?.failed ?? 0, "item")} failed in total.`);
  return ok(EXIT.ok);
}

function numbersOf(words: readonly string[]): Result<readonly number[] | "all"> {
  const wrong = words.find((word) => !/^\d{1,9}$/.test(word));
  if (wrong !== undefined)
    return refused("usage", `"${wrong}" is not an item number.`, "`holdfast dlq ls` shows the numbers.");
  return ok(words.length === 0 ? "all" : words.map(Number));
}

export const dlqLsCommand = withDaemonWorld(ls);
export const dlqShowCommand = withDaemonWorld(show);
export const dlqRetryCommand = withDaemonWorld(
  (world: DaemonCommandWorld, flags: DlqFlags, ...words: readonly string[]) => change(world, flags, "dlq.retry", words),
);
export const dlqClearCommand = withDaemonWorld(
  (world: DaemonCommandWorld, flags: DlqFlags, ...words: readonly string[]) => change(world, flags, "dlq.clear", words),
);
