// The daemon's own word: whether it answers, and what it cannot do although it tries.
// DA1. A daemon that is starting answers within a second: it is waited for, a little.

import { dial } from "../../home/dial.ts";
import { runningOn } from "../../home/running.ts";
import type { StatusResult, Trouble } from "../../wire/rpc/rpc.ts";
import { pause, within } from "../../world/wait.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { isWantedUp, noDaemon, pageTroubles } from "../troubles.ts";
import { type Finding, fine, problem, type Site } from "./check.ts";

/** A healthy daemon answers at once. */
const ANSWER_MS = 3_000;
/** DA1 */
const STARTS_MS = 3_000;
const LOOK_MS = 100;

const RETRIED = "it is tried again by itself";
const CONTAINED = "everything else goes on";

export async function checkDaemon(site: Site): Promise<Finding[]> {
  const { world, home } = site;
  const place = { disk: world.disk, home };
  const isWatched = isWantedUp(place) && runningOn(world, home).watchdog !== undefined;
  const status = await statusWithin(site, isWatched ? STARTS_MS : 0);
  const daemon = { pid: runningOn(world, home).daemon?.pid ?? null };
  if (status === undefined)
    return [isWatched ? found(noDaemon(place, daemon), RETRIED) : fine("daemon", "none answers")];
  const web = { pid: status.web.pid ?? runningOn(world, home).web?.pid ?? null }; // It may be unable to open files.
  const page = isWatched ? pageTroubles(place, web) : [];
  const troubles = [
    ...page.map((one) => found(one, RETRIED)),
    ...(status.troubles ?? []).map((one) => found(one, CONTAINED)),
  ];
  return troubles.length > 0 ? troubles : [fine("daemon", `it answers (${status.recovery.stage})`)];
}

/** DA1 */
async function statusWithin({ world, home }: Site, patienceMs: number): Promise<StatusResult | undefined> {
  const { clock } = world;
  for (const began = clock.elapsed(); ; await pause(clock, LOOK_MS)) {
    const status = await daemonStatus(world, home);
    if (status !== undefined) return status;
    if (clock.elapsed() - began >= patienceMs) return undefined;
  }
}

/** Undefined if no daemon answers. */
export async function daemonStatus(world: DaemonCommandWorld, home: string): Promise<StatusResult | undefined> {
  const line = await dial(world, home);
  const client = line.ok ? line.value : undefined;
  const status = client && (await within(world.clock, ANSWER_MS, client.call("status", {})));
  client?.close();
  return status?.ok === true ? status.value : undefined;
}

function found({ what, next }: Trouble, why: string): Finding {
  return problem("daemon", { what, why, next });
}
