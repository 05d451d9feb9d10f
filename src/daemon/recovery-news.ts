// What the watchdog saw, on the bus: crashes, and that safe mode was entered, each once (WD-6, SM-4).
// WN1. It comes over the heartbeat connection. What made the watchdog start this daemon is also read from its files, in
//      case the watchdog died as well; there, everything from before the last recovery was published after that one.
// WN2. Nothing is published before LIVE: the clients of the daemon that crashed come back during the recovery. Those
//      who come back later hear of it as well, for a minute: a recovery takes less time than many a client's next try.
import { CRASH_DETECTED, type CrashRecord, readLastCrash } from "../home/last-crash.ts";
import { readReport } from "../home/reports.ts";
import { SAFE_MODE_ENTERED, type SafeMode } from "../home/safe-mode.ts";
import type { News } from "../wire/heartbeat.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import type { Bus } from "./bus.ts";

/** WN2 */
const KEPT_MS = 60_000;

type NewsPorts = {
  readonly world: { readonly disk: Disk; readonly clock: Clock; readonly home: string };
  readonly bus: Bus;
  readonly safeMode: SafeMode;
};

export class WatchdogNews {
  readonly #ports: NewsPorts;
  readonly #told = new Set<string>();
  #found: readonly News[] = [];

  constructor(ports: NewsPorts) {
    this.#ports = ports;
  }

  /** Reads the files (WN1); returns the record of the crash that ended the last daemon, as it stands on disk. */
  detect(crashed: boolean): Readonly<Record<string, unknown>> | null {
    const { world, safeMode } = this.#ports;
    const told = readReport(world.disk, world.home, null)?.at ?? "";
    const crash = crashed ? readLastCrash(world.disk, world.home)?.programs["daemon"] : undefined;
    const record = crash !== undefined && crash.time > told ? recordOf(crash) : null;
    const mode = safeMode.state;
    this.#found = [
      ...(record === null ? [] : [{ topic: CRASH_DETECTED, data: record }]),
      ...(mode.active && mode.since > told ? [{ topic: SAFE_MODE_ENTERED, data: { ...mode } }] : []),
    ];
    return record;
  }

  /** WN2 */
  goLive(): void {
    for (const news of this.#found) this.publish(news);
  }

  publish({ topic, data }: News): void {
    const which = topic === SAFE_MODE_ENTERED ? topic : `${topic} ${data["name"]} ${data["pid"]} ${data["time"]}`;
    if (this.#told.has(which)) return; // WN1
    this.#told.add(which);
    const { bus, world } = this.#ports;
    world.clock.after(KEPT_MS, bus.publishAndKeep(topic, data)); // WN2
  }
}

function recordOf(crash: CrashRecord) {
  return { v: 1, ...crash };
}
