// A session's own log, `events.jsonl`: the one that people and
// tools read. This file reads it, and judges its end after a crash.
// S1. Entries at or below `drained` are synced. All that follows may be only in the page cache and is not relied on: it
//     is written again from the write-ahead log, which still has it (EL-3).
// S2. Corrupt bytes at the end are a torn line, and are cut, only if the entries to be written again follow the last
//     intact line without a break. Otherwise a line is lost: the session is frozen, and nothing corrupt is cut.
// S3. A whole line that the write-ahead log does not have is never cut: it may be the only copy.
import type { Disk, OpenFile } from "../../world/disk.ts";
import { openRetrying } from "../file/file.ts";
import { decodeEntry, type Entry, type EntryHead } from "./entry.ts";
import { type Line, linesFrom, tailLines, wholeLines } from "./lines.ts";

/** What to do with the end of a session's log. */
export type TailVerdict = {
  /** From here on the file is written again: first `kept`, then the entries of the write-ahead log. */
  readonly from: number;
  readonly kept: readonly Line[];
  /** Torn lines, to be cut. */
  readonly torn: readonly Line[];
  /** The last seq after `kept` is written. */
  readonly last: number;
  /** Why the session must be frozen; undefined if it need not be. */
  readonly broken: string | undefined;
};

/** Judges the last lines of a log; `again` are the write-ahead log's entries for this session, ascending. */
export function judgeTail(lines: readonly Line[], drained: number, again: readonly EntryHead[]): TailVerdict {
  const anchorAt = lines.findLastIndex((line) => line.head !== undefined && line.head.seq <= drained);
  const anchor = lines[anchorAt];
  const from = anchor?.end ?? 0;
  const anchorSeq = anchor?.head?.seq ?? 0;
  const { kept, harmed, last } = keepUnknown(lines.slice(anchorAt + 1), anchorSeq, again);
  const lost = firstBreak(anchorSeq, [...kept.flatMap(({ head }) => head ?? []), ...again]);
  const broken = lost ?? (again.length === 0 && harmed.length > 0 ? "its last bytes are harmed" : undefined);
  if (broken !== undefined) return { from, kept: [...kept, ...harmed], torn: [], last, broken }; // S2
  return { from, kept, torn: harmed, last, broken };
}

/**
 * S3: what the write-ahead log does not have stays, with the
 * corrupt lines before it. `harmed` is what remains at the end.
 */
function keepUnknown(lines: readonly Line[], anchor: number, again: readonly EntryHead[]) {
  const known = new Set(again.map((head) => head.seq));
  const kept: Line[] = [];
  let harmed: Line[] = [];
  let last = anchor;
  for (const line of lines) {
    if (line.head === undefined) harmed.push(line);
    if (line.head === undefined || known.has(line.head.seq) || line.head.seq <= last) continue;
    kept.push(...harmed, line);
    harmed = [];
    last = line.head.seq;
  }
  return { kept, harmed, last };
}

/** Follows the chain from `anchor` on, through what is kept and what the write-ahead log has, in one order. */
function firstBreak(anchor: number, heads: readonly EntryHead[]): string | undefined {
  let last = anchor;
  for (const { seq, prev } of heads.toSorted((a, b) => a.seq - b.seq)) {
    if (prev !== last) return `seq ${seq} follows ${prev}, but the last unharmed line is ${last}`;
    last = seq;
  }
  return undefined;
}

/**
 * The lines after `from` once all is written again: in the order
 * of seqs, with each corrupt line before the line it preceded.
 */
export function inOrder(kept: readonly Line[], again: readonly { head: EntryHead; line: Uint8Array }[]): Uint8Array[] {
  const lines: Uint8Array[] = [];
  let next = 0;
  for (const { head, bytes } of kept) {
    for (let live = again[next]; live !== undefined && head !== undefined; live = again[next]) {
      if (live.head.seq > head.seq) break;
      lines.push(live.line);
      next += 1;
    }
    lines.push(bytes);
  }
  return [...lines, ...again.slice(next).map(({ line }) => line)];
}

/** One thing found while reading a session's log from front to back. */
export type Reading =
  | { readonly kind: "entry"; readonly entry: Entry; readonly end: number }
  | { readonly kind: "double"; readonly seq: number; readonly start: number }
  | { readonly kind: "harmed"; readonly start: number; readonly end: number; readonly bytes: Uint8Array }
  | {
      readonly kind: "break";
      readonly seq: number;
      readonly expected: number;
      readonly found: number;
      readonly start: number;
    };

export type ReadFrom = { readonly offset: number; readonly seq: number };
export const FROM_START: ReadFrom = { offset: 0, seq: 0 };

/**
 * Reads from a position where `from.seq` was the last entry. A double is skipped, a break is reported before its entry.
 */
export function* readLog(file: OpenFile, from: ReadFrom, until = Number.POSITIVE_INFINITY): Generator<Reading> {
  yield* readLines(linesFrom(file, from.offset), from.seq, until);
}

export function* readLines(lines: Iterable<Line>, after: number, until = Number.POSITIVE_INFINITY): Generator<Reading> {
  let last = after;
  for (const line of lines) {
    if (line.start >= until) return;
    const entry = line.head && decodeEntry(line.bytes);
    if (line.head === undefined || entry === undefined) {
      yield { kind: "harmed", start: line.start, end: line.end, bytes: line.bytes };
      continue;
    }
    const { seq, prev } = line.head;
    if (seq <= last) {
      yield { kind: "double", seq, start: line.start };
      continue;
    }
    if (prev !== last) yield { kind: "break", seq, expected: prev, found: last, start: line.start };
    yield { kind: "entry", entry, end: line.end };
    last = seq;
  }
}

/**
 * Lines that are durable in the write-ahead log and will be written at `offset`; those up to `last` were already read.
 */
export function* readWaiting(bytes: Uint8Array, last: number, offset: number): Generator<Reading> {
  for (const line of wholeLines(bytes, offset, true)) {
    const entry = decodeEntry(line.bytes);
    if (entry !== undefined && entry.seq > last) yield { kind: "entry", entry, end: line.end };
  }
}

type Since = { readonly seq: number; readonly length: number };

/** The given lines of a session's file, up to its length, and then the waiting ones. */
export function* readOn(lines: readonly Line[], waiting: Uint8Array, { seq, length }: Since): Generator<Reading> {
  let last = seq;
  for (const reading of readLines(lines, seq, length)) {
    if (reading.kind === "entry") last = reading.entry.seq;
    yield reading;
  }
  yield* readWaiting(waiting, last, length);
}

/**
 * The entry with this seq in a session's log, and the lines after it; empty if there is none. Reads no more than that.
 */
export function linesSince(disk: Disk, path: string, seq: number): Line[] {
  const lines = tailOf(disk, path, seq);
  const at = lines.findLastIndex(({ head }) => head?.seq === seq);
  return at < 0 ? [] : lines.slice(at);
}

/** The tail of the log at `path`; empty if it is missing. */
export function tailOf(disk: Disk, path: string, drained: number): Line[] {
  if (disk.stat(path) === undefined) return [];
  const file = openRetrying(disk, path, "read");
  try {
    return tailLines(file, drained);
  } finally {
    file.close();
  }
}
