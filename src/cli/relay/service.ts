// `holdfast relay service install|status|remove`: the relay starts at boot, and systemd restarts it.
// RV1. Each step reports what it did: installing again with other flags changes the unit and restarts the relay, which
//      homes survive by themselves.
// RV2. If lingering needs root, the exit code is 1 and the next command is shown; the rest is installed.
// RV3. If the manager does not answer, `remove` removes nothing: the relay would run on, and start at the next boot.
import { joinPath, parentOf } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { visible } from "../../base/visible.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { makeDirectories, removeIfThere } from "../../log/file/file.ts";
import { encodeSettings } from "../../wire/relay/serve.ts";
import { realMachine } from "../../world/real/machine.ts";
import { EXIT, type Exit, type HomeFlag } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import { printJson } from "../print.ts";
import { Steps } from "../service/steps.ts";
import { Systemd } from "../service/systemd.ts";
import { type ServeFlags, settingsOf } from "./serve.ts";
import { RELAY_UNIT, relayUnit } from "./unit.ts";

const SYSTEM_UNITS = "/etc/systemd/system";

export type ServiceFlags = ServeFlags & {
  readonly system?: boolean;
  readonly print?: boolean;
  readonly json?: boolean;
};

export type UnitFlags = { readonly system?: boolean; readonly json?: boolean };

type Manager = "user" | "system";

function managerOf({ system }: UnitFlags): Manager {
  return system === true ? "system" : "user";
}

async function install(world: DaemonCommandWorld, flags: ServiceFlags): Promise<Exit> {
  const settings = settingsOf(world.console, flags);
  if (!settings.ok) return settings;
  const manager = managerOf(flags);
  const text = relayUnit(world.self.lasting("src/relay/main.ts", encodeSettings(settings.value)), manager);
  if (flags.print) {
    await world.console.out.write(text);
    return ok(EXIT.ok);
  }
  const unit = unitPath(world, manager);
  if (!unit.ok) return unit;
  const steps = new Steps(world, flags.json === true);
  const done = await allSteps({ world, manager, unit: unit.value, text, steps });
  if (!done.ok) return done;
  await steps.end({ installed: true, unit: unit.value, home: settings.value.home });
  return ok(steps.left ? EXIT.failed : EXIT.ok); // RV2
}

/** As in service/place.ts for the user's own. */
function unitPath({ console }: DaemonCommandWorld, manager: Manager): Result<string> {
  if (manager === "system") return ok(joinPath(SYSTEM_UNITS, RELAY_UNIT));
  const user = console.env("HOME");
  if (user?.startsWith("/")) return ok(joinPath(user, `.config/systemd/user/${RELAY_UNIT}`));
  return refused("no-home", "The directory for units is unknown: HOME is not set.", "Set HOME, or give --system.");
}

type Site = {
  readonly world: DaemonCommandWorld;
  readonly manager: Manager;
  readonly unit: string;
  readonly text: string;
  readonly steps: Steps;
};

async function allSteps({ world, manager, unit, text, steps }: Site): Promise<Result<void>> {
  const systemd = new Systemd(world, { name: RELAY_UNIT, manager });
  const answers = await systemd.unit();
  if (!answers.ok) return answers;
  for (const parent of makeDirectories(world.disk, parentOf(unit))) await world.disk.syncDirectory(parent);
  await writeAtomic(world.disk, unit, Buffer.from(text));
  await steps.did("unit", `wrote ${unit}`);
  for (const words of [["daemon-reload"], ["enable", RELAY_UNIT]]) {
    const done = await systemd.change(...words);
    if (!done.ok) return done;
  }
  await steps.did("enable", manager === "system" ? "it starts at boot" : "it starts with the user's systemd");
  if (manager === "user") await linger(systemd, steps);
  const started = await systemd.change("restart", RELAY_UNIT);
  return started.ok ? ok(await steps.did("start", "systemd runs the relay: holdfast relay status")) : started;
}

/** RV2 */
async function linger(systemd: Systemd, steps: Steps): Promise<void> {
  const kept = (await systemd.linger()) === true ? ok(undefined) : await systemd.keepLingering();
  if (kept.ok) return steps.did("linger", "it starts at boot and stays after logout");
  const next = `sudo loginctl enable-linger ${realMachine().user}`;
  await steps.missing("linger", `${kept.error.message} Until it works, the relay ends with your last login`, next);
}

async function status(world: DaemonCommandWorld, flags: UnitFlags): Promise<Exit> {
  const manager = managerOf(flags);
  const unit = unitPath(world, manager);
  if (!unit.ok) return unit;
  const found = await new Systemd(world, { name: RELAY_UNIT, manager }).unit();
  if (!found.ok) return found;
  const installed = world.disk.stat(unit.value) !== undefined;
  const { enabled, active, state, pid } = found.value;
  const view = { installed, unit: unit.value, enabled, active, state, pid };
  if (flags.json) await printJson(world.console, view);
  else {
    const words = installed ? wordsOf(view) : "not installed: holdfast relay service install";
    await world.console.out.write(`${visible(words)}\n`);
  }
  return ok(installed && active ? EXIT.ok : EXIT.failed);
}

function wordsOf({ unit, enabled, state, pid }: { unit: string; enabled: boolean; state: string; pid: number | null }) {
  const at = enabled ? "starts at boot" : "does not start at boot";
  return `${unit}: ${state}${pid === null ? "" : `, pid ${pid}`}, ${at}`;
}

async function remove(world: DaemonCommandWorld, flags: UnitFlags): Promise<Exit> {
  const manager = managerOf(flags);
  const unit = unitPath(world, manager);
  if (!unit.ok) return unit;
  const steps = new Steps(world, flags.json === true);
  if (world.disk.stat(unit.value) === undefined) await steps.did("unit", "there is no unit");
  else {
    const systemd = new Systemd(world, { name: RELAY_UNIT, manager });
    const stopped = await systemd.change("disable", "--now", RELAY_UNIT);
    if (!stopped.ok) return stopped; // RV3
    await steps.did("stop", "systemd no longer runs the relay; what it knows stays in its home");
    removeIfThere(world.disk, unit.value);
    await world.disk.syncDirectory(parentOf(unit.value));
    await steps.did("unit", `removed ${unit.value}`);
    await systemd.change("daemon-reload");
  }
  await steps.end({ installed: false, unit: unit.value });
  return ok(EXIT.ok);
}

export const serviceStatusCommand = withDaemonWorld<UnitFlags & HomeFlag, []>(status);
export const serviceRemoveCommand = withDaemonWorld<UnitFlags & HomeFlag, []>(remove);
export const serviceInstallCommand = withDaemonWorld<ServiceFlags, []>(install);
