// Budget: at most N events in a sliding window of time. Every rule about "too often" is one (crash loops, restarts).
// It is a value: spending returns a new one. Time is an argument, so a history read from disk works as well.
// B1. It never remembers more than `limit` times, however often it is spent.
// B2. A time more than one window ahead is ignored: the clock was set back since, and it must not count for ever.
import { assert } from "./assert.ts";

export type Budget = {
  /** This many events within the window exhaust it. */
  readonly limit: number;
  /** The window is closed: events exactly `windowMs` apart are both within it. */
  readonly windowMs: number;
  /** When it was spent, in the order reported. */
  readonly spent: readonly number[];
};

export function newBudget(limit: number, windowMs: number, history: readonly number[] = []): Budget {
  assert(Number.isInteger(limit) && limit > 0, `a budget's limit is a positive number, not ${limit}`);
  assert(windowMs > 0, `a budget's window is a positive time, not ${windowMs}`);
  return { limit, windowMs, spent: history.filter(Number.isFinite).slice(-limit) };
}

export function spend(budget: Budget, now: number): Budget {
  return { ...budget, spent: [...within(budget, now), now].slice(-budget.limit) }; // B1
}

export function isExhausted(budget: Budget, now: number): boolean {
  return within(budget, now).length >= budget.limit;
}

function within(budget: Budget, now: number): readonly number[] {
  return budget.spent.filter((time) => Math.abs(now - time) <= budget.windowMs); // B2
}
