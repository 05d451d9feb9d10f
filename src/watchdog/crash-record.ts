// The record of the last crash, for the next launch to read, and its event for current listeners (WD-6).
// R1. The file is always written, with or without a bus; if there is a bus, the crash is also published.
// R2. Records are written one after the other: of two simultaneous crashes the later one stays.
// R3. If the disk refuses the write, this is reported, and the watchdog continues (WD-9).

import { joinPath } from "../base/path.ts";
import { LAST_CRASH } from "../home/layout.ts";
import { type Complain, type RecoveryBus, tell, tolerating } from "../home/recovery-bus.ts";
import { readJson, writeJson } from "../log/file/json-file.ts";
import type { Disk } from "../world/disk.ts";
import { CrashReason, type SeenEnding } from "./exit.ts";

export const CRASH_DETECTED = "recovery.crash.detected";

/** `recovery/last-crash.json`, and the event on the bus. */
export type CrashRecord = {
  readonly name: string;
  readonly pid: number;
  /** null if a signal ended it, or if the end was not seen. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly reason: CrashReason;
  readonly time: string;
};

export type CrashFacts = { readonly name: string; readonly pid: number; readonly reason: CrashReason };

export function crashRecord(facts: CrashFacts, ending: SeenEnding | undefined, now: number): CrashRecord {
  const exitCode = ending?.kind === "exited" ? ending.code : null;
  const signal = ending?.kind === "signalled" ? ending.signal : null;
  return { ...facts, exitCode, signal, time: new Date(now).toISOString() };
}

export function lastCrashPath(home: string): string {
  return joinPath(home, LAST_CRASH);
}

/** The last recorded crash; undefined if there is no readable record. */
export function readLastCrash(disk: Disk, home: string): CrashRecord | undefined {
  const found = readJson(disk, lastCrashPath(home));
  if (found === undefined) return undefined;
  const { name, pid, exitCode, signal, time } = found;
  const reason = Object.values(CrashReason).find((known) => known === found["reason"]);
  if (typeof name !== "string" || typeof pid !== "number" || typeof time !== "string" || reason === undefined) {
    return undefined;
  }
  const code = typeof exitCode === "number" ? exitCode : null;
  return { name, pid, exitCode: code, signal: typeof signal === "string" ? signal : null, reason, time };
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
