// `holdfast dlq ls|retry|clear`: the items of a map that failed for good.
import { ok, type Result } from "../../base/result.ts";
import type { RpcClient } from "../../wire/rpc-client.ts";
import type { DeadLetter, ListedRun } from "../../wire/workflow-rpc.ts";
import { onDaemon } from "../client.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { EXIT, type Exit } from "../outside.ts";
import { count, say, visibleLine } from "../print.ts";
import { type Reach, reaching } from "../reach.ts";
import { columns } from "../table.ts";
import { followToEnd } from "./ended.ts";
import { pickRun, printRun } from "./rows.ts";

export type DlqFlags = DataFlags & { readonly detach?: boolean };

const HEAD = ["ITEM", "TRIES", "STEP", "WHY", "VALUE"];

async function runOf(client: RpcClient, key: string): Promise<Result<ListedRun>> {
  const runs = await client.call("workflow.list", {});
  return runs.ok ? pickRun(runs.value, key) : runs;
}

async function ls(reach: Reach, flags: DataFlags, key: string): Promise<Exit> {
  const home = existingHome(reach, flags.home);
  if (!home.ok) return home;
  const letters = await onDaemon(reach, home.value, async (client) => {
    const run = await runOf(client, key);
    return run.ok ? lettersOf(client, run.value.id) : run;
  });
  if (!letters.ok) return letters;
  const { console } = reach;
  if (flags.json) await console.out.write(`${visibleLine(JSON.stringify(letters.value))}\n`);
  else if (letters.value.length === 0) await say(console, "no item has failed.");
  else await console.out.write(tableOf(reach, letters.value));
  return ok(EXIT.ok);
}

async function lettersOf(client: RpcClient, id: string): Promise<Result<readonly DeadLetter[]>> {
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

function tableOf({ console }: Reach, letters: readonly DeadLetter[]): string {
  const rows = letters.map(({ item, tries, step, message, value }) =>
    [String(item), String(tries), step, message, value].map(visibleLine),
  );
  return columns([HEAD, ...rows], console.widthOf)
    .map((line) => `${line}\n`)
    .join("");
}

/** All of them; to ask twice is to ask once, since the queue is empty then. */
async function change(reach: Reach, flags: DlqFlags, method: "dlq.retry" | "dlq.clear", key: string): Promise<Exit> {
  const home = existingHome(reach, flags.home);
  if (!home.ok) return home;
  const done = await onDaemon(reach, home.value, async (client) => {
    const run = await runOf(client, key);
    if (!run.ok) return run;
    return client.call(method, { id: run.value.id, items: "all" });
  });
  if (!done.ok) return done;
  const json = flags.json === true;
  if (method === "dlq.retry" && !flags.detach) return followToEnd(reach, home.value, done.value.id, json);
  if (json) await printRun(reach, done.value);
  else await say(reach.console, `${count(done.value.items?.failed ?? 0, "item")} failed in all.`);
  return ok(EXIT.ok);
}

export const dlqLsCommand = reaching(ls);
export const dlqRetryCommand = reaching((reach: Reach, flags: DlqFlags, key: string) =>
  change(reach, flags, "dlq.retry", key),
);
export const dlqClearCommand = reaching((reach: Reach, flags: DlqFlags, key: string) =>
  change(reach, flags, "dlq.clear", key),
);
