// Times of the past as people write them.
import { expect, test } from "bun:test";
import { pastTime } from "./past-time.ts";

const NOW = Date.parse("2026-11-18T15:30:00Z");
/** An hour ahead of UTC. */
const zone = { minutesAhead: () => 60 };

function read(text: string): string {
  const found = pastTime(text, NOW, zone);
  return found.ok ? new Date(found.value).toISOString().slice(0, 19) : found.error.code;
}

test("a time before now, by the person's own clock, or with a zone", () => {
  expect(["10m", "-10m", "1.5h", "now"].map(read)).toEqual([
    "2026-11-18T15:20:00",
    "2026-11-18T15:20:00",
    "2026-11-18T14:00:00",
    "2026-11-18T15:30:00",
  ]);
  expect(["16:00", "9:05:07", "16:31", "00:30"].map(read)).toEqual([
    "2026-11-18T15:00:00",
    "2026-11-18T08:05:07",
    "2026-11-17T15:31:00",
    "2026-11-17T23:30:00",
  ]);
  expect(["2026-11-01 12:00", "2026-11-01T12:00:05", "2026-11-01T12:00:05Z"].map(read)).toEqual([
    "2026-11-01T11:00:00",
    "2026-11-01T11:00:05",
    "2026-11-01T12:00:05",
  ]);
  expect(["", "soon", "25 past", "-"].map(read)).toEqual(["usage", "usage", "usage", "usage"]);
});
