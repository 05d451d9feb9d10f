// Asks the service manager to start or stop Holdfast; nobody is waited for.

import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { say } from "../print.ts";
import { Systemd } from "./systemd.ts";
import { UNIT_NAME } from "./unit.ts";

/** Whether the manager took it; where it did not, a person is told why. */
export async function askService(world: DaemonCommandWorld, what: "start" | "stop"): Promise<boolean> {
  const asked = await new Systemd(world).change("--no-block", what, UNIT_NAME);
  if (asked.ok) return true;
  const instead = what === "start" ? "Holdfast is started without it" : "Holdfast is stopped without it";
  await say(world.console, `${asked.error.message} ${instead}.\n  → holdfast service status`);
  return false;
}
