// Tests of the tape: offsets keep their meaning, gaps are reported, the bound holds, and what was synced survives.
import { describe, expect, test } from "bun:test";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { everyCrash } from "../../../tests/sim/every-crash.ts";
import { nothing } from "../../../tests/sim/survive.ts";
import { bytes, DISKS, places, put } from "../../../tests/world/places.ts";
import type { Disk } from "../../world/disk.ts";
import { TapeReader } from "./reader.ts";
import type { TapeRead } from "./segments.ts";
import { Tape } from "./tape.ts";

const place = places();
const LIMITS = { segmentBytes: 10, maxBytes: 1000 };
const text = (found: Uint8Array): string => new TextDecoder().decode(found);

/** All that can be read from `offset` on; gaps and dropped parts as `[from-to]`. */
function all(tape: { read(offset: number, max: number): TapeRead }, from = 0, max = 7): string {
  let found = "";
  for (let offset = from; ; ) {
    const read = tape.read(offset, max);
    if (read.kind === "end") return found;
    if (read.kind === "bytes") found += text(read.bytes);
    else found += `[${read.kind} ${read.from}-${read.to}]`;
    offset = read.kind === "bytes" ? offset + read.bytes.length : read.to;
  }
}

function write(tape: Tape, ...texts: string[]): number[] {
  return texts.map((one) => tape.append(bytes(one)));
}

for (const [name, make] of Object.entries(DISKS)) {
  describe(`on a ${name} disk`, () => {
    test("bytes are found by their absolute offset, across segments and restarts", async () => {
      const { disk, root } = place(make);
      const tape = Tape.open(disk, `${root}/a/tape`, LIMITS);
      expect([tape.start, tape.end, all(tape)]).toEqual([0, 0, ""]);
      expect(write(tape, "hello ", "wide ", "", "world")).toEqual([0, 6, 11, 11]);
      await tape.sync();
      tape.close();
      const next = Tape.open(disk, `${root}/a/tape`, LIMITS);
      expect(write(next, "!")).toEqual([16]);
      expect([all(next), all(next, 8), next.end]).toEqual(["hello wide world!", "de world!", 17]);
      expect(next.read(17, 5)).toEqual({ kind: "end", end: 17 });
      expect(next.read(99, 5)).toEqual({ kind: "end", end: 17 });
      expect(disk.list(`${root}/a/tape`).sort()).toEqual([
        "0000000000000000.seg",
        "0000000000000006.seg",
        "0000000000000016.seg",
      ]);
    });

    test("the oldest whole segments are dropped beyond the bound, and reading there reports it", () => {
      const { disk, root } = place(make);
      const tape = Tape.open(disk, `${root}/tape`, { segmentBytes: 10, maxBytes: 25 });
      for (let i = 0; i < 9; i += 1) write(tape, String(i).repeat(10));
      expect([tape.start, tape.end]).toEqual([70, 90]);
      expect(disk.list(`${root}/tape`).length).toBe(2);
      expect(tape.read(5, 10)).toEqual({ kind: "dropped", from: 5, to: 70 });
      expect(all(new TapeReader(disk, `${root}/tape`), 70)).toBe("77777777778888888888");
      write(tape, "x".repeat(100));
      expect([tape.start, tape.end]).toEqual([90, 190]);
    });

    test("what was skipped stays a gap: for the writer, the next writer and readers", () => {
      const { disk, root } = place(make);
      const tape = Tape.open(disk, `${root}/tape`, LIMITS);
      write(tape, "abc");
      tape.skip(4);
      expect([tape.end, all(tape)]).toEqual([7, "abc[gap 3-7]"]);
      expect(write(tape, "hij")).toEqual([7]);
      tape.skip(0);
      write(tape, "k");
      for (const one of [tape, Tape.open(disk, `${root}/tape`, LIMITS), new TapeReader(disk, `${root}/tape`)]) {
        expect(all(one)).toBe("abc[gap 3-7]hijk");
      }
    });

    test("empty and misnamed files are ignored and left alone", () => {
      const { disk, root } = place(make);
      write(Tape.open(disk, `${root}/tape`, LIMITS), "abc");
      const odd = ["0000000000000003.seg", "0000000000000900.seg", "3.seg", "note.txt", "00000000000000x0.seg"];
      for (const file of odd) put(disk, `${root}/tape/${file}`, file.startsWith("0000000000000") ? "" : "odd");
      disk.makeDirectory(`${root}/tape/0000000000000500.seg`);
      const tape = Tape.open(disk, `${root}/tape`, { segmentBytes: 3, maxBytes: 1000 });
      expect([tape.end, all(tape)]).toEqual([3, "abc"]);
      write(tape, "def");
      expect(all(new TapeReader(disk, `${root}/tape`))).toBe("abcdef");
      for (const file of odd) expect(disk.list(`${root}/tape`)).toContain(file);
    });

    test("a reader follows a writer, even past segments that are dropped meanwhile", () => {
      const { disk, root } = place(make);
      const tape = Tape.open(disk, `${root}/tape`, { segmentBytes: 10, maxBytes: 30 });
      const reader = new TapeReader(disk, `${root}/tape`);
      expect(reader.read(0, 5)).toEqual({ kind: "end", end: 0 });
      write(tape, "0123456789", "abc");
      expect([all(reader), reader.start, reader.end]).toEqual(["0123456789abc", 0, 13]);
      for (let i = 0; i < 6; i += 1) write(tape, "wwwwwwwwww");
      expect(reader.read(2, 5)).toEqual({ kind: "dropped", from: 2, to: 43 });
      expect(all(reader, 43)).toBe("w".repeat(30));
    });
  });
}

