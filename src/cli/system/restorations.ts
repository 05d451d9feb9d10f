// `holdfast recovery accept` and `rollback`: accepts or undoes the restarts of terminals after a crash.
// RV1. Without names it applies to all that were restored and not accepted yet.

import { ok, type Result } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import type { ListedTerminal } from "../../wire/rpc/rpc.ts";
import { Pauses } from "../../world/wait.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { say } from "../print.ts";
import { pickAll } from "../terminal/find.ts";

type What = "accept" | "rollback";

/** The daemon gives a program two seconds before it kills it. */
const LIMITS = { firstMs: 5, mostMs: 100, allMs: 15_000 };

function doing(what: What) {
  return async (world: DaemonCommandWorld, flags: DataFlags, ...keys: readonly string[]): Promise<Exit> => {
    const home = existingHome(world, flags.home);
    if (!home.ok) return home;
    const done = await onDaemon(world, home.value, (client) => all(world, client, what, keys));
    if (!done.ok) return done;
    const byName = done.value.toSorted((a, b) => a.name.localeCompare(b.name));
    const rows = byName.map(({ id, name, state }) => ({ id, name, state: state.kind }));
    if (flags.json) await world.console.out.write(`${visibleLine(JSON.stringify(rows))}\n`);
    else await say(world.console, wordsOf(what, rows));
    return ok(EXIT.ok);
  };
}

async function all(
  world: DaemonCommandWorld,
  client: RpcClient,
  what: What,
  keys: readonly string[],
): Promise<Result<ListedTerminal[]>> {
  const list = await client.call("terminal.list", {});
  if (!list.ok) return list;
  const meant = keys.length === 0 ? waiting(list.value) : pickAll(list.value, keys); // RV1
  if (!meant.ok) return meant;
  for (const { id } of meant.value) {
    const done = await client.call(`recovery.${what}`, { id });
    if (!done.ok) return done;
  }
  return settled(world, client, new Set(meant.value.map(({ id }) => id)));
}

function waiting(terminals: readonly ListedTerminal[]): Result<ListedTerminal[]> {
  return ok(terminals.filter(({ restored }) => restored !== undefined && !restored.accepted));
}

/** Waits until everything that is rolled back has ended. */
async function settled(
  world: DaemonCommandWorld,
  client: RpcClient,
  ids: ReadonlySet<string>,
): Promise<Result<ListedTerminal[]>> {
  const pauses = new Pauses(world.clock, LIMITS);
  for (;;) {
    const list = await client.call("terminal.list", {});
    if (!list.ok) return list;
    const ours = list.value.filter(({ id }) => ids.has(id));
    if (!ours.some(({ rollingBack }) => rollingBack) || !(await pauses.next())) return ok(ours);
  }
}

function wordsOf(what: What, rows: readonly { readonly name: string }[]): string {
  if (rows.length === 0) return "no restored terminal is waiting to be accepted.";
  const names = rows.map(({ name }) => name).join(", ");
  if (what === "accept") return `accepted: ${names}.`;
  return `rolled back: ${names}.\n  → holdfast restore ${rows[0]?.name ?? ""} --as plan|shell|recipe`;
}

export const acceptCommand = withDaemonWorld(doing("accept"));
export const rollbackCommand = withDaemonWorld(doing("rollback"));
