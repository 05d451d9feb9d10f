// Types once into a terminal of the drill, like `holdfast send`: connects to its holder and waits until it has the
// bytes.
import { isFault } from "../base/fault.ts";
import { holderSocket, readSpec, terminalFiles } from "../home/held/holder-files.ts";
import { HolderClient } from "../wire/holder/client.ts";
import { Pauses } from "../world/wait.ts";
import type { Site } from "./site.ts";

/** A holder starts within some tens of milliseconds; if many are starting at once it takes longer. */
const CONNECT_LIMITS = { firstMs: 5, mostMs: 50, allMs: 15_000 };

/** Returns false if the holder does not answer in time. */
export async function typeOnce(site: Site, id: string, bytes: Uint8Array): Promise<boolean> {
  const pauses = new Pauses(site.world.clock, CONNECT_LIMITS);
  do {
    const client = await connected(site, id);
    if (client === undefined) continue;
    const taken = await client.input(bytes);
    client.close();
    return taken.ok;
  } while (await pauses.next());
  return false;
}

async function connected({ world, home }: Site, id: string): Promise<HolderClient | undefined> {
  const spec = readSpec(terminalFiles(world.disk, home, id));
  const socket = holderSocket(home, id);
  if (spec === undefined) return undefined;
  const nothing = () => undefined;
  const events = { output: nothing, resync: nothing, ended: nothing, lost: nothing };
  const wish = { token: spec.token, writer: "drill-once", from: 0 };
  const client = new HolderClient((heard) => world.sockets.connect(socket, heard), wish, events);
  try {
    return (await client.connect()).ok ? client : undefined;
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}
