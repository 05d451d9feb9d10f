import { describe, expect, test } from "bun:test";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { crc32 } from "../../world/hash.ts";
import { decodeEntry, headOf, type NewEntry } from "./entry.ts";
import { EntryEncoder } from "./entry-encoder.ts";
import { type Line, tailLines, wholeLines } from "./lines.ts";
import { FROM_START, judgeTail, readLines, readLog } from "./session-log.ts";

const encoder = new EntryEncoder();
const NEWLINE = Buffer.from("\n");

function line(seq: number, prev: number): Uint8Array {
  return encoded({ session: "agents/a1", ts: "2026-01-01T00:00:00.000Z", event: "tested", data: { seq } }, seq, prev);
}

function encoded(entry: NewEntry, seq: number, prev: number): Uint8Array {
  const { block, start, end } = encoder.encode(entry, { seq, prev });
  return Buffer.concat([block.subarray(start, end), NEWLINE]);
}

const harmed = (bytes: Uint8Array) => Buffer.from(bytes).fill("?", 8, 12);
const lines = (...parts: Uint8Array[]): Line[] => [...wholeLines(Buffer.concat(parts), 0, true)];
const seqsOf = (kept: readonly Line[]) => kept.map(({ head }) => head?.seq);

describe("the end of a session's log after a crash", () => {
  const whole = [line(1, 0), line(4, 1)];
  const durable = line(1, 0).length + line(4, 1).length;

  test("EL-3(b,c) what was not synced is written again, whether it is present, torn or missing", () => {
    for (const rest of [[], [line(6, 4)], [line(6, 4).subarray(0, 20)], [line(6, 4), harmed(line(9, 6))]]) {
      const verdict = judgeTail(lines(...whole, ...rest), 4, [
        { seq: 6, prev: 4 },
        { seq: 9, prev: 6 },
      ]);
      expect(verdict.broken).toBeUndefined();
      expect(verdict.from).toBe(durable);
      expect(verdict.kept).toEqual([]);
    }
  });

  test("a torn line is reported, so that its bytes can be set aside", () => {
    const verdict = judgeTail(lines(...whole, line(6, 4).subarray(0, 20)), 4, [{ seq: 6, prev: 4 }]);
    expect(verdict.torn.map(({ start }) => start)).toEqual([durable]);
  });

  test("a corrupt synced line breaks the chain: nothing is cut", () => {
    const verdict = judgeTail(lines(line(1, 0), harmed(line(4, 1)), line(6, 4)), 4, [{ seq: 6, prev: 4 }]);
    expect(verdict.broken).toContain("follows 4");
    expect(verdict.torn).toEqual([]);
    expect(verdict.kept).toHaveLength(1);
    expect(verdict.from).toBe(line(1, 0).length);
  });

  test("a missing synced line breaks the chain", () => {
    expect(judgeTail(lines(line(1, 0)), 4, [{ seq: 6, prev: 4 }]).broken).toContain("last unharmed line is 1");
    expect(judgeTail([], 4, [{ seq: 6, prev: 4 }]).broken).toContain("last unharmed line is 0");
  });

  test("corrupt bytes that the write-ahead log does not explain are damage", () => {
    const verdict = judgeTail(lines(...whole, Buffer.from("garbage")), 4, []);
    expect(verdict.broken).toBe("its last bytes are harmed");
    expect(verdict.kept).toHaveLength(1);
  });

  test("a whole line that the write-ahead log lost is the only copy, and stays", () => {
    const verdict = judgeTail(lines(...whole, line(6, 4)), 4, [{ seq: 9, prev: 6 }]);
    expect(verdict.broken).toBeUndefined();
    expect(seqsOf(verdict.kept)).toEqual([6]);
    expect(verdict.last).toBe(6);
  });

  test("S3 corrupt bytes before a line that stays are kept with it, where they were", () => {
    const verdict = judgeTail(lines(...whole, harmed(line(5, 4)), line(6, 4)), 4, [{ seq: 9, prev: 6 }]);
    expect(seqsOf(verdict.kept)).toEqual([undefined, 6]);
    expect([verdict.torn, verdict.broken]).toEqual([[], undefined]);
  });
});

describe("reading a session's log", () => {
  function read(...parts: Uint8Array[]) {
    const disk = new SimDisk();
    disk.plant("/log", Buffer.concat(parts));
    return [...readLog(disk.open("/log", "read"), FROM_START)].map((reading) =>
      reading.kind === "entry" ? reading.entry.seq : reading.kind,
    );
  }

  test("EL-3(d) doubles are skipped, corrupt lines and breaks are reported, and the rest is read", () => {
    expect(read(line(1, 0), line(1, 0), line(3, 1))).toEqual([1, "double", 3]);
    expect(read(line(1, 0), harmed(line(2, 1)), line(3, 2))).toEqual([1, "harmed", "break", 3]);
    expect(read(line(1, 0), Buffer.from("torn"))).toEqual([1, "harmed"]);
    expect(read()).toEqual([]);
  });

  test("EL-1(a,c) a line is JSON with plain types that any tool can read", () => {
    const text = Buffer.from(line(2, 1)).toString();
    expect(JSON.parse(text)).toMatchObject({ seq: 2, prev: 1, session_id: "a1", event: "tested", data: { seq: 2 } });
    expect(decodeEntry(Buffer.from(text.trimEnd()))).not.toHaveProperty("sum");
  });

  test("a line longer than the window is read whole, from the front and from the back", () => {
    const entry = { session: "agents/a1", ts: "", event: "big", data: "y".repeat(3 << 20) };
    const big = encoded(entry, 2, 1);
    expect(read(line(1, 0), big, line(3, 2))).toEqual([1, 2, 3]);
    const disk = new SimDisk();
    disk.plant("/log", Buffer.concat([line(1, 0), big]));
    expect(tailLines(disk.open("/log", "read"), 9).at(-1)?.head).toEqual({ seq: 2, prev: 1 });
  });

  test("a head is read only from a line with a correct sum", () => {
    const good = line(5, 2).subarray(0, -1);
    expect(headOf(good)).toEqual({ seq: 5, prev: 2 });
    for (let at = 0; at < good.length; at += 1) {
      const bad = Buffer.from(good);
      bad[at] = (bad[at] ?? 0) ^ 4;
      expect(headOf(bad)).toBeUndefined();
    }
    expect(headOf(new Uint8Array(0))).toBeUndefined();
  });
});

test("a line that is not JSON although its sum is right is harmed, and the rest is read", () => {
  const text = '{"seq":2,"prev":1,undefined';
  const sum = (crc32(Buffer.from(text)) >>> 0).toString(16).padStart(8, "0");
  const bytes = Buffer.concat([line(1, 0), Buffer.from(`${text},"sum":"${sum}"}\n`), line(3, 1)]);
  expect([...readLines(wholeLines(bytes, 0, true), FROM_START)].map(({ kind }) => kind)).toEqual([
    "entry",
    "harmed",
    "entry",
  ]);
});
