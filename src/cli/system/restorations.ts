// `holdfast recovery accept` and `rollback`: accepts or undoes the restarts of terminals after a crash.
// RV1. Without names it applies to all that were restored and not accepted yet.

import { ok, type Result } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import { allRows } from "../../wire/rpc/page.ts";
import type { BriefTerminal } from "../../wire/rpc/rpc.ts";
import { Pauses } from "../../world/wait.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { say } from "../print.ts";
import { findAllOn } from "../terminal/find.ts";

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
): Promise<Result<BriefTerminal[]>> {
  const meant = keys.length === 0 ? await waiting(client) : await findAllOn(client, keys); // RV1
  if (!meant.ok) return meant;
  for (const { id } of meant.value) {
    const done = await client.call(`recovery.${what}`, { id });
    if (!done.ok) return done;
  }
  return settled(world, client, new Set(meant.value.map(({ id }) => id)));
}

async function waiting(client: RpcClient): Promise<Result<readonly BriefTerminal[]>> {
  const rows = await allRows(client, "terminal.list", {});
  return rows.ok ? ok(rows.value.filter(({ restored }) => restored !== undefined && !restored.accepted)) : rows;
}

/** Waits until everything that is rolled back has ended. */
async function settled(
  world: DaemonCommandWorld,
  client: RpcClient,
  ids: ReadonlySet<string>,
): Promise<Result<BriefTerminal[]>> {
  const pauses = new Pauses(world.clock, LIMITS);
  for (;;) {
    const rows = await allRows(client, "terminal.list", {});
    if (!rows.ok) return rows;
    const ours = rows.value.filter(({ id }) => ids.has(id));
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
