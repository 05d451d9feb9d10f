// Rest: an idle holder returns its memory to the system. Most holders are idle most of the time, and there are many.
// Q1. It happens once after each period of activity, when it has been over for a while; no timer runs in between.
import type { Clock } from "../world/clock.ts";

/**
 * Long enough that a program that prints now and then does not cause it each time, and that a start is followed by one
 * rest: the daemon closes its first connection after ten seconds (terminal/holders.ts). After a reboot hundreds start
 * together, and the rests of the first ones would take the time of the last.
 */
const QUIET_MS = 15_000;

export class Rest {
  readonly #clock: Clock;
  readonly #rest: () => void;
  #last = 0;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, rest: () => void) {
    this.#clock = clock;
    this.#rest = rest;
  }

  /** There is activity. */
  stir(): void {
    this.#last = this.#clock.elapsed();
    if (this.#cancel === undefined) this.#plan(QUIET_MS);
  }

  /** The child has ended: nothing more to do. */
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
