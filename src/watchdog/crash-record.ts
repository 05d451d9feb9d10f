// The record of the last crash, for the next launch to read, and the news of it for whoever listens (WD-6).
// R1. The file is always written, with a bus or without one; the bus is told as well where there is one.
// R2. Records are written one after the other: of two crashes at once the later one stays.
// R3. A disk that does not take it is a complaint, never an end of the watchdog (WD-9).
import { type CrashReason, type CrashRecord, lastCrashPath } from "../home/last-crash.ts";
import { type Complain, type RecoveryBus, tell, tolerating } from "../home/recovery-bus.ts";
import { writeJson } from "../log/file/json-file.ts";
import type { Disk } from "../world/disk.ts";
import type { SeenEnding } from "./exit.ts";

export const CRASH_DETECTED = "recovery.crash.detected";

export type CrashFacts = { readonly name: string; readonly pid: number; readonly reason: CrashReason };

export function crashRecord(facts: CrashFacts, ending: SeenEnding | undefined, now: number): CrashRecord {
  const exitCode = ending?.kind === "exited" ? ending.code : null;
  const signal = ending?.kind === "signalled" ? ending.signal : null;
  return { ...facts, exitCode, signal, time: new Date(now).toISOString() };
}

export class CrashRecorder {
  readonly #disk: Disk;
  readonly #home: string;
  readonly #bus: RecoveryBus | undefined;
  readonly #complain: Complain;
  #last: Promise<unknown> = Promise.resolve();

  constructor(place: { disk: Disk; home: string }, complain: Complain, bus?: RecoveryBus) {
    this.#disk = place.disk;
    this.#home = place.home;
    this.#complain = complain;
    this.#bus = bus;
  }

  /** Resolves to whether it is durable. */
  record(crash: CrashRecord): Promise<boolean> {
    tell(this.#bus, this.#complain, [CRASH_DETECTED, crash]);
    const write = () => writeJson(this.#disk, lastCrashPath(this.#home), { v: 1, ...crash });
    const written = this.#last.then(() => tolerating(this.#complain, write)); // R2, R3
    this.#last = written;
    return written;
  }
}
