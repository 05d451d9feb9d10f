// `holdfast kill`: ends the programs in terminals and waits for their ends; with --signal it only delivers that signal.
// KI1. Terminals by their names, or all running ones of a lane; never all of them by mistake. Nothing is done to any of
//      them before all names are found.

import { endedText, signalNamed } from "../../base/exit-code.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import type { BriefTerminal } from "../../wire/rpc/rpc.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { printJson, say } from "../print.ts";
import { endTerminals, signalTerminal } from "./end.ts";
import { findTerminals, listTerminals } from "./find.ts";

export type KillFlags = DataFlags & { readonly signal?: string; readonly lane?: string };

async function kill(world: DaemonCommandWorld, flags: KillFlags, ...keys: readonly string[]): Promise<Exit> {
  const signal = flags.signal === undefined ? undefined : signalNamed(flags.signal);
  if (flags.signal !== undefined && signal === undefined) return noSignal(flags.signal);
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const meant = await meantTerminals(world, home.value, flags, keys);
  if (!meant.ok) return meant;
  if (signal === undefined) return endAll(world, home.value, meant.value, flags);
  for (const { id } of meant.value) {
    const sent = await signalTerminal(world, home.value, { id, signal });
    if (!sent.ok) return sent;
  }
  const told = meant.value.map(({ id, name }) => ({ id, name, sent: signal }));
  if (flags.json) await printJson(world.console, flags.lane === undefined && told.length === 1 ? told[0] : told);
  return ok(EXIT.ok);
}

/** KI1 */
async function meantTerminals(
  world: DaemonCommandWorld,
  home: string,
  { lane }: KillFlags,
  keys: readonly string[],
): Promise<Result<readonly BriefTerminal[]>> {
  if ((keys.length === 0) === (lane === undefined))
    return refused("usage", "Which terminal?", "Name one or more, or give a lane: holdfast kill --lane LANE");
  if (keys.length > 0) return findTerminals(world, home, keys);
  const listing = await listTerminals(world, home, "now", lane === undefined ? {} : { lane });
  if (!listing.ok) return listing;
  const inLane = listing.value.terminals;
  if (inLane.length === 0)
    return refused("unknown", `There is no lane ${JSON.stringify(lane)}.`, "`holdfast ls` shows all.");
  return ok(inLane.filter(({ state }) => state.kind === "running" || state.kind === "starting"));
}

type Killed = {
  readonly id: string;
  readonly name: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
};

/** The first failure is reported. */
async function endAll(
  world: DaemonCommandWorld,
  home: string,
  terminals: readonly BriefTerminal[],
  { json, lane }: KillFlags,
): Promise<Exit> {
  const ended = await endTerminals(world, home, terminals);
  const { console } = world;
  const killed: Killed[] = [];
  for (const [at, { id, name }] of terminals.entries()) {
    const end = ended[at];
    if (end === undefined || !end.ok) continue;
    const exit = end.value.kind === "ended" ? end.value.exit : { code: null, signal: null };
    killed.push({ id, name, exitCode: exit.code, signal: exit.signal });
    if (!json && console.err.tty) await say(console, `${name} ${endedText(exit)}.`);
  }
  const shown = lane === undefined && terminals.length === 1 ? killed[0] : killed;
  if (json && shown !== undefined) await printJson(console, shown);
  return ended.find((end) => !end.ok) ?? ok(EXIT.ok);
}

function noSignal(name: string): Exit {
  return refused(
    "usage",
    `Unknown signal ${JSON.stringify(name)}.`,
    "Use a name from `kill -l`: TERM, HUP, INT, USR1 …",
  );
}

export const killCommand = withDaemonWorld(kill);
