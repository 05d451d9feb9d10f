// `holdfast up`: starts Holdfast on this home if it is down, and returns when it is live. Restricts an open home to its
// owner.
import { ok, type Result, refused } from "../../base/result.ts";
import { whyNotAllowed } from "../../home/callers.ts";
import { becomeAnother, replaceOriginal } from "../../home/identity.ts";
import { runningOn } from "../../home/running.ts";
import { readServiceMark } from "../../home/service-mark.ts";
import { readWanted } from "../../home/wanted.ts";
import { realMachine } from "../../world/real/machine.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { say } from "../print.ts";
import { UNIT_NAME } from "../service/unit.ts";
import { startHere } from "../start.ts";
import { closeHome } from "./close-home.ts";
import { pageLink } from "./devices.ts";
import { stopped } from "./down.ts";
import { printStatus } from "./status.ts";

export type UpFlags = DataFlags & { readonly asCopy?: boolean; readonly replaceOriginal?: boolean };

async function up(world: DaemonCommandWorld, flags: UpFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const refusal = whyNotAllowed(world, home.value, "up");
  if (refusal !== undefined) return { ok: false, error: refusal };
  const changed = await changeIdentity(world, home.value, flags);
  if (!changed.ok) return changed;
  const closed = closeHome(realMachine(), world.disk, home.value);
  if (closed !== undefined) await say(world.console, closed);
  const settled = await settle(world, home.value);
  if (!settled.ok) return settled;
  const status = await onDaemon(world, home.value, (client) => client.call("status", {}));
  if (!status.ok) return status;
  const trouble = !settled.value && status.value.watchdog.pid === null && (await startHere(world, home.value));
  if (trouble) return { ok: false, error: trouble };
  await printStatus(world, status.value, flags.json === true);
  if (world.console.err.tty && flags.json !== true) await showPage(world, home.value);
  if (readServiceMark(world.disk, home.value) !== undefined)
    await say(world.console, `systemd (${UNIT_NAME}) keeps it running, also after a reboot.`);
  return ok(EXIT.ok);
}

/** To a person; a log of a script should have no link in it. */
async function showPage(world: DaemonCommandWorld, home: string): Promise<void> {
  const link = await onDaemon(world, home, (client) => pageLink(world, client));
  if (link.ok) await say(world.console, `the page, for a browser of yours (works once): ${link.value.url}`);
}

/** Gives a home that is down a new identity, or has a restored one keep that of its original (home/identity.ts). */
async function changeIdentity(world: DaemonCommandWorld, home: string, flags: UpFlags): Promise<Result<undefined>> {
  const { asCopy = false, replaceOriginal: replaces = false } = flags;
  if (!asCopy && !replaces) return ok(undefined);
  if (asCopy && replaces)
    return refused("flags", "A home is a copy, or replaces the original.", "Give one of the two.");
  const { watchdog, daemon } = runningOn(world, home);
  if (watchdog !== undefined || daemon !== undefined)
    return refused("running", `Holdfast is running on ${home}.`, `First: holdfast down --home ${home}`);
  const place = { disk: world.disk, home };
  if (asCopy && world.disk.stat(home) !== undefined) await becomeAnother(place, world.random);
  const refusal = replaces ? await replaceOriginal(place) : undefined;
  if (refusal !== undefined) return { ok: false, error: refusal };
  return ok(undefined);
}

/**
 * Waits for a daemon that is stopping, or starts a watchdog for a daemon that has lost its own. Returns false if
 * neither
 * was found: nothing is running, or all of run/ was removed and the daemon has not put its lock back yet.
 */
async function settle(world: DaemonCommandWorld, home: string): Promise<Result<boolean>> {
  const { watchdog, daemon } = runningOn(world, home);
  if (watchdog === undefined && daemon === undefined) return ok(false);
  if (readWanted(world.disk, home) === "down") {
    const over = await stopped(world, home);
    return over.ok ? ok(false) : over;
  }
  const trouble = await startHere(world, home);
  return trouble === undefined ? ok(true) : { ok: false, error: trouble };
}

export const upCommand = withDaemonWorld(up);
