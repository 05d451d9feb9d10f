// What the guard of a home does now with the programs of its agents and steps: they may only run while this host has
// the home. Pure: from the lease and the marks on disk to the next act.
// GU1. They are stopped before the lease ends, not when it has: another host may take the home at that moment.
// GU2. They go on only when the lease is renewed for long enough that they are not stopped again at once.
// GU3. Once another host has the home they are killed, stopped or not.
// GU4. A home that is being handed over counts as one whose lease ends: what runs is stopped, and goes on if it stays.
// GU5. Without a lease on record nothing is known: what runs goes on, and what is stopped stays so.

export type GuardFacts = {
  /** Until when the lease lasts, in milliseconds since boot; undefined: none is on record in this boot. */
  readonly until: number | undefined;
  readonly isFenced: boolean;
  readonly isFrozen: boolean;
  /** GU4 */
  readonly isLeaving: boolean;
  /** In milliseconds since boot. */
  readonly now: number;
  readonly leaseMs: number;
};

export type GuardAct =
  | { readonly kind: "rest" | "freeze" | "go on" | "kill"; readonly wakeMs: number }
  | { readonly kind: "keep frozen"; readonly wakeMs: number };

/** GU1. Stopping some hundred processes takes some ten milliseconds; a busy machine lets us wait. */
const MIN_MARGIN_MS = 300;
/** While programs stand still, people wait. */
const FROZEN_MS = 200;

export function marginMs(leaseMs: number): number {
  return Math.max(MIN_MARGIN_MS, leaseMs / 10);
}

export function guardAct({ until, isFenced, isFrozen, isLeaving, now, leaseMs }: GuardFacts): GuardAct {
  const third = leaseMs / 3;
  if (isFenced) return { kind: "kill", wakeMs: third }; // GU3
  if (isLeaving) return { kind: isFrozen ? "keep frozen" : "freeze", wakeMs: FROZEN_MS }; // GU4
  if (until === undefined) return { kind: isFrozen ? "keep frozen" : "rest", wakeMs: third }; // GU5
  const leftMs = until - marginMs(leaseMs) - now;
  if (leftMs <= 0) return { kind: isFrozen ? "keep frozen" : "freeze", wakeMs: FROZEN_MS }; // GU1
  if (!isFrozen) return { kind: "rest", wakeMs: Math.min(third, leftMs) };
  return { kind: leftMs > marginMs(leaseMs) ? "go on" : "keep frozen", wakeMs: FROZEN_MS }; // GU2
}
