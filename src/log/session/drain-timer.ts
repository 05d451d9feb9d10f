// When session logs are brought up to date with the write-ahead log: soon after it falls quiet, at the latest after two
// seconds, and at intervals while the disk is full. No timer runs while there is nothing to do.
import type { Clock } from "../../world/clock.ts";

/** Session logs are written when nothing was appended for this long … */
const QUIET_MS = 100;
/** … and at the latest after this long, so that their readers are never far behind. */
const LATEST_MS = 2000;
/** How often a full disk is retried. */
const RETRY_MS = 1000;

export class DrainTimer {
  readonly #clock: Clock;
  readonly #due: () => void;
  #cancel: (() => void) | undefined;
  #oldest = 0;
  #newest = 0;

  constructor(clock: Clock, due: () => void) {
    this.#clock = clock;
    this.#due = due;
  }

  /** There is something to drain. */
  touch(): void {
    this.#newest = this.#clock.elapsed();
    if (this.#cancel !== undefined) return;
    this.#oldest = this.#newest;
    this.#arm(QUIET_MS, () => this.#look());
  }

  /** The last attempt found no room. */
  retry(): void {
    this.cancel();
    this.#arm(RETRY_MS, this.#due);
  }

  cancel(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #look(): void {
    const now = this.#clock.elapsed();
    if (now - this.#newest >= QUIET_MS || now - this.#oldest >= LATEST_MS) this.#due();
    else this.#arm(QUIET_MS, () => this.#look());
  }

  #arm(ms: number, fn: () => void): void {
    this.#cancel = this.#clock.after(ms, () => {
      this.#cancel = undefined;
      fn();
    });
  }
}
