// Waits for the next process that gives orders, after the last one has died (OR2 of wire/holder/orders.ts).
// NG1. One connection at a time: the first one is accepted, all others are closed.
// NG2. If none comes, the holder leaves: without work it only wastes memory.
import { isFault } from "../base/fault.ts";
import { ORPHANED_MS, ordersSocket } from "../wire/holder/orders.ts";
import type { Clock } from "../world/clock.ts";
import type { Identities } from "../world/process.ts";
import type { Connection, ConnectionEvents, Sockets } from "../world/socket.ts";

type World = { readonly clock: Clock; readonly sockets: Sockets; readonly processes: Identities };

/** What the new process sends until it leaves; undefined if none came. */
export async function nextGiver(world: World, home: string): Promise<AsyncIterable<Uint8Array> | undefined> {
  const came = Promise.withResolvers<AsyncIterable<Uint8Array> | undefined>();
  const taken = new Set<Connection>();
  const accept = (connection: Connection): ConnectionEvents => {
    if (taken.size > 0) connection.destroy(); // NG1
    taken.add(connection);
    const said = new Said();
    if (taken.size === 1) came.resolve(said.all());
    return { bytes: (bytes) => said.heard(bytes), closed: () => said.heard(undefined) };
  };
  try {
    const listener = await world.sockets.listen(ordersSocket(home, world.processes.pid), accept);
    const cancel = world.clock.after(ORPHANED_MS, () => came.resolve(undefined)); // NG2
    const giver = await came.promise;
    cancel();
    listener.close();
    return giver;
  } catch (error) {
    if (isFault(error)) return undefined; // The home is gone, or full: there is nothing to wait for.
    throw error;
  }
}

/** Queues bytes as they arrive, for a reader that takes them one after the other; undefined ends them. */
class Said {
  readonly #waiting: (Uint8Array | undefined)[] = [];
  #wake: () => void = () => undefined;

  heard(bytes: Uint8Array | undefined): void {
    this.#waiting.push(bytes && new Uint8Array(bytes));
    this.#wake();
  }

  async *all(): AsyncGenerator<Uint8Array> {
    for (;;) {
      while (this.#waiting.length === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      const bytes = this.#waiting.shift();
      if (bytes === undefined) return;
      yield bytes;
    }
  }
}
