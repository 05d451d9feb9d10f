import { describe, expect, test } from "bun:test";
import { crc32 } from "../../world/hash.ts";
import { EntryEncoder } from "../session/entry-encoder.ts";
import { encodeFrame, entriesOf, FrameHead } from "./frame.ts";
import { scanSegment } from "./segment-scan.ts";

const encoder = new EntryEncoder();

/** A frame with one entry, as bytes. */
function frameBytes(gen: number, seq: number, text = "x", drained = 0): Buffer {
  const entry = { session: "agents/a1", ts: "2026-01-01T00:00:00.000Z", event: "tested", data: { text } };
  const line = encoder.encode(entry, { seq, prev: seq - 1 });
  const into = Buffer.alloc(1000 + line.end - line.start);
  const head = new FrameHead().set({ gen, durable: seq - 1, drained });
  return into.subarray(
    0,
    encodeFrame(into, 0, head, { first: seq, entries: [{ session: undefined, prev: seq - 1, line }] }),
  );
}

const seqs = (bytes: Uint8Array) => scanSegment(bytes).frames.map(({ first }) => first);

describe("scanning a segment as it is on disk", () => {
  test("frames come back byte by byte, whatever they contain", () => {
    const text = 'tab\t newline\n NUL\0 quote" é 漢 😀 lone \ud800';
    const [frame] = scanSegment(frameBytes(7, 1, text)).frames;
    const [entry] = frame === undefined ? [] : entriesOf(frame);
    expect(entry?.session).toBe("agents/a1");
    expect(JSON.parse(Buffer.from(entry?.line ?? []).toString()).data.text).toBe(text);
  });

  test("a frame that claims more entries than it has bytes is damage, although its sum is right", () => {
    const body = "0\t0\t1\t9007199254740991\tagents/a1\tx";
    const sum = (crc32(Buffer.from(body), 1) >>> 0).toString(16).padStart(8, "0");
    expect(seqs(Buffer.concat([Buffer.from(`1\t${sum}\t${body}\n`), frameBytes(1, 2)]))).toEqual([2]);
  });

  test("the scan does not stop at a NUL: a frame behind a hole is found", () => {
    expect(seqs(Buffer.concat([frameBytes(1, 1), Buffer.alloc(5000), frameBytes(1, 2)]))).toEqual([1, 2]);
  });

  test("a frame whose neighbour lost its newline is found", () => {
    const first = frameBytes(1, 1);
    first[first.length - 1] = 0x41;
    const scan = scanSegment(Buffer.concat([first, frameBytes(1, 2)]));
    expect(scan.frames.map((frame) => frame.first)).toEqual([2]);
    expect(scan.bad).toEqual([{ start: 0, end: first.length }]);
  });

  test("a drained line that lost its newline, or its claim, hides no frame behind it", () => {
    const lines = [frameBytes(1, 1), frameBytes(1, 2, "x", 1), frameBytes(1, 3, "x", 1)];
    expect(seqs(Buffer.concat(lines))).toEqual([2, 3]);
    const length = lines[0]?.length ?? 0;
    for (let at = 0; at < length; at += 1) {
      const harmed = Buffer.concat(lines);
      harmed[at] = (harmed[at] ?? 0) ^ 1;
      expect(seqs(harmed)).toEqual([2, 3]);
    }
  });

  test("a corrupt line that claims to be old is a bad stretch if it stands before a frame", () => {
    const middle = frameBytes(2, 2);
    middle[0] = 0x31; // gen 1
    const first = frameBytes(2, 1);
    const scan = scanSegment(Buffer.concat([first, middle, frameBytes(2, 3)]));
    expect(scan.bad).toEqual([{ start: first.length, end: first.length + middle.length }]);
  });

  test("every flipped bit of a frame is detected", () => {
    const good = frameBytes(12, 1);
    for (let bit = 0; bit < (good.length - 1) * 8; bit += 1) {
      const harmed = Buffer.from(good);
      harmed[bit >> 3] = (harmed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(seqs(harmed)).toEqual([]);
    }
  });

  test("a line of an earlier use of the segment never passes for one of this use", () => {
    const old = frameBytes(3, 9);
    const relabelled = Buffer.from(old);
    relabelled[0] = 0x34; // gen 4
    expect(seqs(relabelled)).toEqual([]);
    expect(seqs(Buffer.concat([frameBytes(4, 1), old]))).toEqual([1]);
  });

  test("residue behind the zeros of a batch is not damage; bytes among those zeros or touching the last frame are", () => {
    const residue = frameBytes(1, 5).subarray(20);
    const last = frameBytes(2, 1);
    const clean = scanSegment(Buffer.concat([last, Buffer.alloc(256 - last.length), residue]));
    expect(clean.bad).toEqual([]);
    const rotten = scanSegment(Buffer.concat([last, Buffer.alloc(1), residue]));
    expect(rotten.bad).toHaveLength(1);
    const torn = scanSegment(Buffer.concat([frameBytes(2, 1), frameBytes(2, 2).subarray(0, 30)]));
    expect(torn.bad).toHaveLength(1);
  });

  test("garbage of any kind is scanned without an exception", () => {
    for (const text of ["", "\n", "\n\n", "1\t", "1\t2\t3\n", "9".repeat(400), `1\t00000000\t${"\t".repeat(9)}\n`]) {
      expect(scanSegment(Buffer.from(text)).frames).toEqual([]);
    }
  });
});
