// The watchdog's core: knows by their heartbeats which processes are
// alive, reports silent ones, and ends hopeless ones (WD-1, WD-2).
// W1. Time is counted in checks, half an interval apart, and never read from a clock that can be set. Four checks
//     without a heartbeat, which is two intervals, are silence: the process is probed, and reported as gone or as
//     unresponsive.
// W2. A check that is late by more than half an interval means that we were not running (stopped, asleep, starved):
//     counting starts again. A shorter pause of ours cannot take a punctual sender over two intervals, so no process is
//     blamed for our own absence.
// W3. Each silence is reported once; a heartbeat ends it.
// W4. Silent processes are ended only after `killAfterMs`, first by SIGTERM, after `graceMs` more by SIGKILL, and never
//     while they wait for the disk: a slow sync is not a hang, and killing it would lose the writes in progress.
// W5. Each process has one timer, and none once it is unregistered or gone (WD-7).
import { CrashReason } from "../home/last-crash.ts";
import type { Clock } from "../world/clock.ts";
import { identify, type Processes, type ProcessIdentity } from "../world/process.ts";

export type CrashCallback = (name: string, pid: number, reason: CrashReason) => void;

export type WatchdogLimits = {
  /** A silence this long is no longer garbage collection or swapping. */
  readonly killAfterMs: number;
  /** How long a process that still handles SIGTERM may clean up. */
  readonly graceMs: number;
};

export const DEFAULT_INTERVAL_MS = 2_000;
export const LIMITS: WatchdogLimits = { killAfterMs: 30_000, graceMs: 5_000 };

const LOOKS_PER_INTERVAL = 2;
const SILENT_AFTER = 2 * LOOKS_PER_INTERVAL;

type Watched = {
  readonly name: string;
  readonly pid: number;
  /** undefined if it was gone before it was registered. */
  readonly who: ProcessIdentity | undefined;
  readonly lookMs: number;
  /** Since the last heartbeat. */
  looks: number;
  /** Since the last heartbeat, or since it was last seen waiting for the disk. */
  idle: number;
  reported: boolean;
  /** Whether SIGTERM was sent; only once, since many programs drop everything at a second one. */
  asked: boolean;
  cancel: () => void;
};

const FRESH = { looks: 0, idle: 0, reported: false, asked: false };

function oneMore({ looks, idle }: Watched): Pick<Watched, "looks" | "idle"> {
  return { looks: looks + 1, idle: idle + 1 };
}

export class Watchdog {
  readonly #clock: Clock;
  readonly #processes: Processes;
  readonly #limits: WatchdogLimits;
  readonly #watched = new Map<string, Watched>();
  readonly #callbacks: CrashCallback[] = [];

  constructor(world: { clock: Clock; processes: Processes }, limits: Partial<WatchdogLimits> = {}) {
    this.#clock = world.clock;
    this.#processes = world.processes;
    this.#limits = { ...LIMITS, ...limits };
  }

  /** A name that is already registered is registered again. */
  registerProcess(name: string, pid: number, heartbeatIntervalMs: number = DEFAULT_INTERVAL_MS): void {
    this.unregister(name);
    const lookMs = heartbeatIntervalMs / LOOKS_PER_INTERVAL;
    const who = identify(this.#processes, pid);
    const watched = { name, pid, who, lookMs, ...FRESH, cancel: () => undefined };
    this.#watched.set(name, watched);
    this.#lookLater(watched);
  }

  /** Ignored for an unknown name. */
  receiveHeartbeat(name: string): void {
    const watched = this.#watched.get(name);
    if (watched === undefined) return;
    watched.cancel();
    Object.assign(watched, FRESH); // W3
    this.#lookLater(watched);
  }

  unregister(name: string): void {
    this.#watched.get(name)?.cancel(); // W5
    this.#watched.delete(name);
  }

  onCrashDetected(callback: CrashCallback): void {
    this.#callbacks.push(callback);
  }

  #lookLater(watched: Watched): void {
    const due = this.#clock.elapsed() + watched.lookMs;
    watched.cancel = this.#clock.after(watched.lookMs, () => this.#look(watched, this.#clock.elapsed() - due));
  }

  #look(watched: Watched, lateMs: number): void {
    this.#lookLater(watched);
    const { reported } = watched;
    Object.assign(watched, lateMs > watched.lookMs ? { ...FRESH, reported } : oneMore(watched)); // W1, W2, W3
    if (watched.looks < SILENT_AFTER) return;
    if (watched.who === undefined || !this.#processes.alive(watched.who)) this.#gone(watched);
    else this.#silent(watched, watched.who);
  }

  #gone(watched: Watched): void {
    this.unregister(watched.name); // W5
    this.#report(watched, CrashReason.HEARTBEAT_TIMEOUT);
  }

  #silent(watched: Watched, who: ProcessIdentity): void {
    if (!watched.reported) {
      watched.reported = true; // W3
      this.#report(watched, CrashReason.UNRESPONSIVE);
    }
    const spared = this.#processes.waitsForDisk(who.pid); // W4
    if (spared) Object.assign(watched, { idle: 0, asked: false });
    else this.#endIfHopeless(watched, who);
  }

  #endIfHopeless(watched: Watched, who: ProcessIdentity): void {
    const idleMs = watched.idle * watched.lookMs;
    if (idleMs < this.#limits.killAfterMs) return;
    if (!watched.asked) this.#processes.kill(who, "SIGTERM");
    else if (idleMs >= this.#limits.killAfterMs + this.#limits.graceMs) this.#processes.kill(who, "SIGKILL");
    watched.asked = true;
  }

  #report({ name, pid }: Watched, reason: CrashReason): void {
    for (const callback of this.#callbacks) callback(name, pid, reason);
  }
}
