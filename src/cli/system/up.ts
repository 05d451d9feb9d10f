// `holdfast up`: starts Holdfast on this home, or says that it runs; returns when it is live. A home that others may look into is closed.
import { ok, type Result } from "../../base/result.ts";
import { runningOn } from "../../home/running.ts";
import { readServiceMark } from "../../home/service-mark.ts";
import { startWatchdog } from "../../home/start-watchdog.ts";
import { readWanted } from "../../home/wanted.ts";
import { realMachine } from "../../world/real/machine.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { say } from "../print.ts";
import { UNIT_NAME } from "../service/unit.ts";
import { closeHome } from "./close-home.ts";
import { stopped } from "./down.ts";
import { printStatus } from "./status.ts";

async function up(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const closed = closeHome(realMachine(), world.disk, home.value);
  if (closed !== undefined) await say(world.console, closed);
  const settled = await settle(world, home.value);
  if (!settled.ok) return settled;
  const status = await onDaemon(world, home.value, (client) => client.call("status", {}));
  if (!status.ok) return status;
  await printStatus(world, status.value, flags.json === true);
  if (readServiceMark(world.disk, home.value) !== undefined)
    await say(world.console, `systemd (${UNIT_NAME}) keeps it, also over a reboot.`);
  return ok(EXIT.ok);
}

/** Who answers may be on its way down, and is then waited for; or it may have lost its watchdog, and gets another one. */
async function settle(world: DaemonCommandWorld, home: string): Promise<Result<void>> {
  const { watchdog, daemon } = runningOn(world, home);
  if (watchdog === undefined && daemon === undefined) return ok(undefined);
  if (readWanted(world.disk, home) === "down") return stopped(world, home);
  const trouble = await startWatchdog(world, home);
  return trouble === undefined ? ok(undefined) : { ok: false, error: trouble };
}

export const upCommand = withDaemonWorld(up);
