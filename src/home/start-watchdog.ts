// Starts the watchdog of a home; the watchdog starts everything else.
// SW1. `up` is durable before anything is started: if the caller is killed right after, the next command starts it
//      again.
// SW2. A watchdog is started only if none is running. A second one would exit at once, but one that is leaving must be
//      replaced.
// SW3. Nothing of the terminal that we were called from is passed on, in particular not its marker: everything Holdfast
//      starts would count as that terminal's orphan.
// SW4. Paths in the environment are made absolute: Holdfast runs in its home, wherever the command was typed.
// SW5. Settings are passed through the environment, never as arguments: every user of the machine can read those, and
//      the variables of a watched program may be secrets.
// SW6. A home that is a copy of another one is not started (identity.ts).
// SW7. A process of an agent starts nothing (core/principal.ts).

import { joinPath } from "../base/path.ts";
import type { Refusal, Result } from "../base/result.ts";
import { makeDirectories, readWhole } from "../log/file/file.ts";
import { readJson } from "../log/file/json-file.ts";
import { configRefusal, type LoadedConfig, loadConfig, type Problem } from "../wire/files/config.ts";
import type { Config } from "../wire/files/config-schema.ts";
import { SETTINGS_VARIABLE } from "../wire/heartbeat.ts";
import type { ConfigFile } from "../wire/rpc/rpc.ts";
import type { Clock } from "../world/clock.ts";
import type { Console } from "../world/console.ts";
import type { Disk } from "../world/disk.ts";
import type { Processes } from "../world/process.ts";
import type { Random } from "../world/random.ts";
import { realChildren } from "../world/real/children.ts";
import { ENGINE_OPTIONS, type Self } from "../world/self.ts";
import { whyNotAllowed } from "./callers.ts";
import { configFile } from "./config-file.ts";
import { withoutOurs } from "./environment.ts";
import { keepIdentity } from "./identity.ts";
import { RUN, WATCHDOG_LOCK } from "./layout.ts";
import { logPath, turnOver } from "./run-log.ts";
import { isHeld } from "./running.ts";
import { wantedPath, writeWanted } from "./wanted.ts";

export type StartWorld = {
  readonly disk: Disk;
  readonly processes: Processes;
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
  readonly self: Self;
  readonly console: Pick<Console, "env" | "absolute">;
};

/** Starts a watchdog unless one is running. Returns what prevents it: a wrong configuration, SW6, or SW7. */
export async function startWatchdog(
  world: StartWorld,
  home: string,
  /** Asks a service manager to start it; true if it will. */
  startService: () => Promise<boolean> = async () => false,
): Promise<Refusal | undefined> {
  const { disk, self } = world;
  const refusal = whyNotAllowed(world, home, "start Holdfast"); // SW7
  if (refusal !== undefined) return refusal;
  const config = readConfig(world);
  if (!config.ok) return configRefusal(config.error);
  for (const parent of makeDirectories(disk, joinPath(home, RUN))) await disk.syncDirectory(parent);
  const copied = await keepIdentity({ disk, home }, world.random, world.clock.now()); // SW6
  if (copied !== undefined) return copied;
  if (readJson(disk, wantedPath(home))?.["wanted"] !== "up") await writeWanted(disk, home, "up"); // SW1
  if (isHeld(world, joinPath(home, WATCHDOG_LOCK))) return undefined; // SW2
  if (await startService()) return undefined;
  turnOver(disk, home);
  const settings = { [SETTINGS_VARIABLE]: JSON.stringify(settingsOf(config.value.config)) };
  const env = { ...environmentOf(world, home, config.value.path), ...ENGINE_OPTIONS, ...settings }; // SW5
  realChildren().detached({ argv: self.lasting("src/watchdog/main.ts", home), cwd: home, env }, logPath(home));
  return undefined;
}

export function readConfig(world: Pick<StartWorld, "console" | "disk">): Result<LoadedConfig, readonly Problem[]> {
  const { env, absolute } = world.console;
  return loadConfig({ env, absolute, read: (path) => readWhole(world.disk, path) });
}

/** The file that a program started here would use. */
export function configHere(world: Pick<StartWorld, "console" | "disk">): ConfigFile {
  const { env, absolute } = world.console;
  return configFile({ env, absolute, read: (path) => readWhole(world.disk, path) });
}

/** SW3, SW4 */
function environmentOf(world: StartWorld, home: string, config: string | undefined) {
  const { absolute } = world.console;
  const env = withoutOurs(world.self.environment());
  return {
    ...env,
    ...(env["HOLDFAST_HOME"] !== undefined && { HOLDFAST_HOME: home }),
    ...(env["HOLDFAST_CONFIG"] && config !== undefined && { HOLDFAST_CONFIG: absolute(config) }),
  };
}

/** The watchdog's settings, in its own format (watchdog/settings.ts). */
export function settingsOf({ daemon, crashLoop, fleet, web, watch }: Config) {
  const programs = Object.entries(watch).map(([name, { command, cwd, env, heartbeatMs }]) => {
    return [name, { argv: command, cwd, env, ...(heartbeatMs > 0 && { heartbeatMs }) }];
  });
  return {
    heartbeatMs: daemon.heartbeatMs,
    killAfterMs: daemon.unresponsiveKillS * 1000,
    crashes: crashLoop.crashes,
    windowMs: crashLoop.windowS * 1000,
    programs: Object.fromEntries(programs),
    ...(!web.enabled && { web: false }),
    ...(fleet.url !== "" && { standby: true }),
  };
}
