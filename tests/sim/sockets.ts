// Unix sockets in memory: bytes arrive in order, a moment later; a dying process closes its sockets.
// SO1. A path belongs to its listener for as long as that lives; a path never has two listeners.
// SO2. On a machine whose sockets are files, a path without its file leads nowhere, and a dead process leaves its file.
// SO3. If the test wants it (`cut`), what is sent arrives in pieces, each a moment after the other.
import { Fault } from "../../src/base/fault.ts";
import type { Connection, ConnectionEvents, Listener, Sockets } from "../../src/world/socket.ts";
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

/** SO3 */
export type Cut = (bytes: Uint8Array) => readonly Uint8Array[];

export class SimSockets {
  readonly #listening = new Map<string, Listening>();
  readonly #files: SocketFiles;
  readonly #cut: Cut;

  constructor(files: SocketFiles = NO_FILES, cut: Cut = (bytes) => [bytes]) {
    this.#files = files;
    this.#cut = cut;
  }

  /** The sockets interface of this process. */
  door(life: Life): Sockets {
    return {
      listen: (path, accept) => life.whileAlive(async () => this.#listen(path, life, accept)),
      connect: (path, events) => life.whileAlive(async () => this.#connect(path, life, events)),
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

  #connect(path: string, life: Life, events: ConnectionEvents): Connection {
    const there = this.#at(path);
    if (there === undefined) throw new Fault({ code: "ECONNREFUSED", operation: "connect", path });
    const near = new End(life, this.#cut);
    const far = new End(there.life, this.#cut);
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
  readonly #cut: Cut;
  readonly #came: Uint8Array[] = [];
  #paused = false;
  #closed = false;
  #ending = false;

  constructor(life: Life, cut: Cut) {
    this.#life = life;
    this.#cut = cut;
    life.onEnd(() => this.destroy());
  }

  send(bytes: Uint8Array): void {
    if (this.#closed || this.#life.dead) return;
    for (const piece of this.#cut(new Uint8Array(bytes))) this.other?.take(piece); // SO3
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
