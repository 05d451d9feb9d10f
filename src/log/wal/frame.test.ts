import { expect, test } from "bun:test";
import { EntryEncoder } from "../session/entry-encoder.ts";
import { decodeFrame, encodeFrame, entriesOf, FrameHead, inFrames, sizeOf, type Transaction } from "./frame.ts";

const MOST = 1000;

/** Transactions of one entry for each number, which is the length of its text. */
function transactions(encoder: EntryEncoder, sizes: readonly (readonly number[])[]): Transaction[] {
  let seq = 0;
  return sizes.map((lengths) => {
    const first = seq + 1;
    const entries = lengths.map((length) => {
      const entry = { session: `agents/a${length}`, ts: "", event: "tested", data: "x".repeat(length) };
      seq += 1;
      return { session: undefined, prev: 0, line: encoder.encode(entry, { seq, prev: 0 }) };
    });
    return { first, entries };
  });
}

/** Each frame read back: its seqs, and the text of each entry by its session. */
function readBack(frames: readonly Transaction[]): unknown[] {
  const head = new FrameHead().set({ gen: 3, durable: 0, drained: 0 });
  return frames.map((frame) => {
    const into = Buffer.alloc(200 + sizeOf(frame));
    const end = encodeFrame(into, 0, head, frame);
    const read = decodeFrame(into.subarray(0, end - 1), 0);
    const entries = read === undefined ? [] : entriesOf(read);
    return [
      read?.first,
      entries.map(({ session, line }) => [session, JSON.parse(Buffer.from(line).toString()).data.length]),
    ];
  });
}

const one = (length: number) => [`agents/a${length}`, length];

test("F5 small transactions share a frame up to a limit, a large one has its own, and none is in two", () => {
  const frames = inFrames(transactions(new EntryEncoder(), [[1], [2, 3], [4], [2000], [5], [900], [700, 6]]), MOST);
  expect(readBack(frames)).toEqual([
    [1, [1, 2, 3, 4].map(one)],
    [5, [one(2000)]],
    [6, [one(5)]],
    [7, [one(900)]],
    [8, [700, 6].map(one)],
  ]);
  for (const frame of frames) expect(sizeOf(frame) <= MOST || frame.entries.length === 1).toBe(true);
});

test("F4 entries come back byte by byte, also if they do not follow each other in memory", () => {
  const encoder = new EntryEncoder();
  const [a, b, c] = transactions(encoder, [[1], [2], [3]]);
  const far = transactions(new EntryEncoder(), [[4]]).map((transaction) => ({ ...transaction, first: 4 }));
  const mixed = [a, c, b].flatMap((transaction) => transaction ?? []);
  expect(readBack(inFrames([...mixed, ...far], MOST))).toEqual([[1, [1, 3, 2, 4].map(one)]]);
  // One that was refused leaves a gap.
  encoder.encode({ session: "agents/refused", ts: "", event: "tested", data: "" }, { seq: 9, prev: 0 });
  const next = transactions(encoder, [[7]]);
  expect(readBack(inFrames([...mixed, ...next], MOST))).toEqual([[1, [1, 3, 2, 7].map(one)]]);
});

test("F5 a batch without transactions has no frames", () => {
  expect(inFrames([], MOST)).toEqual([]);
});
