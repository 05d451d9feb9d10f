// Asks the service manager to start or stop Holdfast, without waiting for it.

import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { say } from "../print.ts";
import { Systemd } from "./systemd.ts";
import { UNIT_NAME } from "./unit.ts";

/** Returns whether the manager accepted the request; if not, prints why. */
export async function askService(world: DaemonCommandWorld, what: "start" | "stop"): Promise<boolean> {
  const asked = await new Systemd(world).change("--no-block", what, UNIT_NAME);
  if (asked.ok) return true;
  const instead = what === "start" ? "Starting Holdfast without it" : "Stopping Holdfast without it";
  await say(world.console, `${asked.error.message} ${instead}.\n  → holdfast service status`);
  return false;
}
