// `holdfast rm`: forgets terminals whose programs have ended; with --force it ends them first.
// RM1. A daemon that died in between may already have forgotten it: then it is done.
import { ok, type Result } from "../../base/result.ts";
import type { ListedTerminal } from "../../wire/rpc/rpc.ts";
import { Pauses } from "../../world/wait.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { printJson } from "../print.ts";
import { dropAgentLink } from "./agent-link.ts";
import { endTerminals } from "./end.ts";
import { findTerminals } from "./find.ts";

export type RmFlags = DataFlags & { readonly force?: boolean };

/** The daemon learns of an end a moment after we do. */
const HEARD_LIMITS = { firstMs: 5, mostMs: 100, allMs: 5_000 };

async function rm(world: DaemonCommandWorld, flags: RmFlags, ...keys: readonly string[]): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const found = await findTerminals(world, home.value, keys);
  if (!found.ok) return found;
  const exits = await Promise.all(found.value.map((one) => forget(world, home.value, one, flags.force === true)));
  const removed = found.value.filter((_, at) => exits[at]?.ok === true);
  for (const { recipe } of removed) dropAgentLink(world, home.value, recipe.env);
  if (flags.json)
    await printJson(
      world.console,
      removed.map(({ id, name }) => ({ id, name })),
    );
  return exits.find((exit) => !exit.ok) ?? ok(EXIT.ok);
}

async function forget(
  world: DaemonCommandWorld,
  home: string,
  terminal: ListedTerminal,
  force: boolean,
): Promise<Exit> {
  const { id, state } = terminal;
  const runs = state.kind === "running" || state.kind === "starting";
  if (!force || !runs) return remove(world, home, id);
  const [ended] = await endTerminals(world, home, [terminal]);
  if (ended?.ok === false) return ended;
  const pauses = new Pauses(world.clock, HEARD_LIMITS);
  for (;;) {
    const removed = await remove(world, home, id);
    if (removed.ok || removed.error.code !== "still-running" || !(await pauses.next())) return removed;
  }
}

function remove(world: DaemonCommandWorld, home: string, id: string): Promise<Exit> {
  return onDaemon<number>(world, home, async (client, again): Promise<Result<number>> => {
    const removed = await client.call("terminal.remove", { id });
    return removed.ok || (again && removed.error.code === "unknown") ? ok(EXIT.ok) : removed; // RM1
  });
}

export const rmCommand = withDaemonWorld(rm);
