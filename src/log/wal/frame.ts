// One line of the write-ahead log: whole transactions, or a mark (without entries).
//   gen ⇥ sum ⇥ durable ⇥ drained ⇥ first ⇥ count [⇥ session ⇥ entry]… ⏎
// F1. `sum` is the CRC-32 of all that follows it, started from `gen`, the segment's generation: a line that an earlier
//     use of the segment left behind never passes for a line of this use.
// F2. `durable` is the highest seq known to be on disk when the line was written, `drained` the highest seq known to be
//     on disk in the session logs. Both hold for every line that passes its checksum.
// F3. The line covers the seqs first … first+count−1. Every earlier line that reaches `first` or beyond is dead: it
//     belongs to a life whose tail was cut.
// F4. The entries are contained byte by byte as they will be in the session logs.
// F5. A transaction is never in two frames. Small ones share one, but only up to a page: what a disk damages is seldom
//     less.
import { crc32, putDecimal, putHex8 } from "../../world/hash.ts";
import { hexAt, numberAt } from "../session/entry.ts";
import type { EncodedLine } from "../session/entry-encoder.ts";

const TAB = 9;
const NEWLINE = 10;
const NOTHING: Buffer = Buffer.alloc(0);

export type Marks = { readonly gen: number; readonly durable: number; readonly drained: number };

/** Entries that are written together or not at all. */
export type Transaction<S = unknown> = {
  readonly first: number;
  readonly entries: readonly FramedEntry<S>[];
};
export type FramedEntry<S = unknown> = {
  readonly session: S;
  readonly prev: number;
  readonly line: EncodedLine;
};

export type Frame = {
  readonly gen: number;
  readonly durable: number;
  readonly drained: number;
  readonly first: number;
  readonly count: number;
  /** The line without its newline. */
  readonly line: Uint8Array;
  /** Where the entries begin in the line. */
  readonly body: number;
};

/** The most that the fixed fields can take, including the newline. */
export const FRAME_OVERHEAD = 6 * 17;

/** The fields that all frames of a batch begin with, made once for each. */
export class FrameHead {
  readonly #bytes = Buffer.alloc(FRAME_OVERHEAD);
  #length = 0;
  gen = 0;
  /** Where the sum goes. */
  sumAt = 0;

  set({ gen, durable, drained }: Marks): this {
    this.gen = gen;
    this.sumAt = this.#put(gen, 0);
    this.#bytes[this.sumAt + 8] = TAB;
    this.#length = this.#put(drained, this.#put(durable, this.sumAt + 9));
    return this;
  }

  copy(into: Buffer, at: number): number {
    return at + this.#bytes.copy(into, at, 0, this.#length);
  }

  #put(field: number, at: number): number {
    const end = putDecimal(field, this.#bytes, at);
    this.#bytes[end] = TAB;
    return end + 1;
  }
}

/**
 * The transactions as they are framed (F5): each whole, and as many together as have room in `most` bytes. A larger one
 * has a frame of its own.
 */
export function inFrames(transactions: readonly Transaction[], most: number): Transaction[] {
  const frames: Transaction[] = [];
  let entries: FramedEntry[] = [];
  let bytes = most;
  for (const transaction of transactions) {
    const size = sizeOf(transaction);
    bytes += size;
    if (bytes > most) {
      entries = [];
      frames.push({ first: transaction.first, entries });
      bytes = size;
    }
    for (const entry of transaction.entries) entries.push(entry);
  }
  return frames;
}

/** Writes the line into `into` at `at`; returns where it ends. Lines that follow each other are copied together. */
export function encodeFrame(into: Buffer, at: number, head: FrameHead, { first, entries }: Transaction): number {
  let end = putCount(into, head.copy(into, at), first, entries.length);
  let block = NOTHING;
  let [from, to] = [0, 0];
  for (const { line } of entries) {
    if (line.block !== block || line.from !== to) {
      end += block.copy(into, end, from, to);
      block = line.block;
      from = line.from;
    }
    to = line.end;
  }
  end += block.copy(into, end, from, to); // F4
  return seal(into, at, head, end);
}

function putCount(into: Buffer, at: number, first: number, count: number): number {
  const end = putDecimal(first, into, at);
  into[end] = TAB;
  return putDecimal(count, into, end + 1);
}

