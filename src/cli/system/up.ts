// `holdfast up`: starts Holdfast on this home, or says that it runs; returns when it is live. A home that others may look into is closed.
import { ok, type Result } from "../../base/result.ts";
import { UNIT_NAME } from "../../core/service-unit.ts";
import { readServiceMark } from "../../log/service-mark.ts";
import { readWanted } from "../../log/wanted.ts";
import { realMachine } from "../../world/real-machine.ts";
import { onDaemon } from "../client.ts";
import type { DataFlags } from "../flags.ts";
import { runningOn } from "../held.ts";
import { meantHome } from "../home.ts";
import { EXIT, type Exit } from "../outside.ts";
import { say } from "../print.ts";
import { type Reach, reaching } from "../reach.ts";
import { startWatchdog } from "../start.ts";
import { closeHome } from "./close-home.ts";
import { stopped } from "./down.ts";
import { printStatus } from "./status.ts";

async function up(reach: Reach, flags: DataFlags): Promise<Exit> {
  const home = meantHome(reach, flags.home);
  if (!home.ok) return home;
  const closed = closeHome(realMachine(), reach.disk, home.value);
  if (closed !== undefined) await say(reach.console, closed);
  const settled = await settle(reach, home.value);
  if (!settled.ok) return settled;
  const status = await onDaemon(reach, home.value, (client) => client.call("status", {}));
  if (!status.ok) return status;
  const trouble = !settled.value && status.value.watchdog.pid === null && (await startWatchdog(reach, home.value));
  if (trouble) return { ok: false, error: trouble };
  await printStatus(reach, status.value, flags.json === true);
  if (readServiceMark(reach.disk, home.value) !== undefined)
    await say(reach.console, `systemd (${UNIT_NAME}) keeps it, also over a reboot.`);
  return ok(EXIT.ok);
}

/**
 * A daemon may be on its way down, and is then waited for; or it may have lost its watchdog, and gets another one. False
 * if neither was found: nothing runs, or all of run/ was removed and the daemon has not put its lock back yet.
 */
async function settle(reach: Reach, home: string): Promise<Result<boolean>> {
  const { watchdog, daemon } = runningOn(reach, home);
  if (watchdog === undefined && daemon === undefined) return ok(false);
  if (readWanted(reach.disk, home) === "down") {
    const over = await stopped(reach, home);
    return over.ok ? ok(false) : over;
  }
  const trouble = await startWatchdog(reach, home);
  return trouble === undefined ? ok(true) : { ok: false, error: trouble };
}

export const upCommand = reaching(up);
