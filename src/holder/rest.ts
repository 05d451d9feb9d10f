// Rest: a holder that has nothing to do gives its memory back. Most holders do nothing most of the time, and there are many.
// Q1. Once for each time of activity, when it has been over for a while; no timer runs in between.
import type { Clock } from "../world/clock.ts";

/** Long enough that a program which prints something now and then is not asked to tidy up each time. */
const QUIET_MS = 3000;

export class Rest {
  readonly #clock: Clock;
  readonly #rest: () => void;
  #last = 0;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, rest: () => void) {
    this.#clock = clock;
    this.#rest = rest;
  }

  /** Something happens. */
  stir(): void {
    this.#last = this.#clock.elapsed();
    if (this.#cancel === undefined) this.#plan(QUIET_MS);
  }

  /** There is nothing left to tidy up after. */
  end(): void {
    this.#cancel?.();
  }

  #plan(ms: number): void {
    this.#cancel = this.#clock.after(ms, () => {
      const left = this.#last + QUIET_MS - this.#clock.elapsed();
      if (left > 0) return this.#plan(left);
      this.#cancel = undefined; // Q1
      this.#rest();
    });
  }
}
