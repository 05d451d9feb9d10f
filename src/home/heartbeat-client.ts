// The watched side: sends heartbeats, finds a new watchdog when the old one dies, and makes sure that there is one. It
// uses no socket and no clock directly: the program passes them in.
// H1. Losing the watchdog never disturbs a watched program: what cannot be sent is dropped, and the connection is
//     retried with backoff.
// H2. Every connection begins with our identity and whether we are live, so that a watchdog that knows nothing can
//     adopt us.
// H3. A watchdog is started only if the operator wants `up` and no service manager keeps it. A surplus one exits by
//     itself, because its lock is taken.
// H4. A watchdog that has replied to beats and no longer does is hung: it is ended, and the next one is started. One of
//     an older version never replies, and is left alone.
import { type BackoffPolicy, backoffMs } from "../base/backoff.ts";
import { isExhausted, newBudget, spend } from "../base/budget.ts";
import { isFault } from "../base/fault.ts";
import {
  type Announced,
  encodeHeartbeat,
  type HeartbeatMessage,
  HeartbeatReader,
  type News,
} from "../wire/heartbeat.ts";

export type Later = (ms: number, fn: () => void) => () => void;

/** What `startHeartbeat` needs: a channel to send on, and the time. */
export type HeartbeatChannel = { send(): void; readonly after: Later };

/** Sends at once and then at every interval; returns a function that stops it (WD-4). */
export function startHeartbeat(channel: HeartbeatChannel, intervalMs: number): () => void {
  let cancel = (): void => undefined;
  const beat = (): void => {
    cancel = channel.after(intervalMs, beat);
    channel.send();
  };
  beat();
  return () => cancel();
}

export type HeartbeatWire = { send(bytes: Uint8Array): void; readonly waiting: number; end(): void };

export type HeartbeatPorts = {
  /** Throws a Fault if there is no listener. */
  connect(events: { bytes(bytes: Uint8Array): void; closed(): void }): Promise<HeartbeatWire>;
  readonly after: Later;
  /** A fraction in [0, 1). */
  chance(): number;
};

export type HeartbeatEvents = {
  found?(): void;
  lost?(): void;
  /** Called before each beat, with the number of those since the last reply, if there ever was one (H4). */
  unanswered?(beats: number): void;
  /** What the watchdog has to publish. It is sent only to a program that is live. */
  news?(news: News): void;
};

/**
 * A restarting watchdog listens after some tens of milliseconds; one that is gone for good costs one attempt a second.
 */
const RECONNECT: BackoffPolicy = { firstMs: 20, mostMs: 1_000, jitter: 0.2 };

/** A stopped watchdog reads nothing: beyond this, beats are dropped, since the next one says the same. */
const MAX_WAITING = 4096;

export class HeartbeatLink implements HeartbeatChannel {
  readonly after: Later;
  readonly #ports: HeartbeatPorts;
  readonly #self: Announced;
  readonly #events: HeartbeatEvents;
  #wire: HeartbeatWire | undefined;
  #cancel: () => void = () => undefined;
  #failures = 0;
  #live = false;
  #closed = false;
  /** H4: since the last reply on this connection; undefined before the first. */
  #unanswered: number | undefined;

  /** Starts connecting, without waiting for it. */
  constructor(ports: HeartbeatPorts, self: Announced, events: HeartbeatEvents = {}) {
    this.after = ports.after;
    this.#ports = ports;
    this.#self = self;
    this.#events = events;
    void this.#connect();
  }

  send(): void {
    if (this.#unanswered !== undefined) {
      this.#events.unanswered?.(this.#unanswered); // H4
      this.#unanswered += 1;
    }
    this.#say({ type: "beat" });
  }

  /** From now on our end counts as the end of something that worked: we are restarted at once. */
  live(): void {
    this.#live = true;
    this.#say({ type: "live" });
  }

