import { expect, test } from "bun:test";
import { scaleOf, spanOf } from "./time-scale.ts";

const HOUR = 3_600_000;

test("TS1 a night between two steps is a small part of the line, and the steps keep their proportions", () => {
  const night = 8 * HOUR;
  const { at, breaks, span } = scaleOf([
    { from: 0, to: 3_000 },
    { from: 3_000 + night, to: 4_000 + night },
  ]);
  expect(span).toEqual({ from: 0, to: 4_000 + night });
  const [first, second] = [at(3_000) - at(0), at(4_000 + night) - at(3_000 + night)];
  expect(first / second).toBeCloseTo(3);
  expect(breaks).toMatchObject([{ ms: night }]);
  expect(breaks[0]?.width).toBeLessThan(0.05);
  expect([at(0), at(4_000 + night)]).toEqual([0, 1]);
  const inside = at(3_000 + night / 2);
  expect(inside > at(3_000) && inside < at(3_000 + night)).toBe(true);
});

test("steps at the same time are one busy stretch, and short pauses are not told", () => {
  const { breaks, at } = scaleOf([
    { from: 0, to: 100 },
    { from: 50, to: 150 },
    { from: 200, to: 250 },
  ]);
  expect(breaks).toEqual([]);
  expect(at(50)).toBeLessThan(at(100));
});

test("steps that took no time, and none at all, have a scale", () => {
  expect(scaleOf([]).at(5)).toBe(0);
  const scale = scaleOf([
    { from: 7, to: 7 },
    { from: 7, to: 7 },
  ]);
  expect([scale.at(7), scale.breaks]).toEqual([0, []]);
});

test("a step of an older version has no span", () => {
  const step = { step: "a", outcome: "succeeded", durationMs: 5, message: null } as const;
  expect(spanOf(step)).toBeUndefined();
  expect(spanOf({ ...step, at: "1970-01-01T00:00:01.000Z" })).toEqual({ from: 995, to: 1000 });
});
