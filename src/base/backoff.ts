// Backoff: how long to wait before the next attempt. 1, 2, 4, 8, 16, 32, 60, 60 … seconds, each with 20 % jitter.
// K1. Jitter only shortens a wait, so that "at most 60 s" is exactly true and many clients still spread out.
// K2. Chance is an argument: a fraction in [0, 1).
import { assert } from "./assert.ts";

export type BackoffPolicy = {
  readonly firstMs: number;
  /** The longest wait. An hour-long wait would look like a dead program. */
  readonly mostMs: number;
  /** The fraction of a wait that jitter may remove. */
  readonly jitter: number;
};

export const BACKOFF: BackoffPolicy = { firstMs: 1_000, mostMs: 60_000, jitter: 0.2 };

/** The wait after the given number of consecutive failures (1, 2, 3 …), in whole milliseconds. */
export function backoffMs(failures: number, chance: number, policy: BackoffPolicy = BACKOFF): number {
  assert(Number.isInteger(failures) && failures >= 1, `failures are counted from 1, not ${failures}`);
  assert(chance >= 0 && chance < 1, `chance is a fraction in [0, 1), not ${chance}`);
  const full = Math.min(policy.firstMs * 2 ** (failures - 1), policy.mostMs);
  return Math.round(full * (1 - policy.jitter * chance)); // K1
}
