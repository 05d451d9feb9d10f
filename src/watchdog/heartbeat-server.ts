// Listens on `run/watchdog.sock` for watched processes, and passes on their messages with their identity.
// N1. No client can harm us: invalid messages are skipped, an endless line or a surplus connection is cut off (WD-9).
// N2. Only clients that sent a hello are heard, except for the request to look again.
// N3. If the socket is removed, it is restored; existing connections are not affected.
// N4. If another process answers on it by then, another watchdog runs.
// N5. Only a client that asks for replies gets them, and none while it does not read: the next one says the same. News
//     is different each time, and waits for it, up to `MAX_WAITING`.
import { type Fault, isFault } from "../base/fault.ts";
import type { Complain } from "../home/recovery-bus.ts";
import {
  type Announced,
  encodeHeartbeat,
  type HeartbeatMessage,
  HeartbeatReader,
  type News,
} from "../wire/heartbeat.ts";
import type { Clock } from "../world/clock.ts";
import type { Connection, ConnectionEvents, Listener, Sockets } from "../world/socket.ts";

/** Each watched process has one connection; this is far more than anyone watches. */
const MAX_CALLERS = 256;

const LOOK_EVERY_MS = 2_000;
const ECHO = encodeHeartbeat({ type: "beat" });
/** N5. A few hundred crashes. */
const MAX_WAITING = 64 << 10;

/** Sends news to one client; undefined if it did not ask for any. */
export type Inform = ((news: News) => void) | undefined;

export interface Host {
  heard(from: Announced, message: HeartbeatMessage, inform: Inform): void;
  hungUp(from: Announced, inform: Inform): void;
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
    const tell = informer(caller);
    let asked: Asked = { echo: false, inform: undefined };
    const reply = (): void => {
      if (asked.echo && caller.waiting === 0) caller.send(ECHO); // N5
    };
    const bytes = (chunk: Uint8Array): void => {
      const messages = reader.push(chunk);
      for (const message of messages ?? []) {
        if (message.type === "hello") asked = askedIn(message, tell);
        from = this.#take(message, from, asked.inform);
        if (message.type === "hello" || message.type === "beat") reply();
      }
      if (messages === undefined) caller.destroy(); // N1
    };
    const closed = (): void => {
      this.#callers.delete(caller);
      if (from !== undefined && this.#open) this.#host.hungUp(from, asked.inform);
    };
    return { bytes, closed };
  }

  /** Returns the identity of the client from now on. */
  #take(message: HeartbeatMessage, from: Announced | undefined, inform: Inform): Announced | undefined {
    if (!this.#open) return from;
    if (message.type === "look") this.#host.look();
    const who = message.type === "hello" ? message : from;
    if (who !== undefined && message.type !== "look") this.#host.heard(who, message, inform); // N2
    return who;
  }
}

/** N5. What a client has asked for in its hello. */
type Asked = { readonly echo: boolean; readonly inform: Inform };

function askedIn({ echo, news }: HeartbeatMessage & { type: "hello" }, inform: Inform): Asked {
  return { echo: echo === true, inform: news === true ? inform : undefined };
}

/** N5 */
function informer(caller: Connection): Inform {
  return (news) => {
    if (caller.waiting <= MAX_WAITING) caller.send(encodeHeartbeat({ type: "news", ...news }));
  };
}
