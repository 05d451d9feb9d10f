// Listens on `run/watchdog.sock` for watched processes, and passes on their messages with their identity.
// N1. No client can harm us: invalid messages are skipped, an endless line or a surplus connection is cut off (WD-9).
// N2. Only clients that sent a hello are heard, except for the request to look again.
// N3. If the socket is removed, it is restored; existing connections are not affected.
// N4. If another process answers on it by then, another watchdog runs.
// N5. Only a client that asks for replies gets them, and none while it does not read: the next one says the same.
import { type Fault, isFault } from "../base/fault.ts";
import type { Complain } from "../home/recovery-bus.ts";
import { type Announced, encodeHeartbeat, type HeartbeatMessage, HeartbeatReader } from "../wire/heartbeat.ts";
import type { Clock } from "../world/clock.ts";
import type { Connection, ConnectionEvents, Listener, Sockets } from "../world/socket.ts";

/** Each watched process has one connection; this is far more than anyone watches. */
const MAX_CALLERS = 256;

const LOOK_EVERY_MS = 2_000;
const ECHO = encodeHeartbeat({ type: "beat" });

export interface Host {
  heard(from: Announced, message: HeartbeatMessage): void;
  hungUp(from: Announced): void;
  look(): void;
  displaced(): void;
}

export type ReceptionPlace = { readonly sockets: Sockets; readonly clock: Clock; readonly path: string };

export class HeartbeatServer {
  readonly #place: ReceptionPlace;
  readonly #host: Host;
  readonly #complain: Complain;
  readonly #callers = new Set<Connection>();
  #listener: Listener | undefined;
  #cancel: () => void = () => undefined;
  #open = true;

  constructor(place: ReceptionPlace, host: Host, complain: Complain) {
    this.#place = place;
    this.#host = host;
    this.#complain = complain;
  }

  /** Returns the Fault that prevents listening, if any; we keep trying. */
  async open(): Promise<Fault | undefined> {
    if (!this.#open) return undefined;
    this.#cancel = this.#place.clock.after(LOOK_EVERY_MS, () => void this.#lookAfter());
    try {
      const listener = await this.#place.sockets.listen(this.#place.path, (caller) => this.#accept(caller));
      if (this.#open) this.#listener = listener;
      else listener.close();
      return undefined;
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#complain(error);
      return error;
    }
  }

  /** N3 */
  async #lookAfter(): Promise<void> {
    if (this.#listener?.inPlace() === true) {
      this.#cancel = this.#place.clock.after(LOOK_EVERY_MS, () => void this.#lookAfter());
      return;
    }
    this.#listener?.close();
    this.#listener = undefined;
    const trouble = await this.open();
    if (isFault(trouble, "EADDRINUSE")) this.#host.displaced(); // N4
  }

  close(): void {
    this.#open = false;
    this.#cancel();
    this.#listener?.close();
    for (const caller of this.#callers) caller.end();
  }

  #accept(caller: Connection): ConnectionEvents {
    if (this.#callers.size >= MAX_CALLERS)
      caller.destroy(); // N1
    else this.#callers.add(caller);
    const reader = new HeartbeatReader();
    let from: Announced | undefined;
    let echo = false;
    const reply = (): void => {
      if (echo && caller.waiting === 0) caller.send(ECHO); // N5
    };
    const bytes = (chunk: Uint8Array): void => {
      const messages = reader.push(chunk);
      for (const message of messages ?? []) {
        from = this.#take(message, from);
        if (message.type === "hello") echo = message.echo === true;
        if (message.type === "hello" || message.type === "beat") reply();
      }
      if (messages === undefined) caller.destroy(); // N1
    };
    const closed = (): void => {
      this.#callers.delete(caller);
      if (from !== undefined && this.#open) this.#host.hungUp(from);
    };
    return { bytes, closed };
  }

  /** Returns the identity of the client from now on. */
  #take(message: HeartbeatMessage, from: Announced | undefined): Announced | undefined {
    if (!this.#open) return from;
    if (message.type === "look") this.#host.look();
    const who = message.type === "hello" ? message : from;
    if (who !== undefined && message.type !== "look") this.#host.heard(who, message); // N2
    return who;
  }
}