test("a hole between segments is a gap, and an overlap is read from the later segment", () => {
  const disk = new SimDisk();
  disk.plant("/tape/0000000000000000.seg", bytes("abc"));
  disk.plant("/tape/0000000000000005.seg", bytes("fghijk"));
  disk.plant("/tape/0000000000000008.seg", bytes("IJ"));
  expect(all(new TapeReader(disk, "/tape"))).toBe("abc[gap 3-5]fghIJ");
});

test("a write that fails half-way does not move the end, and its bytes are cut before the next", () => {
  const disk = new SimDisk();
  const tape = Tape.open(disk, "/tape", { segmentBytes: 100, maxBytes: 1000 });
  write(tape, "abc");
  disk.capacity = 5;
  expect(() => tape.append(bytes("defgh"))).toThrow("ENOSPC");
  expect([tape.end, all(tape), disk.stat("/tape/0000000000000000.seg")?.size]).toEqual([3, "abc", 3]);
  disk.capacity = 100;
  expect(write(tape, "X")).toEqual([3]);
  expect(all(Tape.open(disk, "/tape", LIMITS))).toBe("abcX");
});

test("if even the cut fails, it is made before the next write", () => {
  const disk = new SimDisk();
  const tape = Tape.open(disk, "/tape", { segmentBytes: 100, maxBytes: 1000 });
  write(tape, "abc");
  disk.capacity = 5;
  disk.fault = ({ operation }) => (operation === "truncate" ? { kind: "fail", code: "EIO" } : undefined);
  expect(() => tape.append(bytes("defgh"))).toThrow("ENOSPC");
  expect(() => tape.append(bytes("d"))).toThrow("truncate");
  disk.fault = undefined;
  write(tape, "X");
  expect(all(Tape.open(disk, "/tape", LIMITS))).toBe("abcX");
});

test("on a full disk the lost bytes are skipped, and the tape continues when there is room", async () => {
  const disk = new SimDisk();
  const tape = Tape.open(disk, "/tape", LIMITS);
  write(tape, "0123456789");
  disk.capacity = 10;
  expect(() => tape.append(bytes("lost"))).toThrow("ENOSPC");
  tape.skip(4);
  disk.capacity = 100;
  write(tape, "found");
  await tape.sync();
  expect(all(Tape.open(disk.powerCut(nothing), "/tape", LIMITS))).toBe("0123456789[gap 10-14]found");
});

