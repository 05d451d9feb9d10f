import { expect, test } from "bun:test";
import { AssertionError } from "./assert.ts";
import { backoffMs } from "./backoff.ts";

const SCHEDULE = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000];

test("the waits are 1, 2, 4, 8, 16, 32, 60 s, and then 60 s for ever", () => {
  expect(SCHEDULE.map((_, at) => backoffMs(at + 1, 0))).toEqual(SCHEDULE);
  expect(backoffMs(1_000_000, 0)).toBe(60_000);
});

test("jitter shortens a wait by up to 20 % and never lengthens it: 60 s stays the maximum", () => {
  for (const [at, full] of SCHEDULE.entries()) {
    for (const chance of [0, 0.25, 0.5, 0.999_999]) {
      const wait = backoffMs(at + 1, chance);
      expect(wait).toBeLessThanOrEqual(full);
      expect(wait).toBeGreaterThanOrEqual(full * 0.8);
    }
  }
  expect(backoffMs(1, 0.5)).toBe(900);
});

test("another policy has its own first wait, maximum and jitter", () => {
  const policy = { firstMs: 10, mostMs: 25, jitter: 0 };
  expect([1, 2, 3].map((failures) => backoffMs(failures, 0.9, policy))).toEqual([10, 20, 25]);
});

test("a failure count below 1 or a chance outside [0, 1) is a bug in the caller", () => {
  for (const failures of [0, -1, 1.5]) expect(() => backoffMs(failures, 0)).toThrow(AssertionError);
  for (const chance of [1, -0.1, Number.NaN]) expect(() => backoffMs(1, chance)).toThrow(AssertionError);
});
