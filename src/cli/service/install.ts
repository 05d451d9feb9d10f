// `holdfast service install`: Holdfast starts at boot, and systemd restarts its watchdog.
// SI1. Each step reports what it did, or that it was already done: installing twice has the same effect as once.
// SI2. A running watchdog makes room, unnoticed by everything else: the service's own watchdog adopts what it watched.
// SI3. The mark is written before the hand-over: from then on neither the daemon nor the command line starts a
//      watchdog.
// SI4. If something is missing for the full promise (lingering may need root), the exit code is 1 and the next command
//      is shown; the rest is installed.

import { joinPath, parentOf } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { whyNotAllowed } from "../../home/callers.ts";
import { RUN } from "../../home/layout.ts";
import { logPath } from "../../home/run-log.ts";
import { runningOn } from "../../home/running.ts";
import { readServiceMark, writeServiceMark } from "../../home/service-mark.ts";
import { readConfig } from "../../home/start-watchdog.ts";
import { readWanted, writeWanted } from "../../home/wanted.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { makeDirectories, openRetrying } from "../../log/file/file.ts";
import { configRefusal } from "../../wire/files/config.ts";
import { realMachine } from "../../world/real/machine.ts";
import { Pauses } from "../../world/wait.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { lastLogLine } from "../log-file.ts";
import { HAND_OVER, makeRoom } from "./hand-over.ts";
import { installedText, serviceFacts, unitPath } from "./place.ts";
import { plistText } from "./plist.ts";
import { Steps } from "./steps.ts";
import { Systemd } from "./systemd.ts";
import { homeInUnit, isPlainPath, UNIT_NAME, unitText } from "./unit.ts";

export type InstallFlags = DataFlags & { readonly print?: boolean };

type Site = {
  readonly world: DaemonCommandWorld;
  readonly home: string;
  readonly unit: string;
  readonly text: string;
  readonly systemd: Systemd;
  readonly steps: Steps;
};

async function install(world: DaemonCommandWorld, flags: InstallFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  if (!isPlainPath(home.value))
    return refused("bad-home", `${JSON.stringify(home.value)} cannot be used in a unit.`, ODD);
  if (flags.print) return print(world, home.value);
  const refusal = whyNotAllowed(world, home.value, "service install");
  if (refusal !== undefined) return { ok: false, error: refusal };
  const config = readConfig(world);
  if (!config.ok) return { ok: false, error: configRefusal(config.error) };
  const site = await siteOf(world, home.value, flags.json === true);
  if (!site.ok) return site;
  const done = await allSteps(site.value);
  if (!done.ok) return done;
  const { steps, unit } = site.value;
  await steps.end({ installed: true, unit, home: home.value });
  return ok(steps.left ? EXIT.failed : EXIT.ok); // SI4
}

const ODD = "Choose a home without control characters and without spaces at its end.";

async function print(world: DaemonCommandWorld, home: string): Promise<Exit> {
  const facts = serviceFacts(world, home);
  await world.console.out.write(realMachine().platform === "darwin" ? plistText(facts) : unitText(facts));
  return ok(EXIT.ok);
}

/** Checks every precondition before anything is changed. */
async function siteOf(world: DaemonCommandWorld, home: string, json: boolean): Promise<Result<Site>> {
  if (realMachine().platform === "darwin") return refused("no-systemd", "Holdfast cannot set up launchd yet.", BY_HAND);
  const unit = unitPath(world);
  if (unit === undefined)
    return refused("no-home", "The directory for units is unknown: HOME is not set.", "Set HOME.");
  const systemd = new Systemd(world);
  const answers = await systemd.unit();
  if (!answers.ok) return answers;
  const other = homeInUnit(installedText(world, unit) ?? "");
  if (other !== undefined && other !== home)
    return refused(
      "other-home",
      `The service is installed for another home: ${other}.`,
      "Remove it first: holdfast service remove",
    );
  return ok({ world, home, unit, text: unitText(serviceFacts(world, home)), systemd, steps: new Steps(world, json) });
}

