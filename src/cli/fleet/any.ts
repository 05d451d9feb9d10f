// `--any` of `run` and `agent new`: the work is queued in the fleet, and a host that has room does it.
// AN1. Only what means the same on every host travels: a flag that names something of this one is refused.
// AN2. The id is chosen before the request: a repeated request is the same item.
import { newId } from "../../base/ids.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import type { Params } from "../../wire/rpc/params.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { meantHome } from "../home.ts";
import { printJson } from "../print.ts";
import type { AnyFlags } from "./any-flags.ts";

type Work = Omit<Params<"fleet.queue-run">, "id" | "labels"> | Omit<Params<"fleet.queue-agent">, "id" | "labels">;
type Flags = AnyFlags & { readonly home?: string; readonly json?: boolean };

/** AN1. `given`: flags that were given, by their names, of those that do not travel. */
export function mayTravel(given: Readonly<Record<string, unknown>>): Result<undefined> {
  const [name] = Object.entries(given).find(([, value]) => value !== undefined && value !== false) ?? [];
  if (name === undefined) return ok(undefined);
  return refused("usage", `${name} means something on this host only.`, `Leave out ${name}, or --any.`);
}

export async function queueWork(world: DaemonCommandWorld, flags: Flags, work: Work): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const id = newId(world.random.bytes(16)); // AN2
  const wish = { id, labels: flags.label ?? [] };
  const queued = await onDaemon(world, home.value, (client) =>
    "source" in work
      ? client.call("fleet.queue-run", { ...work, ...wish })
      : client.call("fleet.queue-agent", { ...work, ...wish }),
  );
  if (!queued.ok) return queued;
  if (flags.json) await printJson(world.console, queued.value);
  else await world.console.out.write(`${id}\n`);
  return ok(EXIT.ok);
}

/** A label without `--any` would silently have no effect. */
export function withoutAny(flags: AnyFlags): Result<undefined> {
  if (flags.any === true || (flags.label ?? []).length === 0) return ok(undefined);
  return refused("usage", "--label chooses a host of the fleet.", "Add --any.");
}
