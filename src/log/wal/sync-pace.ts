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

  /** Returns undefined if it is done. */
  sync(file: OpenFile): Promise<void> | undefined {
    const before = this.#clock.elapsed();
    if (this.#usual >= SLOW_MS) return file.datasync().then(() => this.#took(before));
    file.datasyncBlocking();
    this.#took(before);
    return undefined;
  }

  #took(since: number): void {
    this.#usual += WEIGHT * (this.#clock.elapsed() - since - this.#usual);
  }
}