const BY_HAND =
  "`holdfast service install --print` prints an agent for ~/Library/LaunchAgents; `holdfast up` works without one.";

async function allSteps(site: Site): Promise<Result<void>> {
  await prepareHome(site);
  const changed = await writeUnit(site);
  const { systemd, steps } = site;
  const read = await systemd.change("daemon-reload");
  if (!read.ok) return read;
  const enabled = await systemd.change("enable", UNIT_NAME);
  if (!enabled.ok) return enabled;
  await steps.did("enable", "it starts with the user's systemd");
  await linger(site);
  return start(site, changed);
}

/** systemd opens the log before any of our code runs. */
async function prepareHome({ world, home, steps }: Site): Promise<void> {
  const { disk } = world;
  for (const parent of makeDirectories(disk, joinPath(home, RUN))) await disk.syncDirectory(parent);
  openRetrying(disk, logPath(home), "create").close();
  if (readWanted(disk, home) === "down")
    await steps.did("up", "Holdfast was down at your request; it is up from now on");
  await writeWanted(disk, home, "up");
}

/** Returns whether the unit changed. */
async function writeUnit({ world, unit, text, steps }: Site): Promise<boolean> {
  if (installedText(world, unit) === text) {
    await steps.did("unit", `${unit} is up to date`);
    return false;
  }
  for (const parent of makeDirectories(world.disk, parentOf(unit))) await world.disk.syncDirectory(parent);
  await writeAtomic(world.disk, unit, Buffer.from(text));
  await steps.did("unit", `wrote ${unit}`);
  return true;
}

async function linger({ systemd, steps }: Site): Promise<void> {
  if ((await systemd.linger()) === true) return steps.did("linger", "it already starts at boot and stays after logout");
  const kept = await systemd.keepLingering();
  if (kept.ok) return steps.did("linger", "it starts at boot and stays after logout");
  const next = `sudo loginctl enable-linger ${realMachine().user}`;
  await steps.missing("linger", `${kept.error.message} Until it works, Holdfast ends with your last login`, next);
}

async function start(site: Site, changed: boolean): Promise<Result<void>> {
  const { world, home, unit, systemd, steps } = site;
  if (readServiceMark(world.disk, home)?.unit !== unit)
    await writeServiceMark(world.disk, home, { manager: "systemd", unit }); // SI3
  const before = await systemd.unit();
  if (!before.ok) return before;
  if (before.value.active && !changed) return ok(await steps.did("start", "it is already running"));
  const room = await makeRoom(world, home, before.value.pid); // SI2
  if (!room.ok) return room;
  if (room.value !== undefined) await steps.did("hand-over", `the watchdog (${room.value}) made room for systemd's`);
  // Only the watchdog belongs to the unit: the programs keep running.
  const started = await systemd.change("restart", UNIT_NAME);
  if (!started.ok) return started;
  const runs = await inPlace(site);
  return runs.ok ? ok(await steps.did("start", "systemd runs the watchdog; everything else keeps running")) : runs;
}

/** Waits until the service's own watchdog has the home. */
async function inPlace({ world, home, systemd }: Site): Promise<Result<void>> {
  const pauses = new Pauses(world.clock, HAND_OVER);
  for (;;) {
    const unit = await systemd.unit();
    if (!unit.ok) return unit;
    if (unit.value.pid !== null && runningOn(world, home).watchdog?.pid === unit.value.pid) return ok(undefined);
    if (!(await pauses.next())) {
      const said = lastLogLine(world.disk, home);
      const why = said === undefined ? "" : ` Its last message: ${said}`;
      return refused("service", `systemd could not start it (${unit.value.state}).${why}`, "See `holdfast logs`.");
    }
  }
}

export const installCommand = withDaemonWorld(install);
