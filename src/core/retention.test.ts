import { expect, test } from "bun:test";
import { beyond, daysMs, type Limits, type Thing } from "./retention.ts";

const NOW = Date.UTC(2026, 5, 1);
const thing = (name: string, days: number | undefined, bytes = 10): Thing => {
  return { what: "x", paths: [name], bytes, at: days === undefined ? undefined : NOW - daysMs(days) };
};
const chosen = (things: readonly Thing[], limits: Limits) =>
  beyond(things, limits, NOW).map(({ paths, reason }) => `${paths[0]}: ${reason}`);

test("older things are removed, oldest first; younger ones, or those of unknown age, are kept", () => {
  const things = [thing("new", 1), thing("old", 31), thing("older", 90), thing("unknown", undefined)];
  expect(chosen(things, { ageMs: daysMs(30) })).toEqual(["older: older than 30 days", "old: older than 30 days"]);
});

test("above a number or a size the oldest are removed, but none within a day of its end", () => {
  const things = [thing("a", 0.5), thing("b", 2), thing("c", 3), thing("d", 4)];
  expect(chosen(things, { ageMs: daysMs(30), count: 2 })).toEqual(["d: more than 2 of them", "c: more than 2 of them"]);
  expect(chosen(things, { ageMs: daysMs(30), bytes: 25 })).toEqual([
    "d: more than 25 bytes of them",
    "c: more than 25 bytes of them",
  ]);
  expect(chosen([thing("a", 0.1), thing("b", 0.2)], { ageMs: daysMs(30), count: 1, bytes: 0 })).toEqual([]);
});

test("a limit of 0 days removes what is over at once; a time in the future does not count as age", () => {
  expect(chosen([thing("a", 0.001), thing("b", -5)], { ageMs: 0 })).toEqual(["a: older than 0 days"]);
});
