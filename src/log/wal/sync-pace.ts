// Chooses between the two ways to sync. On this thread is faster where the disk is fast, since nobody has to be woken; in the
// background keeps the loop free where the disk is slow (docs/decisions/0004-two-ways-to-sync.md).
import type { Clock } from "../../world/clock.ts";
import type { OpenFile } from "../../world/disk.ts";

/** A sync this long on our own thread would be felt by someone who types. */
const SLOW_MS = 2;
/** How much the newest sync counts; about the last ten decide. */
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
