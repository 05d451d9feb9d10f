// Crash loops: too many crashes within a sliding window, remembered across restarts of everything (SM-1, SM-2).
// C1. A crash counts at once, in memory; the file follows. If the disk refuses the write, only the memory across
//     restarts is lost.
// C2. An unreadable history is empty; entries that are not numbers, and times from before the clock was set back, do
//     not count.
// C3. It never remembers more than the threshold needs.
// C4. The operator who leaves safe mode starts anew: crashes from before do not count any more. A time in the future is
//     of a clock that was set back since, and changes nothing.

import { type Budget, isExhausted, newBudget, spend } from "../base/budget.ts";
import { joinPath } from "../base/path.ts";
import { CRASH_HISTORY } from "../home/layout.ts";
import { type Complain, tolerating } from "../home/recovery-bus.ts";
import { readJson, writeJson } from "../log/file/json-file.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";

export type CrashLoopLimits = { readonly crashes: number; readonly windowMs: number };

export const CRASH_LOOP: CrashLoopLimits = { crashes: 3, windowMs: 60_000 };

export function crashHistoryPath(home: string): string {
  return joinPath(home, CRASH_HISTORY);
}

export type CrashLoopPlace = { readonly disk: Disk; readonly clock: Clock; readonly home: string };

export class CrashLoopDetector {
  readonly #place: CrashLoopPlace;
  readonly #complain: Complain;
  #budget: Budget;
  #last: Promise<unknown> = Promise.resolve();

  /** Reads what earlier processes recorded. */
  constructor(place: CrashLoopPlace, complain: Complain, limits: CrashLoopLimits = CRASH_LOOP) {
    this.#place = place;
    this.#complain = complain;
    this.#budget = newBudget(limits.crashes, limits.windowMs, readHistory(place));
  }

  /** Counts it now (C1); resolves to whether the history is durable. */
  recordCrash(ts: number): Promise<boolean> {
    this.#budget = spend(this.#budget, ts); // C3
    const history = { v: 1, crashes: this.#budget.spent };
    const write = () => writeJson(this.#place.disk, crashHistoryPath(this.#place.home), history);
    const written = this.#last.then(() => tolerating(this.#complain, write));
    this.#last = written;
    return written;
  }

  /** C4 */
  forgetUntil(ts: number): void {
    if (ts > this.#place.clock.now()) return;
    this.#budget = { ...this.#budget, spent: this.#budget.spent.filter((time) => time > ts) };
  }

  isLooping(): boolean {
    return isExhausted(this.#budget, this.#place.clock.now());
  }
}

function readHistory({ disk, home }: CrashLoopPlace): number[] {
  const crashes = readJson(disk, crashHistoryPath(home))?.["crashes"];
  if (!Array.isArray(crashes)) return []; // C2
  return crashes.filter((time: unknown) => typeof time === "number");
}
