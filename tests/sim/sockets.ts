// Unix sockets in memory: bytes arrive in order, a moment later; a dying process closes its sockets.
// SO1. A path belongs to its listener for as long as that lives; a path never has two listeners.
// SO2. On a machine whose sockets are files, a path without its file leads nowhere, and a dead process leaves its file.
// SO3. If the test wants it (`cut`), what is sent arrives in pieces, each a moment after the other.
// SO4. If the test wants it (`taken`), the system takes only a part of what is sent, or nothing: the rest is queued by
//      the sender, goes out later, and is lost if the sender dies before that.
import { Fault } from "../../src/base/fault.ts";
import type { Connection, ConnectionEvents, Listener, Peer, Sockets } from "../../src/world/socket.ts";
import type { Life } from "./mortal.ts";

type Accept = (connection: Connection) => ConnectionEvents;
type Listening = { readonly life: Life; readonly accept: Accept; readonly hasFile: () => boolean };

/** The files of sockets (SO2). */
export type SocketFiles = {
  /** Throws a Fault if there is no directory for it. Returns whether that file is still there. */
  put(path: string): () => boolean;
  remove(path: string): void;
  touch(path: string): void;
};

const NO_FILES: SocketFiles = { put: () => () => true, remove: () => undefined, touch: () => undefined };

export type Wire = {
  /** SO3 */
  cut(bytes: Uint8Array): readonly Uint8Array[];
  /** SO4: how many of so many bytes are taken now. */
  taken(length: number): number;
  /** When it takes bytes again. */
  later(drain: () => void): void;
};

const EASY: Wire = { cut: (bytes) => [bytes], taken: (length) => length, later: (drain) => drain() };

export class SimSockets {
  readonly #listening = new Map<string, Listening>();
  readonly #files: SocketFiles;
  readonly #wire: Wire;

  constructor(files: SocketFiles = NO_FILES, wire: Wire = EASY) {
    this.#files = files;
    this.#wire = wire;
  }

  /** The sockets interface of this process. */
  door(life: Life, pid?: number): Sockets {
    return {
      listen: (path, accept) => life.whileAlive(async () => this.#listen(path, life, accept)),
      connect: (path, events) => life.whileAlive(async () => this.#connect(path, life, events, pid)),
    };
  }

  #listen(path: string, life: Life, accept: Accept): Listener {
    if (this.#at(path) !== undefined) throw new Fault({ code: "EADDRINUSE", operation: "listen", path }); // SO1
    const mine = { life, accept, hasFile: this.#files.put(path) };
    this.#listening.set(path, mine);
    const inPlace = () => this.#listening.get(path) === mine && mine.hasFile();
    const close = () => {
      if (inPlace()) this.#files.remove(path);
      if (this.#listening.get(path) === mine) this.#listening.delete(path);
    };
    return { inPlace, touch: () => void (inPlace() && this.#files.touch(path)), close };
  }

  #at(path: string): Listening | undefined {
    const found = this.#listening.get(path);
    return found?.life.dead === false && found.hasFile() ? found : undefined;
  }

  #connect(path: string, life: Life, events: ConnectionEvents, pid: number | undefined): Connection {
    const there = this.#at(path);
    if (there === undefined) throw new Fault({ code: "ECONNREFUSED", operation: "connect", path });
    const near = new End(life, this.#wire);
    const far = new End(there.life, this.#wire, { life, pid });
    near.other = far;
    far.other = near;
    near.events = events;
    far.events = there.accept(far);
    return near;
  }
}

class End implements Connection {
  events: ConnectionEvents | undefined;
  other: End | undefined;
  readonly #life: Life;
  readonly #wire: Wire;
  readonly #from: { readonly life: Life; readonly pid: number | undefined } | undefined;
  readonly #came: Uint8Array[] = [];
  /** SO4 */
  readonly #queue: Uint8Array[] = [];
  #paused = false;
  #closed = false;
  #ending = false;
  #leaving = false;

  /** `from`: who connected, for the end that accepted. */
  constructor(life: Life, wire: Wire, from?: { readonly life: Life; readonly pid: number | undefined }) {
    this.#life = life;
    this.#wire = wire;
    this.#from = from;
    life.onEnd(() => this.destroy());
  }

  peer(): Peer | undefined {
    return this.#from?.life.dead === true ? "gone" : this.#from?.pid;
  }

  get waiting(): number {
    return this.#queue.reduce((sum, { length }) => sum + length, 0);
  }

  send(bytes: Uint8Array): void {
    if (this.#closed || this.#leaving || this.#life.dead) return;
    const taken = this.#queue.length === 0 ? this.#wire.taken(bytes.length) : 0; // SO4
    this.#pass(new Uint8Array(bytes.subarray(0, taken)));
    if (taken === bytes.length) return;
    if (this.#queue.push(new Uint8Array(bytes.subarray(taken))) === 1) this.#wire.later(() => this.#drain());
  }

  #pass(bytes: Uint8Array): void {
    if (bytes.length > 0) for (const piece of this.#wire.cut(bytes)) this.other?.take(piece); // SO3
  }

  /** SO4 */
  #drain(): void {
    if (this.#closed || this.#life.dead) return;
    for (const bytes of this.#queue.splice(0)) this.#pass(bytes);
    if (this.#leaving) this.destroy();
    else this.#life.act(() => this.events?.drained?.());
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
    this.#leaving = true;
    if (this.#queue.length === 0) this.destroy();
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
    this.#queue.length = 0;
    queueMicrotask(() => this.#life.act(() => this.events?.closed()));
  }
}
