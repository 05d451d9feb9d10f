// `holdfast gc`: removes what is no longer needed, or shows what that would be. The daemon does it: it knows what is in
// use.

import { ok } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import type { GcResult } from "../../wire/rpc/rpc.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { lookLive } from "../look.ts";
import { count, say, sizeText } from "../print.ts";
import { tableText } from "../table.ts";

export type GcFlags = DataFlags & { readonly dryRun?: boolean };

async function gc(world: DaemonCommandWorld, flags: GcFlags): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const { dryRun = false } = flags;
  const ask = dryRun ? lookLive : onDaemon;
  const done = await ask(world, home.value, (client) => client.call("gc", { dryRun }));
  if (!done.ok) return done;
  if (flags.json) await world.console.out.write(`${visibleLine(JSON.stringify(done.value))}\n`);
  else await print(world, done.value);
  return ok(done.value.failed.length > 0 ? EXIT.failed : EXIT.ok);
}

async function print(
  { console }: DaemonCommandWorld,
  { dryRun, bytes, items, more = 0, failed, kept = [] }: GcResult,
): Promise<void> {
  const rows = items.map((item) => [sizeText(item.bytes), item.what, item.reason, item.path]);
  if (rows.length > 0) await console.out.write(visible(tableText(console, rows, CUTS)));
  if (more > 0) await say(console, `${count(more, "item")} more are not shown.`);
  for (const words of kept) await say(console, `kept: ${words}`);
  for (const words of failed) await say(console, `could not be removed: ${words}`);
  const verb = dryRun ? "would free" : "freed";
  await say(
    console,
    items.length === 0 ? "nothing to remove." : `${verb} ${sizeText(bytes)} in ${count(items.length + more, "item")}.`,
  );
}

/** The reason, then the beginning of a path. */
const CUTS = [
  { column: 2, keeps: "start" },
  { column: 3, keeps: "end" },
] as const;

export const gcCommand = withDaemonWorld(gc);
