// One connection over a unix socket.
// RK1. Bytes are sent in order: while some are queued, new ones are queued behind them.
// RK2. Queued bytes are copies: the sender may reuse its buffer at once.
// RK3. After the close nothing is sent, and the close is reported once.
import type { Connection, ConnectionEvents, Peer } from "../socket.ts";
import { peerOf } from "./peer.ts";

export class RealConnection implements Connection {
  events: ConnectionEvents | undefined;
  readonly #socket: Bun.Socket<RealConnection>;
  readonly #openedAt = performance.now();
  #queue: Uint8Array[] = [];
  #waiting = 0;
  #ending = false;
  #closed = false;

  constructor(socket: Bun.Socket<RealConnection>) {
    this.#socket = socket;
  }

  get waiting(): number {
    return this.#waiting;
  }

  send(bytes: Uint8Array): void {
    if (this.#closed || this.#ending) return; // RK3
    this.flush();
    const taken = this.#queue.length === 0 ? this.#write(bytes) : 0; // RK1
    if (taken === bytes.length) return;
    this.#queue.push(new Uint8Array(bytes.subarray(taken))); // RK2
    this.#waiting += bytes.length - taken;
  }

  pause(): void {
    if (!this.#closed) this.#socket.pause();
  }

  resume(): void {
    if (!this.#closed) this.#socket.resume();
  }

  end(): void {
    this.#ending = true;
    if (this.#waiting === 0 && !this.#closed) this.#socket.end();
  }

  destroy(): void {
    if (!this.#closed) this.#socket.terminate();
  }

  /** Its socket speaks TLS from now on, to the given handlers; this connection reports nothing more. */
  upgrade(options: Bun.TLSUpgradeOptions<RealConnection>): void {
    this.events = undefined;
    this.#socket.upgradeTLS(options);
  }

  /** A closed socket has no peer any more. */
  peer(): Peer | undefined {
    if (this.#closed) return "gone";
    const fd: unknown = Reflect.get(this.#socket, "fd"); // Bun's types do not name it.
    return typeof fd === "number" && fd >= 0 ? peerOf(fd, performance.now() - this.#openedAt) : undefined;
  }

  /** The system accepts bytes again. */
  drain(): void {
    this.flush();
    if (this.#queue.length > 0) return;
    if (this.#ending) this.#socket.end();
    else this.events?.drained?.();
  }

  flush(): void {
    while (this.#queue.length > 0) {
      const first = this.#queue[0] ?? new Uint8Array();
      const taken = this.#write(first);
      this.#waiting -= taken;
      if (taken < first.length) {
        this.#queue[0] = first.subarray(taken);
        return;
      }
      this.#queue.shift();
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true; // RK3
    this.#queue = [];
    this.#waiting = 0;
    this.events?.closed();
  }

  /** Bun returns −1 if the socket is closing: then nothing was taken, and `close` follows. */
  #write(bytes: Uint8Array): number {
    return Math.max(0, this.#socket.write(bytes));
  }
}