/** Writes the sum and ends the line. */
function seal(into: Buffer, at: number, head: FrameHead, end: number): number {
  const sumAt = at + head.sumAt;
  putHex8(crc32(into.subarray(sumAt + 9, end), head.gen), into, sumAt); // F1
  into[end] = NEWLINE;
  return end + 1;
}

/** A mark as separate bytes: no entries, and `first` is the next seq. */
export function encodeMark(marks: Marks, first: number): Uint8Array {
  const into = Buffer.alloc(FRAME_OVERHEAD);
  return into.subarray(0, encodeFrame(into, 0, new FrameHead().set(marks), { first, entries: [] }));
}

/** The same entries with other marks. */
export function encodeAgain(marks: Marks, frame: Frame): Uint8Array {
  const head = new FrameHead().set(marks);
  const entries = frame.line.subarray(frame.body);
  const into = Buffer.alloc(FRAME_OVERHEAD + entries.length);
  const bodyAt = putCount(into, head.copy(into, 0), frame.first, frame.count);
  into.set(entries, bodyAt);
  return into.subarray(0, seal(into, 0, head, bodyAt + entries.length));
}

/** The frame in `line`; undefined if anything about it is wrong. Lines of a generation below `floor` are skipped. */
export function decodeFrame(line: Uint8Array, floor: number): Frame | undefined {
  const gen = numberAt(line, 0);
  if (gen === undefined || gen.value < floor || line[gen.end] !== TAB) return undefined;
  const sum = hexAt(line, gen.end + 1);
  const start = gen.end + 10;
  if (sum === undefined || line[start - 1] !== TAB) return undefined;
  if (sum !== crc32(line.subarray(start), gen.value) >>> 0) return undefined; // F1
  return decodeBody(line, gen.value, start);
}

function decodeBody(line: Uint8Array, gen: number, start: number): Frame | undefined {
  const durable = numberAt(line, start);
  const drained = numberAt(line, (durable?.end ?? line.length) + 1);
  const first = numberAt(line, (drained?.end ?? line.length) + 1);
  const count = numberAt(line, (first?.end ?? line.length) + 1);
  if (durable === undefined || drained === undefined || first === undefined || count === undefined) return undefined;
  if (count.value > line.length) return undefined; // Every entry has bytes; more would be looked for without end.
  return {
    gen,
    durable: durable.value,
    drained: drained.value,
    first: first.value,
    count: count.value,
    line,
    body: count.end,
  };
}

export function lastOf(frame: { readonly first: number; readonly count: number }): number {
  return frame.first + frame.count - 1;
}

/** What a line says about itself. */
export type Claim = { readonly gen: number; readonly first: number; readonly last: number };

/** What the line at `at` claims to be, without checking its sum; undefined if it does not look like a frame at all. */
export function peekFrame(bytes: Uint8Array, at: number): Claim | undefined {
  const gen = numberAt(bytes, at);
  if (gen === undefined || bytes[gen.end] !== TAB || bytes[gen.end + 9] !== TAB) return undefined;
  const durable = numberAt(bytes, gen.end + 10);
  const drained = durable === undefined ? undefined : numberAt(bytes, durable.end + 1);
  const first = drained === undefined ? undefined : numberAt(bytes, drained.end + 1);
  const count = first === undefined ? undefined : numberAt(bytes, first.end + 1);
  if (first === undefined || count === undefined) return undefined;
  return { gen: gen.value, first: first.value, last: first.value + count.value - 1 };
}

/** The entries of a frame, as they must be in the session logs (F4). */
export function entriesOf(frame: Frame): { readonly session: string; readonly line: Uint8Array }[] {
  const entries: { session: string; line: Uint8Array }[] = [];
  let at = frame.body + 1;
  for (let i = 0; i < frame.count; i++) {
    const tab = frame.line.indexOf(TAB, at);
    const next = frame.line.indexOf(TAB, tab + 1);
    const end = next < 0 ? frame.line.length : next;
    entries.push({
      session: Buffer.from(frame.line.subarray(at, tab)).toString("utf8"),
      line: frame.line.subarray(tab + 1, end),
    });
    at = end + 1;
  }
  return entries;
}

/** The length of its entries, without the frame. */
export function sizeOf({ entries }: Transaction): number {
  let bytes = 0;
  for (const { line } of entries) bytes += line.end - line.from;
  return bytes;
}
