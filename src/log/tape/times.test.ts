// Tests of a tape's times: what was written down is found again by offset and by time, and what is torn or damaged, or
// belongs to bytes that are gone, never is.
import { describe, expect, test } from "bun:test";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { everyCrash } from "../../../tests/sim/every-crash.ts";
import { nothing } from "../../../tests/sim/survive.ts";
import { bytes } from "../../../tests/world/places.ts";
import type { Disk } from "../../world/disk.ts";
import type { Moment } from "./moments.ts";
import { Tape } from "./tape.ts";
import { TimeLog } from "./time-log.ts";
import { TapeTimes } from "./times.ts";

const LIMITS = { segmentBytes: 20, maxBytes: 1000 };
const FIRST = "/t/times/0000000000000000.times";

/** A tape and its times, as a holder writes them. */
class Taped {
  readonly tape: Tape;
  readonly times: TimeLog;

  constructor(disk: Disk, limits = LIMITS) {
    this.tape = Tape.open(disk, "/t/tape", limits);
    this.times = new TimeLog(disk, "/t/tape", this.tape.end);
  }

  add(time: number, text = "0123456789"): Moment {
    const offset = this.tape.append(bytes(text));
    this.times.note({ offset, time }, this.tape.lastSegment, this.tape.start);
    return { offset, time };
  }

  close(): void {
    this.tape.close();
    this.times.close();
  }
}

const moments = (disk: Disk, from = 0): Moment[] => [...new TapeTimes(disk, "/t/tape").from(from)];
const on = (disk: SimDisk, path: string): Uint8Array => {
  const file = disk.open(path, "read");
  const found = new Uint8Array(file.size());
  file.read(found, 0);
  file.close();
  return found;
};

test("a moment is found by its offset and by its time, across segments and restarts", () => {
  const disk = new SimDisk();
  const first = new Taped(disk);
  const made = [1000, 2000, 3000].map((time) => first.add(time));
  first.close();
  const second = new Taped(disk);
  made.push(...[9000, 10_000].map((time) => second.add(time)));
  expect(moments(disk)).toEqual(made);
  expect(moments(disk, 20)).toEqual(made.slice(2));
  const times = new TapeTimes(disk, "/t/tape");
  expect([times.first, times.last]).toEqual([made[0], made[4]]);
  expect([999, 1000, 2500, 3000, 8999, 9000, 99_000].map((time) => times.offsetAt(time))).toEqual([
    undefined,
    10,
    20,
    30,
    30,
    40,
    50,
  ]);
  expect([0, 9, 10, 25, 49, 90].map((offset) => times.timeAt(offset))).toEqual([
    1000, 1000, 2000, 3000, 10_000, 10_000,
  ]);
});

test("moments are half a second apart, so that a busy program costs a few bytes a second", () => {
  const disk = new SimDisk();
  const taped = new Taped(disk, { segmentBytes: 1 << 20, maxBytes: 1 << 20 });
  for (let time = 0; time < 10_000; time += 20) taped.add(1_800_000_000_000 + time, "x".repeat(100));
  expect(moments(disk).length).toBe(20);
  expect(on(disk, FIRST).length).toBeLessThan(20 * 7);
});

test("they take an eighth of the tape at most, and a little more", () => {
  const disk = new SimDisk();
  const taped = new Taped(disk, { segmentBytes: 1 << 20, maxBytes: 1 << 20 });
  for (let second = 0; second < 20_000; second += 1) taped.add(second * 1000, "x");
  expect(on(disk, FIRST).length).toBeLessThan(20_000 / 8 + (16 << 10) + 10);
  expect(moments(disk).length).toBeGreaterThan(3000);
});

test("what the tape drops, the times drop", () => {
  const disk = new SimDisk();
  const taped = new Taped(disk, { segmentBytes: 20, maxBytes: 60 });
  for (let second = 1; second <= 20; second += 1) taped.add(second * 1000);
  const starts = (of: string) =>
    disk
      .list(`/t/${of}`)
      .map((name) => name.slice(0, 16))
      .sort();
  expect(starts("times")).toEqual(starts("tape"));
  expect(new TapeTimes(disk, "/t/tape").first).toEqual({
    offset: taped.tape.start,
    time: taped.tape.start * 100 + 1000,
  });
});

test("a clock that was set back is written in full: offsets go on, and of two equal times the later one counts", () => {
  const disk = new SimDisk();
  const taped = new Taped(disk, { segmentBytes: 1000, maxBytes: 1000 });
  const made = [5000, 6000, 2000, 5500, 7000].map((time) => taped.add(time));
  expect(moments(disk)).toEqual(made);
  const times = new TapeTimes(disk, "/t/tape");
  expect([5600, 2100, 7000].map((time) => times.offsetAt(time))).toEqual([40, 30, 50]);
});

