// How soon a program that ended is restarted (WD-8).
// A1. A program that was live is restarted at once, unless it dies again and again; one that died before it was live
//     waits.
// A2. A program that was live for `steadyMs` has proved itself: its failures are forgotten. So nothing is started more
//     than once a second for long.
// A3. An unrequested graceful end is not a crash, but a program that ends like this right after it was live would spin:
//     it waits as well.
import { type BackoffPolicy, backoffMs } from "../base/backoff.ts";
import { type Budget, isExhausted, newBudget, spend } from "../base/budget.ts";
import { CRASH_LOOP, type CrashLoopLimits } from "./crash-loop.ts";

export type PaceLimits = {
  readonly backoff: BackoffPolicy;
  readonly steadyMs: number;
  readonly crashLoop: CrashLoopLimits;
};

/** The third crash before it was live waits 0.4 s: well within the 5 s of SM-5. */
export const PACE: PaceLimits = {
  backoff: { firstMs: 100, mostMs: 60_000, jitter: 0.2 },
  steadyMs: 1_000,
  crashLoop: CRASH_LOOP,
};

/** `liveMs`: how long it was live; `never` if it died before. */
export type Lived = { readonly liveMs: number | "never"; readonly crashed: boolean };

export class Pace {
  readonly #limits: PaceLimits;
  #crashes: Budget;
  #failures = 0;

  constructor(limits: PaceLimits = PACE) {
    this.#limits = limits;
    this.#crashes = newBudget(limits.crashLoop.crashes, limits.crashLoop.windowMs);
  }

  /** How long to wait after this end, in monotonic time; `chance` as in backoff.ts. */
  waitMs({ liveMs, crashed }: Lived, elapsed: number, chance: number): number {
    if (crashed) this.#crashes = spend(this.#crashes, elapsed);
    if (liveMs !== "never" && liveMs >= this.#limits.steadyMs) {
      this.#failures = 0; // A2
      return 0;
    }
    const calm = liveMs !== "never" && crashed && !isExhausted(this.#crashes, elapsed);
    if (calm) return 0; // A1, A3
    this.#failures += 1;
    return backoffMs(this.#failures, chance, this.#limits.backoff);
  }
}
