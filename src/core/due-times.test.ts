import { expect, test } from "bun:test";
import { leftAt, leftUntil, movedBy } from "./due-times.ts";

const AT = "2026-01-01T00:00:00.000Z";
const NOW = Date.parse(AT);
const DUE = "2026-01-01T00:10:00.000Z";
const LATER = "2026-01-01T01:00:00.000Z";
const DAY = 86_400_000;

test.each([DAY, -DAY, 1, -1])("DT1 a time that is waited for stays as far away if the clock is set by %d", (byMs) => {
  const moved = movedBy(new Map(), [DUE], byMs);
  expect(leftUntil(DUE, NOW + byMs, moved)).toBe(600_000);
  expect(leftUntil(LATER, NOW + byMs, moved)).toBe(3_600_000 - byMs); // Decided after that.
});

test("DT2, DT3 a clock that is set again moves it again, back and forth leaves nothing, and neither does an end", () => {
  const once = movedBy(new Map(), [DUE, LATER], DAY);
  const twice = movedBy(once, [DUE, LATER], 1_000);
  expect(leftUntil(DUE, NOW + DAY + 1_000, twice)).toBe(600_000);
  expect(movedBy(once, [DUE, LATER], -DAY).size).toBe(0);
  expect([...movedBy(once, [LATER], 0).keys()]).toEqual([LATER]);
});

test("without a clock that is set, the texts count", () => {
  expect([leftAt(AT)(DUE), leftAt(DUE)(AT), leftAt(AT)(AT)]).toEqual([600_000, -600_000, 0]);
});
