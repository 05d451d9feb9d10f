// `holdfast __ready`: the service manager calls it before each start of the watchdog; the exit code decides.
// RY1. 0: start. 1: the operator wants `down`; systemd skips the unit and does not retry. 255: something is wrong;
//      systemd counts a failure and retries.
// RY2. A copy of another home, or a restored one, is treated as by `holdfast up` (SW6 of home/start-watchdog.ts).
// RY3. The watchdog gets its settings from the current configuration, like one that `holdfast up` starts.
// RY4. A unit that `service install` did not write says which it is (`--unit`). Its mark is written before the start,
//      and a watchdog that runs already makes room (SI2 and SI3 of install.ts).

import { joinPath } from "../../base/path.ts";
import { ok } from "../../base/result.ts";
import { keepIdentity } from "../../home/identity.ts";
import { RECOVERY, RUN } from "../../home/layout.ts";
import { turnOver } from "../../home/run-log.ts";
import { readServiceMark, writeServiceMark } from "../../home/service-mark.ts";
import { readConfig, settingsOf } from "../../home/start-watchdog.ts";
import { readWanted } from "../../home/wanted.ts";
import { keepSettings } from "../../home/watchdog-settings.ts";
import { makeDirectories } from "../../log/file/file.ts";
import { configRefusal } from "../../wire/files/config.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { HomeFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { say } from "../print.ts";
import { makeRoom } from "./hand-over.ts";

const SKIP = 1;
const WRONG = 255;

export type ReadyFlags = HomeFlags & { readonly unit?: string };

async function ready(world: DaemonCommandWorld, flags: ReadyFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return wrong(world, home.error);
  if (readWanted(world.disk, home.value) === "down") return ok(SKIP); // RY1
  const config = readConfig(world);
  if (!config.ok) return wrong(world, configRefusal(config.error));
  for (const parent of makeDirectories(world.disk, joinPath(home.value, RUN))) await world.disk.syncDirectory(parent);
  const copied = await keepIdentity({ disk: world.disk, home: home.value }, world.random, world.clock.now()); // RY2
  if (copied !== undefined) return wrong(world, copied);
  turnOver(world.disk, home.value);
  await keepSettings(world.disk, home.value, JSON.stringify(settingsOf(config.value.config))); // RY3
  const taken = flags.unit === undefined ? ok(undefined) : await takeOver(world, home.value, flags.unit);
  return taken.ok ? ok(EXIT.ok) : wrong(world, taken.error);
}

/** RY4 */
async function takeOver(world: DaemonCommandWorld, home: string, unit: string) {
  if (readServiceMark(world.disk, home)?.unit !== unit) {
    for (const parent of makeDirectories(world.disk, joinPath(home, RECOVERY))) await world.disk.syncDirectory(parent);
    await writeServiceMark(world.disk, home, { manager: "systemd", unit });
  }
  return makeRoom(world, home, null);
}

async function wrong(
  world: DaemonCommandWorld,
  why: { readonly message: string; readonly hint: string },
): Promise<Exit> {
  await say(world.console, `${why.message}\n  → ${why.hint}`);
  return ok(WRONG);
}

export const readyCommand = withDaemonWorld(ready);