test("without descriptors for a new segment the end stays; a sync and the next append still work", async () => {
  const disk = new SimDisk();
  const tape = Tape.open(disk, "/tape", LIMITS);
  write(tape, "0123456789");
  disk.fault = ({ operation }) => (operation === "open" ? { kind: "fail", code: "EMFILE" } : undefined);
  expect(() => tape.append(bytes("more"))).toThrow("EMFILE");
  await tape.sync();
  disk.fault = undefined;
  expect(write(tape, "more")).toEqual([10]);
  await tape.sync();
  expect(all(Tape.open(disk.powerCut(nothing), "/tape", LIMITS))).toBe("0123456789more");
});

test("a sync that got no descriptor is not a failed sync: the next one covers everything", async () => {
  const disk = new SimDisk();
  disk.plant("/home/tape/0000000000000000.seg", bytes("0123456789"));
  for (const operation of ["open", "syncDirectory"]) {
    const tape = Tape.open(disk, "/home/tape", LIMITS);
    const at = tape.append(bytes("0123456789"));
    disk.fault = (call) => (call.operation === operation ? { kind: "fail", code: "EMFILE" } : undefined);
    await expect(tape.sync()).rejects.toThrow("EMFILE");
    disk.fault = undefined;
    await tape.sync();
    expect(all(Tape.open(disk.powerCut(nothing), "/home/tape", LIMITS), at)).toBe("0123456789");
    tape.close();
  }
  expect(disk.openCount).toBe(0);
});

test("a failed sync breaks the tape: nothing is synced again, and the next process reads what is there", async () => {
  const disk = new SimDisk();
  const tape = Tape.open(disk, "/tape", LIMITS);
  write(tape, "abc");
  await tape.sync();
  write(tape, "def");
  disk.fault = ({ operation }) => (operation === "datasync" ? { kind: "fail", code: "EIO" } : undefined);
  const failed = [tape.sync(), tape.sync(), tape.sync()];
  for (const one of await Promise.allSettled(failed)) expect(one.status).toBe("rejected");
  disk.fault = undefined;
  await expect(tape.sync()).rejects.toThrow("EIO");
  expect(() => tape.append(bytes("x"))).toThrow("EIO");
  expect(disk.fired.length).toBe(1);
  tape.close();
  expect(disk.openCount).toBe(0);
  expect(all(Tape.open(disk.powerCut(nothing), "/tape", LIMITS))).toBe("abc");
});

test("each sync covers what was appended before its call, and no file is closed during one", async () => {
  const disk = new SimDisk();
  disk.gate = () => new Promise((open) => void setImmediate(open));
  const tape = Tape.open(disk, "/tape", { segmentBytes: 4, maxBytes: 12 });
  const done: string[] = [];
  write(tape, "aaaa", "bb");
  const first = tape.sync().then(() => done.push("first"));
  for (const more of ["cccc", "dddd", "eeee", "ffff"]) write(tape, more);
  const second = tape.sync().then(() => done.push("second"));
  const third = tape.sync().then(() => done.push("third"));
  await Promise.all([first, second, third]);
  expect(done[0]).toBe("first");
  expect(all(Tape.open(disk.powerCut(nothing), "/tape", LIMITS), tape.start)).toBe("ddddeeeeffff");
  tape.close();
  expect(disk.openCount).toBe(0);
});

