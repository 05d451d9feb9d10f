// `holdfast fleet queue` and `fleet queue cancel`: the work that waits for any host of the fleet (`--any`).
import { localTime } from "../../base/local-time.ts";
import { ok, type Result } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import type { ListedItem } from "../../wire/rpc/rpc.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome, meantHome } from "../home.ts";
import { lookLive } from "../look.ts";
import { printJson, say } from "../print.ts";
import { tableText } from "../table.ts";

export type QueueFlags = DataFlags & { readonly ended?: boolean };

const HEAD = ["ID", "KIND", "SINCE", "STATE", "HOST", "LABELS", "WHAT CAME OF IT"];
const GOES_ON: readonly string[] = ["open", "claimed"];

async function queue(world: DaemonCommandWorld, flags: QueueFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const all = await itemsOf(world, home.value);
  if (!all.ok) return all;
  const items = flags.ended === true ? all.value : all.value.filter(({ state }) => GOES_ON.includes(state));
  const rows = items.map(({ id, kind, at, state, host, labels, words }) =>
    [id, kind, localTime(world.console, at), state, host, labels.join(" "), words].map(visibleLine),
  );
  if (flags.json) await printJson(world.console, items);
  else if (rows.length === 0) await say(world.console, "nothing waits in the fleet's queue.");
  else await world.console.out.write(tableText(world.console, [HEAD, ...rows]));
  return ok(EXIT.ok);
}

/** The oldest first. */
function itemsOf(world: DaemonCommandWorld, home: string): Promise<Result<readonly ListedItem[]>> {
  return lookLive(world, home, async (client) => {
    const items: ListedItem[] = [];
    for (;;) {
      const next = await client.call("fleet.queue", { after: items.at(-1)?.n ?? 0 });
      if (!next.ok) return next;
      if (next.value.length === 0) return ok(items);
      items.push(...next.value);
    }
  });
}

async function cancel(world: DaemonCommandWorld, flags: DataFlags, id: string): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const cancelled = await onDaemon(world, home.value, (client) => client.call("fleet.queue-cancel", { id }));
  if (!cancelled.ok) return cancelled;
  if (flags.json) await printJson(world.console, cancelled.value);
  else await say(world.console, `${id} is not done any more.`);
  return ok(EXIT.ok);
}

export const queueCommand = withDaemonWorld(queue);
export const cancelCommand = withDaemonWorld(cancel);
