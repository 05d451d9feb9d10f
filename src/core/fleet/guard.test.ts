// When the guard stops, continues and kills, as a table.
import { expect, test } from "bun:test";
import { type GuardFacts, guardAct, marginMs } from "./guard.ts";

const LEASE = 9_000;
const MARGIN = 900;
const NOW = 1_000_000;

function act(leftMs: number | undefined, more: Partial<GuardFacts> = {}) {
  const until = leftMs === undefined ? undefined : NOW + leftMs;
  return guardAct({ until, isFenced: false, isFrozen: false, isLeaving: false, now: NOW, leaseMs: LEASE, ...more });
}

test("GU1 it stops programs a margin before the lease ends: a tenth of it, and 300 ms at least", () => {
  expect([1_000, 3_000, LEASE].map(marginMs)).toEqual([300, 300, MARGIN]);
  expect(act(MARGIN + 1)).toEqual({ kind: "rest", wakeMs: 1 });
  for (const left of [MARGIN, 1, 0, -LEASE]) expect(act(left).kind).toBe("freeze");
});

test("GU2 they go on when the lease is renewed for longer than another margin", () => {
  const isFrozen = true;
  for (const left of [-LEASE, 0, MARGIN, 2 * MARGIN]) expect(act(left, { isFrozen }).kind).toBe("keep frozen");
  for (const left of [2 * MARGIN + 1, LEASE]) expect(act(left, { isFrozen }).kind).toBe("go on");
});

test("GU4 while a home is handed over, nothing of it runs, however long its lease lasts", () => {
  const isLeaving = true;
  for (const left of [undefined, -1, LEASE]) {
    expect(act(left, { isLeaving }).kind).toBe("freeze");
    expect(act(left, { isLeaving, isFrozen: true }).kind).toBe("keep frozen");
    expect(act(left, { isLeaving, isFenced: true }).kind).toBe("kill");
  }
});

test("GU3 GU5 the end of ownership ends them in every state, and without a lease all stays as it is", () => {
  for (const left of [undefined, -1, 0, LEASE])
    for (const isFrozen of [true, false]) expect(act(left, { isFenced: true, isFrozen }).kind).toBe("kill");
  expect(act(undefined).kind).toBe("rest");
  expect(act(undefined, { isFrozen: true }).kind).toBe("keep frozen");
});

test("while nothing happens it wakes up once in a third of a lease, and in time for the end", () => {
  expect(act(LEASE).wakeMs).toBe(LEASE / 3);
  expect(act(MARGIN + LEASE / 3 + 1).wakeMs).toBe(LEASE / 3);
  expect(act(MARGIN + 50).wakeMs).toBe(50);
  expect(act(undefined).wakeMs).toBe(LEASE / 3);
  for (const isFrozen of [true, false]) expect(act(-1, { isFrozen }).wakeMs).toBeLessThan(LEASE / 3);
});
