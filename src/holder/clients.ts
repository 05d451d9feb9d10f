// Clients: all attached connections.
// L1. They are not read before the child is started, so that a holder that starts nothing welcomes no one.
// L2. One connection for each writer: the newer one takes over, the older one is refused and closed.
// L3. Their number is bounded, so that no one keeps the operator out (base/places.ts).
// L4. Every client that connected before the end is notified of it, even if its HELLO is still on the way.
import { type PlaceLimits, Places } from "../base/places.ts";
import type { HolderRefusal } from "../wire/holder/protocol.ts";
import type { Connection } from "../world/socket.ts";
import type { Client } from "./client.ts";

/** More windows than anyone opens on one terminal; it stops a loop that connects for ever (L3). */
const PLACES: PlaceLimits = { all: 200, silent: 64, guests: 50, guest: 20 };

export class Clients {
  readonly #here = new Set<Client>();
  readonly #held = new Set<Client>();
  readonly #gone = Promise.withResolvers<void>();
  readonly #places = new Places<Connection>(PLACES);
  #waiting: Connection[] | undefined = [];
  #last: Uint8Array | undefined;

  get count(): number {
    return this.#here.size;
  }

  /** Without the daemon. */
  get windows(): number {
    return [...this.#here].filter(({ writer }) => writer !== "daemon").length;
  }

  /** `remove` must be called for each. */
  admit(connection: Connection): void {
    this.#places.enter(connection); // L3
    if (this.#waiting === undefined) return;
    connection.pause(); // L1
    this.#waiting.push(connection);
  }

  /** Whether there is a place for one that has identified itself (L3). `guest` is asked only if places are scarce. */
  seat(connection: Connection, guest: () => string | undefined): boolean {
    return this.#places.sit(connection, this.#places.isHalfFull ? guest() : undefined);
  }

  add(client: Client): void {
    for (const other of this.#here) {
      if (other.writer === client.writer && !other.readOnly && !client.readOnly) other.dismiss(REPLACED); // L2
    }
    this.#here.add(client);
  }

  /** It has received the status; if the child has ended, that is sent next. */
  welcomed(client: Client): void {
    if (this.#last !== undefined) client.follower.finish(this.#last);
  }

  /** L1 */
  open(): void {
    for (const connection of this.#waiting ?? []) connection.resume();
    this.#waiting = undefined;
  }

  remove(client: Client): void {
    this.#places.leave(client.connection);
    this.#here.delete(client);
    this.#held.delete(client);
    if (this.#places.count === 0 && this.#last !== undefined) this.#gone.resolve();
  }

  /** Sends new output to all followers. */
  offer(parts: readonly Uint8Array[], end: number): void {
    for (const client of this.#here) client.follower.offer(parts, end);
  }

  /** Sends a frame to all followers. */
  tell(frame: Uint8Array): void {
    for (const client of this.#here) client.follower.tell(frame);
  }

  /** Stops reading its input until there is room. */
  hold(client: Client): void {
    this.#held.add(client);
    client.pause();
  }

  resume(): void {
    for (const client of this.#held) client.resume();
    this.#held.clear();
  }

  /** Notifies all clients, each after its last byte; resolves when all are gone. */
  finish(last: Uint8Array): Promise<void> {
    this.#last = last;
    for (const client of this.#here) client.follower.finish(last);
    if (this.#places.count === 0) this.#gone.resolve(); // L4
    return this.#gone.promise;
  }
}

const REPLACED: HolderRefusal = {
  code: "holder.replaced",
  message: "Another connection took over this writer.",
  hint: "Use your own writer name.",
};
