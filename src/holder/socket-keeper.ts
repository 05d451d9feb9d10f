// Socket keeper: the holder is reachable under its path for as long as it lives.
// S1. If the path is removed, it is bound again within one interval, or at once after a SIGHUP. A daemon sees the path
//     vanish, and sends it.
// S2. A path on which another process answers is left alone.
// S3. One that is kept for later is bound when it is looked at for the first time.
import { isFault } from "../base/fault.ts";
import type { Clock } from "../world/clock.ts";
import type { Connection, ConnectionEvents, Listener, Sockets } from "../world/socket.ts";

/**
 * For when there is no daemon. A check costs one stat, but wakes a
 * sleeping process; a few hundred must not be noticeable in idle CPU.
 */
const BEAT_MS = 60_000;

type Accept = (connection: Connection) => ConnectionEvents;
type World = { readonly clock: Clock; readonly sockets: Sockets };

export class SocketKeeper {
  readonly #world: World;
  readonly #path: string;
  readonly #accept: Accept;
  #listener: Listener | undefined;
  #cancel: () => void = () => undefined;
  #closed = false;

  /** Fault EADDRINUSE if a living holder has the path. */
  static async open(world: World, path: string, accept: Accept): Promise<SocketKeeper> {
    const keeper = new SocketKeeper(world, path, accept);
    keeper.#listener = await world.sockets.listen(path, accept);
    keeper.#cancel = keeper.#beat();
    return keeper;
  }

  /** S3 */
  static later(world: World, path: string, accept: Accept): SocketKeeper {
    return new SocketKeeper(world, path, accept);
  }

  private constructor(world: World, path: string, accept: Accept) {
    this.#world = world;
    this.#path = path;
    this.#accept = accept;
  }

  /** Checks the path now (S1, S3). */
  async look(): Promise<void> {
    if (this.#closed || this.#listener?.inPlace() === true) return;
    try {
      const next = await this.#world.sockets.listen(this.#path, this.#accept);
      if (this.#listener === undefined) this.#cancel = this.#beat();
      this.#listener?.close();
      this.#listener = next;
      if (this.#closed) this.close();
    } catch (error) {
      if (!isFault(error)) throw error; // S2, or the directory is gone too: the next interval tries again.
    }
  }

  /** Watchers of the path are notified. */
  touch(): void {
    try {
      this.#listener?.touch();
    } catch (error) {
      if (!isFault(error)) throw error; // Only a hint: our exit is noticed all the same.
    }
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
    this.#listener?.close();
  }

  #beat(): () => void {
    return this.#world.clock.after(BEAT_MS, () => {
      this.#cancel = this.#beat();
      void this.look();
    });
  }
}
