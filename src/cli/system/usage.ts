// `holdfast usage disk`: what takes room in the home, by kind, and what `holdfast gc` would free now.
// UD1. The files are counted here, also while no daemon answers: on a full disk none may be able to start. Only the
//      daemon knows what gc would free; nothing is started to ask it.
import { ok } from "../../base/result.ts";
import { visible } from "../../base/visible.ts";
import { dial } from "../../home/dial.ts";
import { diskUsage } from "../../home/disk-usage.ts";
import type { KindUsage } from "../../wire/page/messages.ts";
import type { GcResult } from "../../wire/rpc/rpc.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { count, printJson, say, sizeText } from "../print.ts";
import { tableText } from "../table.ts";

/** `why`: the reason why it is not known. */
type Found = Pick<GcResult, "bytes" | "items" | "more">;
type Freeable = Found | { readonly why: string };

async function usageDisk(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const { console, disk } = world;
  const kinds = diskUsage(disk, home.value);
  const gc = await freeable(world, home.value);
  const bytes = kinds.reduce((sum, kind) => sum + kind.bytes, 0);
  if (flags.json === true) {
    const frees = "why" in gc ? null : { bytes: gc.bytes, items: itemsOf(gc) };
    await printJson(console, { home: home.value, bytes, kinds, gc: frees, free: disk.free(home.value) });
    return ok(EXIT.ok);
  }
  await console.out.write(visible(tableText(console, [...kinds.map(rowOf), [sizeText(bytes), "in all"]])));
  await say(console, `${sizeText(disk.free(home.value))} are free on this disk.`);
  await say(console, gcText(gc));
  return ok(EXIT.ok);
}

function rowOf({ kind, files, bytes }: KindUsage): string[] {
  return [sizeText(bytes), kind, count(files, "file")];
}

function gcText(gc: Freeable): string {
  if ("why" in gc) return `What \`holdfast gc\` would free is not known: ${gc.why}`;
  if (gc.items.length === 0)
    return "`holdfast gc` would free nothing now; [retention] says what is kept, and how long.";
  return `\`holdfast gc\` would free ${sizeText(gc.bytes)} in ${count(itemsOf(gc), "item")} now.`;
}

function itemsOf({ items, more = 0 }: Found): number {
  return items.length + more;
}

/** UD1 */
async function freeable(world: DaemonCommandWorld, home: string): Promise<Freeable> {
  const line = await dial(world, home);
  if (!line.ok) return { why: line.error.message };
  if (line.value === undefined) return { why: "no daemon answers. `holdfast up` starts it." };
  const done = await line.value.call("gc", { dryRun: true });
  line.value.close();
  return done.ok ? done.value : { why: done.error.message };
}

export const usageDiskCommand = withDaemonWorld(usageDisk);
