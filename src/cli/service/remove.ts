// `holdfast service remove`: removes the service. Holdfast and the programs in its terminals keep running, and heal
// themselves again.
// SR1. The mark is removed first: then the daemon starts its own watchdog as soon as the service's has left.
// SR2. If the manager does not answer, the files are still removed: at its next start it finds nothing.

import { joinPath, parentOf } from "../../base/path.ts";
import { ok } from "../../base/result.ts";
import { whyNotAllowed } from "../../home/callers.ts";
import { removeServiceMark } from "../../home/service-mark.ts";
import { removeIfThere } from "../../log/file/file.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { ensureStarted } from "../start.ts";
import { PACKAGED_UNIT } from "./packaged.ts";
import { installedText, unitPath } from "./place.ts";
import { Steps } from "./steps.ts";
import { Systemd } from "./systemd.ts";
import { homeInUnit, UNIT_NAME } from "./unit.ts";

/** The link that `enable` creates, for when no manager can be asked to remove it. */
const ENABLED = "default.target.wants";

async function remove(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const meant = meantHome(world, flags.home);
  if (!meant.ok) return meant;
  const refusal = whyNotAllowed(world, meant.value, "service remove");
  if (refusal !== undefined) return { ok: false, error: refusal };
  const steps = new Steps(world, flags.json === true);
  const unit = unitPath(world);
  const text = unit === undefined ? undefined : installedText(world, unit);
  const home = homeInUnit(text ?? "") ?? meant.value;
  if (await removeServiceMark(world.disk, home)) await steps.did("mark", "the daemon restarts the watchdog"); // SR1
  if (unit !== undefined && text !== undefined) await takeAway(world, unit, steps);
  else if (installedText(world, PACKAGED_UNIT) !== undefined) await turnOff(world, steps);
  else await steps.did("unit", "there is no unit");
  await ensureStarted(world, home);
  await steps.end({ installed: false, unit: unit ?? null, home });
  return ok(EXIT.ok);
}

/** The unit of the package stays, for others. */
async function turnOff(world: DaemonCommandWorld, steps: Steps): Promise<void> {
  const stopped = await new Systemd(world).change("disable", "--now", UNIT_NAME);
  await steps.did("stop", stopped.ok ? `${PACKAGED_UNIT} is off` : stopped.error.message);
}

async function takeAway(world: DaemonCommandWorld, unit: string, steps: Steps): Promise<void> {
  const systemd = new Systemd(world);
  const stopped = await systemd.change("disable", "--now", UNIT_NAME);
  const link = joinPath(parentOf(unit), `${ENABLED}/${UNIT_NAME}`);
  if (stopped.ok) await steps.did("stop", "systemd no longer runs it; the programs in terminals keep running");
  else removeIfThere(world.disk, link); // SR2
  removeIfThere(world.disk, unit);
  await world.disk.syncDirectory(parentOf(unit));
  await steps.did("unit", `removed ${unit}`);
  if (stopped.ok) await systemd.change("daemon-reload");
  else await steps.did("systemd", `${stopped.error.message} The files are gone, and that is enough`);
  await steps.did("linger", "left on, since others may need it; `loginctl disable-linger` turns it off");
}

export const removeCommand = withDaemonWorld(remove);
