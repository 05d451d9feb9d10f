import { expect, test } from "bun:test";
import { AssertionError } from "./assert.ts";
import { type Budget, isExhausted, newBudget, spend } from "./budget.ts";

const spentAt = (...times: number[]): Budget => times.reduce(spend, newBudget(3, 60_000));

test("SM-1(a) 3 in 60 s exhaust it, even if the first and last are exactly 60 s apart", () => {
  expect(isExhausted(spentAt(0, 1, 2), 2)).toBe(true);
  expect(isExhausted(spentAt(0, 30_000, 60_000), 60_000)).toBe(true);
});

test("SM-1(c) 2 in 60 s, or 3 over more than 60 s, do not exhaust it", () => {
  expect(isExhausted(spentAt(0, 1), 1)).toBe(false);
  expect(isExhausted(spentAt(0, 30_000, 60_001), 60_001)).toBe(false);
});

test("the window slides: an exhausted budget recovers when its oldest entry leaves the window", () => {
  const budget = spentAt(0, 10, 20);
  expect(isExhausted(budget, 60_000)).toBe(true);
  expect(isExhausted(budget, 60_001)).toBe(false);
});

test("spending leaves the old value unchanged", () => {
  const before = spentAt(0);
  spend(before, 1);
  expect(before.spent).toEqual([0]);
});

test("B1 after a million times only the last few are remembered", () => {
  let budget = newBudget(3, 60_000);
  for (let time = 0; time < 1_000_000; time++) budget = spend(budget, time);
  expect(budget.spent).toEqual([999_997, 999_998, 999_999]);
});

test("B1 a long history, or one with invalid times, is reduced to what counts", () => {
  expect(newBudget(3, 60_000, [1, 2, 3, 4, 5]).spent).toEqual([3, 4, 5]);
  expect(newBudget(3, 60_000, [1, Number.NaN, 2]).spent).toEqual([1, 2]);
});

test("B2 times from before the clock was set back do not count for ever", () => {
  const hour = 3_600_000;
  expect(isExhausted(newBudget(3, 60_000, [hour, hour, hour]), 0)).toBe(false);
  expect(isExhausted(newBudget(3, 60_000, [1_000, 1_000, 1_000]), 0)).toBe(true);
});

test("a limit or a window that is not positive is a bug in the caller", () => {
  for (const limit of [0, -1, 1.5]) expect(() => newBudget(limit, 1)).toThrow(AssertionError);
  expect(() => newBudget(1, 0)).toThrow(AssertionError);
});
