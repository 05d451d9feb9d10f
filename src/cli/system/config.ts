// `holdfast config`: the configuration in effect, and whether the file is valid.

import { ok } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import { looksSecret } from "../../core/environment.ts";
import { pendingOf } from "../../home/config-file.ts";
import { configHere, readConfig } from "../../home/start-watchdog.ts";
import { configPath, configRefusal, type Problem, problemText } from "../../wire/files/config.ts";
import type { Config } from "../../wire/files/config-schema.ts";
import { showConfig } from "../../wire/files/config-show.ts";
import { type CommandWorld, command, EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import { daemonStatus } from "../doctor/daemon.ts";
import type { DataFlags } from "../flags.ts";
import { chosenHome } from "../home.ts";
import { say } from "../print.ts";
import { pageWidth } from "../table.ts";

async function show(world: CommandWorld, flags: DataFlags): Promise<Exit> {
  const loaded = readConfig(world);
  if (!loaded.ok) return { ok: false, error: configRefusal(loaded.error) };
  const { path = null, found } = loaded.value;
  const text = flags.json
    ? visibleLine(JSON.stringify({ path, found, config: withoutSecrets(loaded.value.config) }))
    : visible(showConfig(loaded.value, pageWidth(world.console)).trimEnd());
  await world.console.out.write(`${text}\n`);
  return ok(EXIT.ok);
}

/** People paste this into reports. */
function withoutSecrets(config: Config): Config {
  const masked = (env: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(env).map(([name, text]) => [name, looksSecret(name) ? "(not shown)" : text]));
  const watch = Object.entries(config.watch).map(([name, one]) => [name, { ...one, env: masked(one.env) }] as const);
  return { ...config, watch: Object.fromEntries(watch) };
}

async function check(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const { console } = world;
  const loaded = readConfig(world);
  const problems: readonly Problem[] = loaded.ok ? [] : loaded.error;
  const path = configPath(console) ?? null;
  const found = !loaded.ok || loaded.value.found;
  const home = chosenHome(console, flags.home);
  const used = home === undefined ? undefined : (await daemonStatus(world, home))?.config;
  const pending = pendingOf(configHere(world), used);
  const inUse = used === undefined ? null : pending === undefined;
  if (flags.json) await console.out.write(`${visibleLine(JSON.stringify({ path, found, problems, inUse }))}\n`);
  else await console.out.write(visible(`${wordsOf(problems, path, found).join("\n")}\n`));
  if (!flags.json && pending !== undefined) await say(console, `${pending.what}.\n  → ${pending.next}`);
  return ok(problems.length === 0 ? EXIT.ok : EXIT.failed);
}

function wordsOf(problems: readonly Problem[], path: string | null, found: boolean): string[] {
  if (problems.length > 0) return problems.map(problemText);
  return [found ? `${path} is valid` : `there is no ${path ?? "configuration"}; the defaults apply`];
}

export const configShowCommand = command(show);
export const configCheckCommand = withDaemonWorld(check);
