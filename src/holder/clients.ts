// Clients: everybody who is attached, as one.
// L1. Until the child is started they are not heard, so that nobody is welcomed by a holder that will start nothing.
// L2. One connection for each writer: the newer one speaks for it, the older one is told so and closed.
// L3. Their number is bounded.
// L4. Whoever had come before the end hears of it, also where its first word is still on the way.
import type { HolderRefusal } from "../wire/holder/protocol.ts";
import type { Connection } from "../world/socket.ts";
import type { Client } from "./client.ts";

/** More windows on one terminal than anybody opens; a loop that connects for ever meets it (L3). */
const MAX_CONNECTIONS = 200;

export class Clients {
  readonly #here = new Set<Client>();
  readonly #held = new Set<Client>();
  readonly #gone = Promise.withResolvers<void>();
  #connections = 0;
  #waiting: Connection[] | undefined = [];
  #last: Uint8Array | undefined;

  get count(): number {
    return this.#here.size;
  }

  /** Whether there is room for one more connection (L3). Each that came is taken off by `remove`. */
  admit(connection: Connection): boolean {
    this.#connections += 1;
    if (this.#connections > MAX_CONNECTIONS) return false;
    if (this.#waiting !== undefined) {
      connection.pause(); // L1
      this.#waiting.push(connection);
    }
    return true;
  }

  add(client: Client): void {
    for (const other of this.#here) {
      if (other.writer === client.writer && !other.readOnly && !client.readOnly) other.dismiss(REPLACED); // L2
    }
    this.#here.add(client);
  }

  /** It has been told how things stand; where they have ended, that comes next. */
  welcomed(client: Client): void {
    if (this.#last !== undefined) client.follower.finish(this.#last);
  }

  /** L1 */
  open(): void {
    for (const connection of this.#waiting ?? []) connection.resume();
    this.#waiting = undefined;
  }

  remove(client: Client): void {
    this.#connections -= 1;
    this.#here.delete(client);
    this.#held.delete(client);
    if (this.#connections === 0 && this.#last !== undefined) this.#gone.resolve();
  }

  /** New output for whoever follows. */
  offer(parts: readonly Uint8Array[], end: number): void {
    for (const client of this.#here) client.follower.offer(parts, end);
  }

  /** Its input waits until there is room. */
  hold(client: Client): void {
    this.#held.add(client);
    client.pause();
  }

  resume(): void {
    for (const client of this.#held) client.resume();
    this.#held.clear();
  }

  /** Tells everybody, each after its last byte; resolves when all are gone. */
  finish(last: Uint8Array): Promise<void> {
    this.#last = last;
    for (const client of this.#here) client.follower.finish(last);
    if (this.#connections === 0) this.#gone.resolve(); // L4
    return this.#gone.promise;
  }
}

const REPLACED: HolderRefusal = {
  code: "holder.replaced",
  message: "Another connection speaks for this writer now.",
  hint: "Use a writer's name of your own.",
};
