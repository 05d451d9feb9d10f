// Chooses between two ways to sync. On this thread it is faster if the disk is fast, since no other thread must be
// woken; in the background it keeps the event loop free if the disk is slow (docs/decisions/0004-two-ways-to-sync.md).
import type { Clock } from "../../world/clock.ts";
import type { OpenFile } from "../../world/disk.ts";

/** A longer sync on our own thread would be noticeable while typing. */
const SLOW_MS = 2;
/** The weight of the newest sync; about the last ten decide. */
const WEIGHT = 0.2;

export class SyncPace {
  readonly #clock: Clock;
  #usual = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async sync(file: OpenFile): Promise<void> {
    const before = this.#clock.elapsed();
    if (this.#usual < SLOW_MS) file.datasyncBlocking();
    else await file.datasync();
    this.#usual += WEIGHT * (this.#clock.elapsed() - before - this.#usual);
  }
}