test("a flood between two syncs does not use up the descriptors, and a later sync covers all of it", async () => {
  const disk = new SimDisk();
  const tape = Tape.open(disk, "/tape", { segmentBytes: 4, maxBytes: 100_000 });
  for (let i = 0; i < 200; i += 1) write(tape, "wxyz");
  expect(disk.openCount).toBeLessThanOrEqual(33);
  await tape.sync();
  expect(disk.openCount).toBe(1);
  expect(all(Tape.open(disk.powerCut(nothing), "/tape", LIMITS), 0, 100)).toBe("wxyz".repeat(200));
});

test("a segment that cannot be removed stays, and is removed later", () => {
  const disk = new SimDisk();
  const tape = Tape.open(disk, "/tape", { segmentBytes: 4, maxBytes: 8 });
  disk.fault = ({ operation }) => (operation === "unlink" ? { kind: "fail", code: "EIO" } : undefined);
  write(tape, "aaaa", "bbbb", "cccc");
  expect(tape.start).toBe(0);
  disk.fault = undefined;
  write(tape, "dddd");
  expect(tape.start).toBe(8);
});

/** The whole stream of one life; the byte at each offset is always the same, so that any mixture shows. */
const STREAM = Array.from({ length: 60 }, (_, i) => String.fromCharCode(97 + (i % 26))).join("");

function agrees(disk: Disk, synced: number, written: number): Tape {
  const tape = Tape.open(disk, "/home/t/tape", { ...LIMITS, home: "/home" });
  expect(tape.end).toBeGreaterThanOrEqual(synced);
  expect(tape.end).toBeLessThanOrEqual(written);
  expect(all(tape).slice(0, synced)).toBe(STREAM.slice(0, synced));
  return tape;
}

test("a crash at any call leaves what was synced in place, and the next process continues from the end", async () => {
  const start = new SimDisk();
  start.plant("/home/x", bytes(""));
  const live = async (disk: SimDisk, promised: (synced: number) => void) => {
    const tape = Tape.open(disk, "/home/t/tape", { ...LIMITS, home: "/home" });
    for (let at = 0; at < 60; at += 4) {
      tape.append(bytes(STREAM.slice(at, at + 4)));
      if (at % 12 !== 8) continue;
      await tape.sync();
      promised(at + 4);
    }
    tape.close();
  };
  const check = async (disk: SimDisk, synced: number) => {
    const second = agrees(disk, synced, 60);
    const seen = all(second);
    const at = second.append(bytes("SECOND LIFE"));
    await second.sync();
    second.close();
    const third = agrees(disk.powerCut(nothing), synced, 71);
    expect(all(third)).toBe(`${seen}SECOND LIFE`);
    expect(all(third, at)).toBe("SECOND LIFE");
    expect(disk.openCount).toBe(0);
  };
  expect(await everyCrash({ start, nothingPromised: 0, live, check })).toBeGreaterThan(1000);
});

test("with a bound, a crash at any call leaves the newest synced bytes in place", async () => {
  const start = new SimDisk();
  start.plant("/home/x", bytes(""));
  const limits = { segmentBytes: 8, maxBytes: 20, home: "/home" };
  const live = async (disk: SimDisk, promised: (synced: number) => void) => {
    const tape = Tape.open(disk, "/home/t/tape", limits);
    for (let at = 0; at < 60; at += 4) {
      tape.append(bytes(STREAM.slice(at, at + 4)));
      if (at % 8 !== 4) continue;
      await tape.sync();
      promised(at + 4);
    }
  };
  const check = async (disk: SimDisk, synced: number) => {
    const tape = Tape.open(disk, "/home/t/tape", limits);
    expect(tape.end).toBeGreaterThanOrEqual(synced);
    const from = Math.min(synced, Math.max(0, synced - 8));
    expect(all(tape, from).slice(0, synced - from)).toBe(STREAM.slice(from, synced));
    const at = tape.append(bytes("again"));
    await tape.sync();
    expect(all(Tape.open(disk.powerCut(nothing), "/home/t/tape", limits), at)).toBe("again");
  };
  expect(await everyCrash({ start, nothingPromised: 0, live, check })).toBeGreaterThan(1000);
});
