// `holdfast rm`: forgets a terminal whose program has ended; with --force it ends it first.
// RM1. A daemon that died in between may have forgotten it already: then it is done.
import { ok, type Result } from "../../base/result.ts";
import { onDaemon } from "../client.ts";
import type { HomeFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { EXIT, type Exit } from "../outside.ts";
import { type Reach, reaching } from "../reach.ts";
import { Pauses } from "../time.ts";
import { endTerminal } from "./end.ts";
import { findTerminal } from "./find.ts";

export type RmFlags = HomeFlags & { readonly force?: boolean };

/** The daemon hears of an end a moment after we do. */
const HEARD_LIMITS = { firstMs: 5, mostMs: 100, allMs: 5_000 };

async function rm(reach: Reach, flags: RmFlags, key: string): Promise<Exit> {
  const home = existingHome(reach, flags.home);
  if (!home.ok) return home;
  const found = await findTerminal(reach, home.value, key);
  if (!found.ok) return found;
  const { id, state } = found.value;
  const runs = state.kind === "running" || state.kind === "starting";
  if (!flags.force || !runs) return remove(reach, home.value, id);
  const ended = await endTerminal(reach, home.value, found.value);
  if (!ended.ok) return ended;
  const pauses = new Pauses(reach.clock, HEARD_LIMITS);
  for (;;) {
    const removed = await remove(reach, home.value, id);
    if (removed.ok || removed.error.code !== "still-running" || !(await pauses.next())) return removed;
  }
}

function remove(reach: Reach, home: string, id: string): Promise<Exit> {
  return onDaemon<number>(reach, home, async (client, again): Promise<Result<number>> => {
    const removed = await client.call("terminal.remove", { id });
    return removed.ok || (again && removed.error.code === "unknown") ? ok(EXIT.ok) : removed; // RM1
  });
}

export const rmCommand = reaching(rm);
