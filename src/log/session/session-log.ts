// A session's own log, `events.jsonl`: the one that people and
// tools read. This file reads it, and judges its end after a crash.
// The files before it are in log-segments.ts.
// S1. Entries at or below `drained` are synced. All that follows may be only in the page cache and is not relied on: it
//     is written again from the write-ahead log, which still has it (EL-3).
// S2. Corrupt bytes at the end are a torn line, and are cut, only if the entries to be written again follow the last
//     intact line without a break. Otherwise a line is lost: the session is frozen, and nothing corrupt is cut.
// S3. A whole line that the write-ahead log does not have is never cut: it may be the only copy.
// S4. If the file has no synced line, it follows the segment before it. What that one has is synced (SG1), even if the
//     write-ahead log does not know that yet.
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

/**
 * Judges the last lines of a log; `again` are the write-ahead log's entries for this session, ascending, and `before`
 * is the last seq of the file before this one (S4).
 */
export function judgeTail(
  lines: readonly Line[],
  drained: number,
  again: readonly EntryHead[],
  before = 0,
): TailVerdict {
  const anchorAt = lines.findLastIndex((line) => isSynced(line, drained));
  const anchor = lines[anchorAt];
  const from = anchor?.end ?? 0;
  const anchorSeq = anchor?.head?.seq ?? before;
  const { kept, harmed, last } = keepUnknown(lines.slice(anchorAt + 1), anchorSeq, again);
  const lost = firstBreak(anchorSeq, [...kept.flatMap(({ head }) => head ?? []), ...again]);
  const broken = lost ?? (again.length === 0 && harmed.length > 0 ? "its last bytes are harmed" : undefined);
  if (broken !== undefined) return { from, kept: [...kept, ...harmed], torn: [], last, broken }; // S2
  return { from, kept, torn: harmed, last, broken };
}

/** S1 */
export function isSynced({ head }: Line, drained: number): boolean {
  return head !== undefined && head.seq <= drained;
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

/** One thing found while reading a session's log from front to back. `file`: as in ReadFrom. */
export type Reading =
  /** `end` is negative if its place in the file is not known yet. */
  | { readonly kind: "entry"; readonly entry: Entry; readonly end: number; readonly file: number }
  | { readonly kind: "double"; readonly seq: number; readonly start: number; readonly file: number }
  | {
      readonly kind: "harmed";
      readonly start: number;
      readonly end: number;
      readonly bytes: Uint8Array;
      readonly file: number;
    }
  | {
      readonly kind: "break";
      readonly seq: number;
      readonly expected: number;
      readonly found: number;
      readonly start: number;
      readonly file: number;
    }
  /** Everything up to this seq was removed by retention (SG3 of log-segments.ts). */
  | { readonly kind: "trimmed"; readonly through: number; readonly start: number; readonly file: number };

/** A position in one of the files of a log: `file` is the last seq before that file, `seq` the last entry read. */
export type ReadFrom = { readonly file: number; readonly offset: number; readonly seq: number };
export const FROM_START: ReadFrom = { file: 0, offset: 0, seq: 0 };

/**
 * Reads a file from a position on. A double is skipped, a break is reported before its entry. Returns the last seq.
 */
export function readLog(file: OpenFile, from: ReadFrom, until?: number): Generator<Reading, number> {
  return readLines(linesFrom(file, from.offset), from, until);
}

export function* readLines(
  lines: Iterable<Line>,
  { file, seq: after }: Pick<ReadFrom, "file" | "seq">,
  until = Number.POSITIVE_INFINITY,
): Generator<Reading, number> {
  let last = after;
  for (const line of lines) {
    if (line.start >= until) return last;
    const entry = line.head && decodeEntry(line.bytes);
    if (line.head === undefined || entry === undefined) {
      yield { kind: "harmed", start: line.start, end: line.end, bytes: line.bytes, file };
      continue;
    }
    const { seq, prev } = line.head;
    if (seq <= last) {
      yield { kind: "double", seq, start: line.start, file };
      continue;
    }
    if (prev !== last) yield { kind: "break", seq, expected: prev, found: last, start: line.start, file };
    yield { kind: "entry", entry, end: line.end, file };
    last = seq;
  }
  return last;
}

/** Lines that are durable in the write-ahead log and not yet in a file; those up to `last` were already read. */
export function* readWaiting(bytes: Uint8Array, last: number): Generator<Reading> {
  for (const line of wholeLines(bytes, 0, true)) {
    const entry = decodeEntry(line.bytes);
    if (entry !== undefined && entry.seq > last) yield { kind: "entry", entry, end: -1, file: -1 };
  }
}

/** What was read of a session's files after `seq`, and then the waiting lines. */
export function* readOn(readings: Iterable<Reading>, waiting: Uint8Array, seq: number): Generator<Reading> {
  let last = seq;
  for (const reading of readings) {
    if (reading.kind === "entry") last = reading.entry.seq;
    yield reading;
  }
  yield* readWaiting(waiting, last);
}

/**
 * The lines of a file that follow the entry with this seq; undefined if neither that entry is in the file, before
 * `until`, nor the file begins after it. Reads no more than that.
 */
export function linesAfter(disk: Disk, path: string, seq: number, until?: number): Line[] | undefined {
  const lines = tailOf(disk, path, seq);
  const at = lines.findLastIndex(({ head }) => head?.seq === seq);
  const found = lines[at];
  if (found !== undefined) return found.end <= (until ?? found.end) ? lines.slice(at + 1) : undefined;
  const [first] = lines;
  return first?.start === 0 && first.head?.prev === seq ? lines : undefined;
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
