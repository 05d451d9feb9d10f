// Socket keeper: the holder can be found under its path for as long as it lives.
// S1. A path that was removed from under us is bound again, within a beat, or at once when we are nudged. A daemon sees the path go, and nudges.
// S2. A path that somebody else answers on is left alone.
import { isFault } from "../base/fault.ts";
import type { Clock } from "../world/clock.ts";
import type { Connection, ConnectionEvents, Listener, Sockets } from "../world/socket.ts";

/** For while there is no daemon. A look costs one stat, but wakes a process that sleeps; a few hundred must not be seen in the idle CPU. */
const BEAT_MS = 60_000;

type Accept = (connection: Connection) => ConnectionEvents;
type World = { readonly clock: Clock; readonly sockets: Sockets };

export class SocketKeeper {
  readonly #world: World;
  readonly #path: string;
  readonly #accept: Accept;
  #listener: Listener;
  #cancel: () => void;
  #closed = false;

  /** Fault EADDRINUSE where a living holder has the path. */
  static async open(world: World, path: string, accept: Accept): Promise<SocketKeeper> {
    return new SocketKeeper(world, path, accept, await world.sockets.listen(path, accept));
  }

  private constructor(world: World, path: string, accept: Accept, listener: Listener) {
    this.#world = world;
    this.#path = path;
    this.#accept = accept;
    this.#listener = listener;
    this.#cancel = this.#beat();
  }

  /** Looks after the path now (S1). */
  async look(): Promise<void> {
    if (this.#closed || this.#listener.inPlace()) return;
    try {
      const next = await this.#world.sockets.listen(this.#path, this.#accept);
      this.#listener.close();
      this.#listener = next;
      if (this.#closed) next.close();
    } catch (error) {
      if (!isFault(error)) throw error; // S2, or the directory is gone too: the next beat tries again.
    }
  }

  /** Whoever watches the path looks at us. */
  touch(): void {
    try {
      this.#listener.touch();
    } catch (error) {
      if (!isFault(error)) throw error; // A hint that cannot be given: that we leave is seen all the same.
    }
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
    this.#listener.close();
  }

  #beat(): () => void {
    return this.#world.clock.after(BEAT_MS, () => {
      this.#cancel = this.#beat();
      void this.look();
    });
  }
}