test("a tape without times, and one whose first bytes have none, say so", () => {
  const disk = new SimDisk();
  disk.plant("/t/tape/0000000000000000.seg", bytes("of an older version"));
  const older = new TapeTimes(disk, "/t/tape");
  expect([older.first, older.last, older.offsetAt(5), older.timeAt(3)]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  new Taped(disk).add(7000);
  const newer = new TapeTimes(disk, "/t/tape");
  expect([newer.first, newer.timeAt(3), newer.offsetAt(6000)]).toEqual([
    { offset: 19, time: 7000 },
    undefined,
    undefined,
  ]);
});

describe("never trusted", () => {
  /** A file with five moments, of which each byte is changed or from which on all is cut. */
  function five(): { readonly disk: SimDisk; readonly made: readonly Moment[]; readonly file: Uint8Array } {
    const disk = new SimDisk();
    const taped = new Taped(disk, { segmentBytes: 1000, maxBytes: 1000 });
    const made = [1, 2, 3, 4, 5].map((second) => taped.add(second * 1000));
    return { disk, made, file: on(disk, FIRST) };
  }

  const isBeginning = (found: readonly Moment[], made: readonly Moment[]) =>
    expect(found).toEqual(made.slice(0, found.length));

  test("a torn file gives the moments before the tear, and the next life continues there", () => {
    const { made, file, disk: whole } = five();
    for (let length = 0; length < file.length; length += 1) {
      const disk = whole.fork();
      disk.plant(FIRST, file.subarray(0, length));
      const found = moments(disk);
      isBeginning(found, made);
      expect(found.length).toBeLessThan(5);
      const next = new Taped(disk, { segmentBytes: 1000, maxBytes: 1000 });
      const more = next.add(60_000);
      expect(moments(disk)).toEqual([...found, more]);
    }
  });

  test("a changed bit ends what is read, and what follows is cut by the next life", () => {
    const { made, file, disk: whole } = five();
    for (let bit = 0; bit < file.length * 8; bit += 1) {
      const disk = whole.fork();
      const harmed = file.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
      disk.plant(FIRST, harmed);
      const found = moments(disk);
      isBeginning(found, made);
      expect(found.length).toBeLessThan(5);
      const more = new Taped(disk, { segmentBytes: 1000, maxBytes: 1000 }).add(60_000);
      expect(moments(disk)).toEqual([...found, more]);
    }
  });

  test("zeros, noise and the file of another segment give nothing", () => {
    const { disk: whole, file } = five();
    const noise = Uint8Array.from({ length: 4096 }, (_, at) => (at * 197 + (at >> 3) * 31) & 0xff);
    for (const bad of [new Uint8Array(4096), noise]) {
      const disk = whole.fork();
      disk.plant(FIRST, bad);
      expect(moments(disk)).toEqual([]);
    }
    const disk = new SimDisk();
    disk.plant("/t/tape/0000000000000100.seg", new Uint8Array(100));
    disk.plant("/t/times/0000000000000100.times", file);
    expect(moments(disk)).toEqual([]);
  });

  test("moments of bytes that a power cut took from the tape do not count, also when the tape has grown again", () => {
    const { disk, made } = five();
    disk.plant("/t/tape/0000000000000000.seg", bytes("0123456789".repeat(2)));
    expect(moments(disk)).toEqual(made.slice(0, 2));
    const next = new Taped(disk, { segmentBytes: 1000, maxBytes: 1000 });
    disk.fault = ({ path }) => (path.endsWith(".times") ? { kind: "fail", code: "EMFILE" } : undefined);
    next.add(50_000, "no times for this, and the tape is longer than it was before the power was cut");
    disk.fault = undefined;
    const more = next.add(60_000);
    expect(moments(disk)).toEqual([...made.slice(0, 2), more]);
  });
});

test("a disk that refuses a moment does not trouble the tape, and the next one is written", () => {
  const disk = new SimDisk();
  const taped = new Taped(disk, { segmentBytes: 1000, maxBytes: 1000 });
  const first = taped.add(1000);
  disk.fault = ({ operation, path }) =>
    operation === "write" && path.endsWith(".times") ? { kind: "fail", code: "ENOSPC" } : undefined;
  taped.add(2000);
  disk.fault = undefined;
  const third = taped.add(3000);
  expect(moments(disk)).toEqual([first, third]);
  taped.close();
  expect(disk.openCount).toBe(0);
});

test("a crash at any call leaves moments that were true, and the next life adds its own", async () => {
  const limits = { segmentBytes: 20, maxBytes: 60 };
  const start = new SimDisk();
  start.plant("/t/x", bytes(""));
  const timeOf = (offset: number) => 1_800_000_000_000 + offset * 100;
  const live = async (disk: SimDisk, promised: (end: number) => void) => {
    const taped = new Taped(disk, limits);
    for (let at = 0; at < 80; at += 10) {
      taped.add(timeOf(at));
      if (at % 30 !== 20) continue;
      await taped.tape.sync();
      promised(at + 10);
    }
    await taped.times.sync();
    taped.close();
  };
  const check = async (disk: SimDisk) => {
    for (const { offset, time } of moments(disk)) expect(time).toBe(timeOf(offset));
    const second = new Taped(disk, limits);
    const more = [second.add(timeOf(1000), "SECOND"), second.add(timeOf(2000), "LIFE")];
    expect(moments(disk).slice(-2)).toEqual(more);
    for (const { offset, time } of moments(disk).slice(0, -2)) expect(time).toBe(timeOf(offset));
    await second.tape.sync();
    await second.times.sync();
    second.close();
    expect(moments(disk.powerCut(nothing)).at(-1)).toEqual(more[1]);
    expect(disk.openCount).toBe(0);
  };
  expect(await everyCrash({ start, nothingPromised: 0, randomEndings: 6, live, check })).toBeGreaterThan(300);
});
