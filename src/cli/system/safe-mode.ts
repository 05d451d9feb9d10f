// `holdfast safe-mode`: whether it is on, why, and what is off; and how the operator leaves it.
// SF1. A daemon that answers is asked, so that everything is back at once; otherwise the file is changed.

import { ok, type Result, refused } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import { whyNotAllowed } from "../../home/callers.ts";
import { dial } from "../../home/dial.ts";
import { readSafeMode, SafeMode, safeModePath } from "../../home/safe-mode.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { say } from "../print.ts";

async function status(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const mode = readSafeMode(world.disk, home.value);
  const value = {
    active: mode.active,
    reason: mode.active ? mode.reason : null,
    since: mode.active ? mode.since : null,
    off: mode.active ? mode.off : [],
  };
  const words = mode.active ? `on, because ${mode.reason}\noff: ${mode.off.join(", ")}` : "off";
  await world.console.out.write(flags.json ? `${visibleLine(JSON.stringify(value))}\n` : visible(`${words}\n`));
  return ok(EXIT.ok);
}

async function exit(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const refusal = whyNotAllowed(world, home.value, "safe-mode exit");
  if (refusal !== undefined) return { ok: false, error: refusal };
  const left = await leave(world, home.value);
  if (!left.ok) return left;
  if (left.value)
    return refused(
      "safe-mode",
      "Safe mode is still on.",
      `See \`holdfast logs\`; the mode is in ${safeModePath(home.value)}.`,
    );
  if (flags.json) await world.console.out.write(`${JSON.stringify({ active: false })}\n`);
  else await say(world.console, "safe mode is off.");
  return ok(EXIT.ok);
}

/** Returns whether it is still on (SF1). */
async function leave(world: DaemonCommandWorld, home: string): Promise<Result<boolean>> {
  const line = await dial(world, home);
  if (!line.ok) return line;
  const told = await line.value?.call("safe-mode.exit", {});
  line.value?.close();
  if (told?.ok === true) return ok(told.value.active);
  if (told !== undefined && told.error.code !== "daemon.gone") return told;
  const troubles: string[] = [];
  const mode = new SafeMode(
    { disk: world.disk, clock: world.clock, home },
    (fault) => void troubles.push(fault.message),
  );
  const durable = await mode.exit();
  if (durable) return ok(false);
  return refused("disk", `The disk refused the write: ${troubles.join("; ")}.`, "Free some space, then try again.");
}

export const safeModeStatusCommand = withDaemonWorld(status);
export const safeModeExitCommand = withDaemonWorld(exit);
