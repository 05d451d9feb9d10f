// Formats adopted sessions.

import { localTime } from "../../base/local-time.ts";
import { visibleLine } from "../../base/visible.ts";
import type { ListedTmux } from "../../wire/rpc/rpc.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { say } from "../print.ts";
import { tableText } from "../table.ts";

const HEAD = ["NAME", "ID", "STATE", "POLICY", "SAVED", "SOCKET"];
const CUTS = [{ column: HEAD.indexOf("SOCKET"), keeps: "end" }] as const;

/** Other programs rely on this shape: fields are added, never changed. */
function rowOf({ id, name, state, policy, socket, adoptedAt, savedAt, recreated, trouble }: ListedTmux) {
  const reason = state.kind === "kept" ? null : state.reason;
  const again = { recreatedAt: recreated?.at ?? null, notes: recreated?.notes ?? [] };
  return { id, name, kind: "tmux", state: state.kind, reason, policy, socket, adoptedAt, savedAt, ...again, trouble };
}

export async function showRows(
  world: DaemonCommandWorld,
  rows: readonly ListedTmux[],
  json: boolean | undefined,
): Promise<void> {
  const { console } = world;
  if (json) return console.out.write(`${visibleLine(JSON.stringify(rows.map(rowOf)))}\n`);
  if (rows.length === 0) return say(console, "there are no managed sessions. `holdfast adopt tmux` adopts one.");
  const cells = rows.map((row) => cellsOf(console, row).map(visibleLine));
  await console.out.write(tableText(console, [HEAD, ...cells], CUTS));
  for (const { name, trouble } of rows) if (trouble !== null) await say(console, `${name}: ${trouble}`);
}

export async function showRow(world: DaemonCommandWorld, row: ListedTmux, json: boolean | undefined): Promise<void> {
  if (json) await world.console.out.write(`${visibleLine(JSON.stringify(rowOf(row)))}\n`);
  else await showRows(world, [row], false);
}

function cellsOf(
  console: DaemonCommandWorld["console"],
  { id, name, state, policy, socket, savedAt }: ListedTmux,
): string[] {
  const shown = state.kind === "kept" ? "managed" : state.kind;
  return [name, id.slice(0, 8), shown, policy, savedAt === null ? "not yet" : localTime(console, savedAt), socket];
}
