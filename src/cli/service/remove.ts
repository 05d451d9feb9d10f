// `holdfast service remove`: takes the service away. Holdfast and the programs in its terminals run on, and heal themselves again.
// SR1. The mark goes first: then the daemon starts a watchdog of its own as soon as the service's has left.
// SR2. A manager that does not answer keeps nobody from removing the files: at its next start it finds nothing.

import { joinPath, parentOf } from "../../base/path.ts";
import { ok } from "../../base/result.ts";
import { removeServiceMark } from "../../home/service-mark.ts";
import { removeIfThere } from "../../log/file/file.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { ensureStarted } from "../start.ts";
import { installedText, unitPath } from "./place.ts";
import { Steps } from "./steps.ts";
import { Systemd } from "./systemd.ts";
import { homeInUnit, UNIT_NAME } from "./unit.ts";

/** What `enable` makes, for while no manager can be asked to take it away. */
const ENABLED = "default.target.wants";

async function remove(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const meant = meantHome(world, flags.home);
  if (!meant.ok) return meant;
  const steps = new Steps(world, flags.json === true);
  const unit = unitPath(world);
  const text = unit === undefined ? undefined : installedText(world, unit);
  const home = homeInUnit(text ?? "") ?? meant.value;
  if (await removeServiceMark(world.disk, home)) await steps.did("mark", "the daemon heals the watchdog again"); // SR1
  if (unit === undefined || text === undefined) await steps.did("unit", "there is none");
  else await takeAway(world, unit, steps);
  await ensureStarted(world, home);
  await steps.end({ installed: false, unit: unit ?? null, home });
  return ok(EXIT.ok);
}

async function takeAway(world: DaemonCommandWorld, unit: string, steps: Steps): Promise<void> {
  const systemd = new Systemd(world);
  const stopped = await systemd.change("disable", "--now", UNIT_NAME);
  const link = joinPath(parentOf(unit), `${ENABLED}/${UNIT_NAME}`);
  if (stopped.ok) await steps.did("stop", "systemd has let go of it; the programs in terminals run on");
  else removeIfThere(world.disk, link); // SR2
  removeIfThere(world.disk, unit);
  await world.disk.syncDirectory(parentOf(unit));
  await steps.did("unit", `removed ${unit}`);
  if (stopped.ok) await systemd.change("daemon-reload");
  else await steps.did("systemd", `${stopped.error.message} The files are gone, and that is enough`);
  await steps.did("linger", "left as it is, since others may need it; `loginctl disable-linger` ends it");
}

export const removeCommand = withDaemonWorld(remove);
