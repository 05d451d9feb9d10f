// Beats: which bytes came when, with pauses shortened.
import { expect, test } from "bun:test";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { Tape } from "../../log/tape/tape.ts";
import { TimeLog } from "../../log/tape/time-log.ts";
import { TapeTimes } from "../../log/tape/times.ts";
import { beatsOf } from "./timeline.ts";

/** Ten bytes at each of these times, after five without one. */
function timesOf(...moments: readonly number[]): TapeTimes {
  const disk = new SimDisk();
  const tape = Tape.open(disk, "/t/tape", { segmentBytes: 20, maxBytes: 1000 });
  tape.append(new Uint8Array(5));
  const log = new TimeLog(disk, "/t/tape", 0);
  for (const time of moments) log.note({ offset: tape.append(new Uint8Array(10)), time }, tape.lastSegment, tape.start);
  return new TapeTimes(disk, "/t/tape");
}

test("bytes come with their moment, those before the first at the beginning, and pauses are shortened", () => {
  const times = timesOf(1000, 2000, 60_000);
  const beats = (from: number, to: number, maxIdle = Number.POSITIVE_INFINITY) =>
    [...beatsOf({ times }, { from, to, maxIdle })].map(({ at, offset, end, time }) => [at, offset, end, time]);
  expect(beats(0, 35)).toEqual([
    [0, 0, 5, 1000],
    [0, 5, 15, 1000],
    [1000, 15, 25, 2000],
    [59_000, 25, 35, 60_000],
  ]);
  expect(beats(0, 35, 2000).map(([at]) => at)).toEqual([0, 0, 1000, 3000]);
  expect(beats(18, 30)).toEqual([
    [0, 18, 25, 2000],
    [58_000, 25, 30, 60_000],
  ]);
  expect(beats(35, 35)).toEqual([]);
});

test("time does not go back when the clock was set back", () => {
  const beats = [...beatsOf({ times: timesOf(9000, 1000, 3000) }, { from: 5, to: 35, maxIdle: 60_000 })];
  expect(beats.map(({ at }) => at)).toEqual([0, 0, 2000]);
});
