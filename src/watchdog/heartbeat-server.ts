// Where watched processes call: listens on `run/watchdog.sock` and passes on what they say, with who said it.
// N1. Nobody who calls can harm us: what is no message is passed over, an endless line or one caller too many is cut off (WD-9).
// N2. Only who has introduced itself is heard, except for the wish to look again.
// N3. A socket that was removed from under us is put back; connections that stand are not touched.
// N4. Where somebody else answers in its place by then, another watchdog runs.
import { type Fault, isFault } from "../base/fault.ts";
import type { Complain } from "../home/recovery-bus.ts";
import { type Announced, type HeartbeatMessage, HeartbeatReader } from "../wire/heartbeat.ts";
import type { Clock } from "../world/clock.ts";
import type { Connection, ConnectionEvents, Listener, Sockets } from "../world/socket.ts";

/** Each watched process has one connection; this is far more than anybody watches. */
const MAX_CALLERS = 256;

const LOOK_EVERY_MS = 2_000;

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

  /** What kept us from listening, where something did; we go on trying. */
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
    const bytes = (chunk: Uint8Array): void => {
      const messages = reader.push(chunk);
      for (const message of messages ?? []) from = this.#take(message, from);
      if (messages === undefined) caller.destroy(); // N1
    };
    const closed = (): void => {
      this.#callers.delete(caller);
      if (from !== undefined && this.#open) this.#host.hungUp(from);
    };
    return { bytes, closed };
  }

  /** Returns who the caller is from now on. */
  #take(message: HeartbeatMessage, from: Announced | undefined): Announced | undefined {
    if (!this.#open) return from;
    if (message.type === "look") this.#host.look();
    const who = message.type === "hello" ? message : from;
    if (who !== undefined && message.type !== "look") this.#host.heard(who, message); // N2
    return who;
  }
}
