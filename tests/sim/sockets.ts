// Unix sockets in memory: bytes arrive in order, a moment later; a dying process closes its sockets.
// SO1. A path belongs to its listener for as long as that lives; a path never has two listeners.
import { Fault } from "../../src/base/fault.ts";
import type { Connection, ConnectionEvents, Listener, Sockets } from "../../src/world/socket.ts";
import type { Life } from "./mortal.ts";

type Accept = (connection: Connection) => ConnectionEvents;
type Listening = { readonly life: Life; readonly accept: Accept };

export class SimSockets {
  readonly #listening = new Map<string, Listening>();

  /** The sockets interface of this process. */
  door(life: Life): Sockets {
    return {
      listen: (path, accept) => life.whileAlive(async () => this.#listen(path, { life, accept })),
      connect: (path, events) => life.whileAlive(async () => this.#connect(path, life, events)),
    };
  }

  #listen(path: string, mine: Listening): Listener {
    if (this.#at(path) !== undefined) throw new Fault({ code: "EADDRINUSE", operation: "listen", path }); // SO1
    this.#listening.set(path, mine);
    const inPlace = () => this.#listening.get(path) === mine;
    return { inPlace, touch: () => undefined, close: () => void (inPlace() && this.#listening.delete(path)) };
  }

  #at(path: string): Listening | undefined {
    const found = this.#listening.get(path);
    return found?.life.dead === false ? found : undefined;
  }

  #connect(path: string, life: Life, events: ConnectionEvents): Connection {
    const there = this.#at(path);
    if (there === undefined) throw new Fault({ code: "ECONNREFUSED", operation: "connect", path });
    const near = new End(life);
    const far = new End(there.life);
    near.other = far;
    far.other = near;
    near.events = events;
    far.events = there.accept(far);
    return near;
  }
}

class End implements Connection {
  readonly waiting = 0;
  events: ConnectionEvents | undefined;
  other: End | undefined;
  readonly #life: Life;
  readonly #came: Uint8Array[] = [];
  #paused = false;
  #closed = false;
  #ending = false;

  constructor(life: Life) {
    this.#life = life;
    life.onEnd(() => this.destroy());
  }

  send(bytes: Uint8Array): void {
    if (this.#closed || this.#life.dead) return;
    this.other?.take(new Uint8Array(bytes));
  }

  take(bytes: Uint8Array): void {
    this.#came.push(bytes);
    queueMicrotask(() => this.#hand());
  }

  #hand(): void {
    while (!this.#paused && !this.#closed && !this.#life.dead) {
      const bytes = this.#came.shift();
      if (bytes === undefined) break;
      this.#life.act(() => this.events?.bytes(bytes));
    }
    if (this.#ending && this.#came.length === 0) this.#close();
  }

  flush(): void {
    this.#hand();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    queueMicrotask(() => this.#hand());
  }

  end(): void {
    this.destroy();
  }

  destroy(): void {
    this.other?.left();
    this.#close();
  }

  /** The other side is gone: what it sent before still arrives. */
  left(): void {
    this.#ending = true;
    queueMicrotask(() => this.#hand());
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    queueMicrotask(() => this.#life.act(() => this.events?.closed()));
  }
}
