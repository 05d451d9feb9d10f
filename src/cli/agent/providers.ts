// `holdfast providers ls|test`: what agents can run on, and whether it is there.

import { nearest } from "../../base/nearest.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { readConfig } from "../../home/start-watchdog.ts";
import { configRefusal } from "../../wire/files/config.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { printJson } from "../print.ts";
import { tableText } from "../table.ts";
import { greeted } from "./provider-greeting.ts";
import { type NamedProvider, namedProviders, type ProviderRow, providerRow } from "./provider-rows.ts";

const HEAD = ["NAME", "KIND", "FROM", "VERSION", "USABLE", "NOTE"];

async function ls(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const rows = await looked(world, [], false);
  if (!rows.ok) return rows;
  if (flags.json) await printJson(world.console, rows.value);
  else await world.console.out.write(tableOf(world, rows.value));
  return ok(EXIT.ok);
}

async function test(world: DaemonCommandWorld, flags: DataFlags, ...names: readonly string[]): Promise<Exit> {
  const rows = await looked(world, names, true);
  if (!rows.ok) return rows;
  if (flags.json) await printJson(world.console, rows.value);
  else await world.console.out.write(rows.value.map(blockOf).join("\n"));
  return ok(rows.value.every(({ usable }) => usable) ? EXIT.ok : EXIT.failed);
}

/** All of them without names. `deep`: those that speak ACP are started and greeted. */
async function looked(
  world: DaemonCommandWorld,
  names: readonly string[],
  deep: boolean,
): Promise<Result<ProviderRow[]>> {
  const loaded = readConfig(world);
  if (!loaded.ok) return { ok: false, error: configRefusal(loaded.error) };
  const { config } = loaded.value;
  const all = namedProviders(config);
  const unknown = names.find((name) => !all.some((one) => one.name === name));
  if (unknown !== undefined) return noProvider(unknown, all);
  const wanted = names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
  const look = async (one: NamedProvider) => {
    const row = await providerRow(world, one);
    return deep && row.usable ? greeted(world, one, row, config.agents.env) : row;
  };
  return ok(await Promise.all(wanted.map(look)));
}

function noProvider(name: string, all: readonly NamedProvider[]): Result<never> {
  const near = nearest(
    name,
    all.map((one) => one.name),
  );
  const hint = near === undefined ? "`holdfast providers ls` lists them." : `Did you mean ${near}?`;
  return refused("unknown", `There is no provider ${JSON.stringify(name)}.`, hint);
}

function tableOf({ console }: DaemonCommandWorld, rows: readonly ProviderRow[]): string {
  const cells = rows.map(({ name, kind, from, version, usable, why }) =>
    [name, kind, from, version ?? "-", usable ? "yes" : "no", why].map(visibleLine),
  );
  return tableText(console, [HEAD, ...cells]);
}

function blockOf({ name, kind, from, program, version, login, usable, why, next, resumes }: ProviderRow): string {
  const lines = [
    ["provider", `${name} (${kind}, ${from})`],
    ["program", program ?? ""],
    ["version", version ?? ""],
    ["login", login ?? ""],
    ["resumes", resumes === undefined ? "" : resumes ? "yes, its own conversations" : "no"],
    ["usable", `${usable ? "yes" : "no"}${why === "" ? "" : `: ${why}`}`],
  ] as const;
  const shown = lines
    .filter(([, text]) => text !== "")
    .map(([label, text]) => `${label.padEnd(10)}${visibleLine(text)}\n`);
  return `${shown.join("")}${next === null ? "" : `  → ${visibleLine(next)}\n`}`;
}

export const providersLsCommand = withDaemonWorld(ls);
export const providersTestCommand = withDaemonWorld(test);
