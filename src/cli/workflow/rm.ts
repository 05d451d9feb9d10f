// `holdfast workflows rm`: forgets runs that are over.
// RR1. All are found before one is touched. A daemon that died in between may already have forgotten one: then it is
//      done.
import { ok, type Result } from "../../base/result.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { printJson } from "../print.ts";
import { findRun } from "./rows.ts";

async function rm(world: DaemonCommandWorld, flags: DataFlags, ...keys: readonly string[]): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const { console } = world;
  const meant = await onDaemon(world, home.value, (client) => findAll(world, client, keys));
  if (!meant.ok) return meant;
  const removed: { readonly id: string; readonly name: string }[] = [];
  let failed: Exit = ok(EXIT.ok);
  for (const { id, name } of meant.value) {
    const done = await forget(world, home.value, id);
    if (done.ok) removed.push({ id, name });
    else if (failed.ok) failed = done;
  }
  if (flags.json) await printJson(console, removed);
  return failed;
}

/** RR1 */
async function findAll(
  world: DaemonCommandWorld,
  client: RpcClient,
  keys: readonly string[],
): Promise<Result<readonly ListedRun[]>> {
  const found = new Map<string, ListedRun>();
  for (const key of keys) {
    const run = await findRun(world, client, key);
    if (!run.ok) return run;
    found.set(run.value.id, run.value);
  }
  return ok([...found.values()]);
}

function forget(world: DaemonCommandWorld, home: string, id: string): Promise<Exit> {
  return onDaemon<number>(world, home, async (client, again): Promise<Result<number>> => {
    const removed = await client.call("workflow.remove", { id });
    return removed.ok || (again && removed.error.code === "unknown") ? ok(EXIT.ok) : removed; // RR1
  });
}

export const workflowsRmCommand = withDaemonWorld(rm);
