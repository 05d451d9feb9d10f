// The record of the last crash, for the next launch to read, and its announcement on the bus (WD-6).
// R1. The file is always written. If there is a bus, the crash is published there as well.
// R2. Records are written one after the other. The last crash of each program stays, whatever else crashes after it,
//     and so do the last ones of all programs together, so that people see how often something happens.
// R3. A disk that does not take it is a complaint, never an end of the watchdog (WD-9).
import { CRASH_DETECTED, type CrashRecord, lastCrashPath, MAX_HISTORY, readLastCrash } from "../home/last-crash.ts";
import { type Complain, type RecoveryBus, tell, tolerating } from "../home/recovery-bus.ts";
import { writeJson } from "../log/file/json-file.ts";
import type { Disk } from "../world/disk.ts";

/** More than anyone watches; a reader takes a file of this size. */
const MAX_PROGRAMS = 256;

export class CrashRecorder {
  readonly #disk: Disk;
  readonly #home: string;
  readonly #bus: RecoveryBus | undefined;
  readonly #complain: Complain;
  #last: Promise<unknown> = Promise.resolve();
  /** R2 */
  #programs: Readonly<Record<string, CrashRecord>>;
  #history: readonly CrashRecord[];

  constructor(place: { disk: Disk; home: string }, complain: Complain, bus?: RecoveryBus) {
    this.#disk = place.disk;
    this.#home = place.home;
    this.#complain = complain;
    this.#bus = bus;
    const { programs = {}, history = [] } = readLastCrash(place.disk, place.home) ?? {};
    this.#programs = programs;
    this.#history = history;
  }

  /** Resolves to whether it is durable. */
  record(crash: CrashRecord): Promise<boolean> {
    tell(this.#bus, this.#complain, [CRASH_DETECTED, crash]);
    const programs = latest({ ...this.#programs, [crash.name]: crash }); // R2
    const history = [...this.#history, crash].slice(-MAX_HISTORY); // R2
    this.#programs = programs;
    this.#history = history;
    const write = () => writeJson(this.#disk, lastCrashPath(this.#home), { v: 1, ...crash, programs, history });
    const written = this.#last.then(() => tolerating(this.#complain, write)); // R2, R3
    this.#last = written;
    return written;
  }
}

/** Of programs that nobody watches any more the newest stay. */
function latest(programs: Readonly<Record<string, CrashRecord>>): Readonly<Record<string, CrashRecord>> {
  const sorted = Object.entries(programs).toSorted(([, a], [, b]) => (a.time < b.time ? 1 : -1));
  return Object.fromEntries(sorted.slice(0, MAX_PROGRAMS));
}
