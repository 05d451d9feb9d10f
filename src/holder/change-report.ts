// Reports to the daemon, which may not be connected, that what a list shows of the terminal has changed: its windows,
// or whether its output is recorded. The socket is touched, and the daemon asks for the status.
// CH1. Only after a moment, if it is still different: a client that only types a line comes and goes without a report.
import type { Clock } from "../world/clock.ts";

const SETTLED_MS = 100;

export class ChangeReport {
  readonly #clock: Clock;
  readonly #now: () => string;
  readonly #report: () => void;
  #told = "";
  #isPlanned = false;

  /** `now`: what would be reported. */
  constructor(clock: Clock, now: () => string, report: () => void) {
    this.#clock = clock;
    this.#now = now;
    this.#report = report;
    this.#told = now();
  }

  /** Something may have changed. */
  look(): void {
    if (this.#isPlanned || this.#now() === this.#told) return;
    this.#isPlanned = true;
    this.#clock.after(SETTLED_MS, () => this.#tell());
  }

  /** CH1 */
  #tell(): void {
    this.#isPlanned = false;
    if (this.#now() === this.#told) return;
    this.#told = this.#now();
    this.#report();
  }
}
