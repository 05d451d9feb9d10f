// Whose step is next when not all can run at once.
import { expect, test } from "bun:test";
import { nextAttempts, slotsFor } from "./slots.ts";

const names = (run: string, count: number) => Array.from({ length: count }, (_, at) => `${run}.${at + 1}`);

test("SL1 the run with the fewest steps running is next, then the one that got a slot the longest ago", () => {
  const big = { busy: 3, served: 3, waiting: names("big", 5) };
  expect(nextAttempts([big, { busy: 0, served: 0, waiting: names("one", 1) }], 1)).toEqual(["one.1"]);
  expect(nextAttempts([big, { busy: 1, served: 0, waiting: names("two", 4) }], 3)).toEqual(["two.1", "two.2", "big.1"]);
  expect(
    nextAttempts(
      [
        { busy: 0, served: 7, waiting: names("a", 2) },
        { busy: 0, served: 5, waiting: names("b", 2) },
      ],
      3,
    ),
  ).toEqual(["b.1", "a.1", "b.2"]);
});

test("no more than what is free, and no more than what waits", () => {
  expect(nextAttempts([{ busy: 0, served: 0, waiting: names("a", 3) }], 2)).toEqual(["a.1", "a.2"]);
  expect(nextAttempts([{ busy: 0, served: 0, waiting: names("a", 1) }], 5)).toEqual(["a.1"]);
  expect(nextAttempts([{ busy: 0, served: 0, waiting: names("a", 1) }], -1)).toEqual([]);
  expect(nextAttempts([], 4)).toEqual([]);
});

test("the number of slots follows cores and memory, within limits", () => {
  const GIB = 2 ** 30;
  expect(slotsFor({ cores: 8, memoryBytes: 32 * GIB })).toBe(64);
  expect(slotsFor({ cores: 64, memoryBytes: 4 * GIB })).toBe(32);
  expect(slotsFor({ cores: 1, memoryBytes: GIB / 4 })).toBe(8);
  expect(slotsFor({ cores: 1000, memoryBytes: 4096 * GIB })).toBe(512);
});
