import { expect, test } from "bun:test";
import { timeText } from "./time-text.ts";

test("a time is its text, and any number has one that can be read back", () => {
  expect(timeText(Date.UTC(2026, 0, 1))).toBe("2026-01-01T00:00:00.000Z");
  expect(timeText(1e300)).toBe("9999-12-31T23:59:59.999Z");
  expect(timeText(Number.POSITIVE_INFINITY)).toBe("9999-12-31T23:59:59.999Z");
  expect([-1, Number.NEGATIVE_INFINITY, Number.NaN].map(timeText)).toEqual(Array(3).fill("1970-01-01T00:00:00.000Z"));
});