  /** Reports our exit code, since a watchdog that is not our parent cannot see it; then closes. */
  leave(code: number): void {
    this.#say({ type: "bye", code });
    this.close();
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
    this.#wire?.end();
    this.#wire = undefined;
  }

  #say(message: HeartbeatMessage): void {
    if (this.#wire !== undefined && this.#wire.waiting <= MAX_WAITING) this.#wire.send(encodeHeartbeat(message)); // H1
  }

  async #connect(): Promise<void> {
    try {
      const wire = await this.#ports.connect({ bytes: this.#replies(), closed: () => this.#lost() });
      if (this.#closed) wire.end();
      else this.#found(wire);
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#lost();
    }
  }

  #replies(): (bytes: Uint8Array) => void {
    const reader = new HeartbeatReader();
    return (bytes) => {
      for (const message of reader.push(bytes) ?? []) {
        if (message.type === "beat") this.#unanswered = 0; // H4
        if (message.type === "news") this.#events.news?.(message);
      }
    };
  }

  #found(wire: HeartbeatWire): void {
    this.#wire = wire;
    this.#failures = 0;
    this.#unanswered = undefined;
    const echo = this.#events.unanswered !== undefined && ({ echo: true } as const);
    const news = this.#events.news !== undefined && ({ news: true } as const);
    this.#say({ type: "hello", ...this.#self, live: this.#live, ...echo, ...news }); // H2
    this.#events.found?.();
  }

  #lost(): void {
    if (this.#closed) return;
    this.#wire = undefined;
    this.#unanswered = undefined;
    this.#failures += 1;
    const wait = backoffMs(this.#failures, this.#ports.chance(), RECONNECT);
    this.#cancel = this.after(wait, () => void this.#connect()); // H1
    this.#events.lost?.();
  }
}

export type KeeperPorts = {
  /** What the operator wants, read from disk each time. */
  wanted(): "up" | "down";
  /** Whether a service manager, and nothing else, restarts it; read from disk each time. */
  managed?(): boolean;
  /** Starts a watchdog that outlives us. Throws a Fault if it cannot be started. */
  start(): void;
  /** Ends the one that is hung (H4). */
  end?(): void;
  /** Monotonic milliseconds. */
  elapsed(): number;
};

/** A watchdog needs less to start; one that never answered is not started more often. */
const KEEP_EVERY_MS = 2_000;

/** One that answers and dies again and again is not started for ever: at most this many in ten seconds. */
const KEEP_AT_MOST = 5;
const KEEP_WINDOW_MS = 10_000;

/** H4. A watchdog replies within a millisecond; a busy machine may take some seconds. Both must be exceeded. */
const SILENT_MS = 7_000;
const SILENT_BEATS = 3;

/** Pass the result to `HeartbeatLink` as its events: a lost watchdog is started again (H3). */
export function keepWatchdog(ports: KeeperPorts): HeartbeatEvents {
  let starts = newBudget(KEEP_AT_MOST, KEEP_WINDOW_MS);
  let notBefore = Number.NEGATIVE_INFINITY;
  const lost = (): void => {
    const now = ports.elapsed();
    if (now < notBefore || isExhausted(starts, now) || ports.wanted() === "down") return; // H3
    if (ports.managed?.() === true) return; // H3
    notBefore = now + KEEP_EVERY_MS;
    starts = spend(starts, now);
    try {
      ports.start();
    } catch (error) {
      if (!isFault(error)) throw error; // The next loss, at most a second later, tries again.
    }
  };
  const found = (): void => {
    notBefore = Number.NEGATIVE_INFINITY;
  };
  let silentSince = 0;
  const unanswered = (beats: number): void => {
    const now = ports.elapsed();
    if (beats === 0) silentSince = now;
    if (beats < SILENT_BEATS || now - silentSince < SILENT_MS || ports.wanted() === "down") return;
    silentSince = now; // Given as long again, if it is not ended.
    ports.end?.();
  };
  return { found, lost, ...(ports.end !== undefined && { unanswered }) };
}
