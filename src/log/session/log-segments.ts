// The files of a session's log: `events.jsonl`, to which lines are added, and before it the segments that it was
// continued from, `events-<last seq>.jsonl` (docs/decisions/0032-session-logs-in-segments.md).
// SG1. A segment was `events.jsonl` until it was long enough: all of its lines are synced before it gets its name by a
//      rename, and it never changes again. The rename is durable before the next `events.jsonl` is made, so that a
//      crash leaves the file under one of its two names.
// SG2. The first line of each file names the last seq of the file before it (E1 of entry.ts), so that one that is
//      missing or damaged breaks the chain.
// SG3. `trimmed.json` says up to which seq segments were removed on purpose. It is durable before the first of them
//      goes; what is left of them is no longer part of the log.
// SG4. A reader beside the daemon opens `events.jsonl` between two looks at the segments that agree. In between it may
//      have become a segment.
import { joinPath } from "../../base/path.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import { writeAtomic } from "../file/atomic-file.ts";
import { openExisting, readWhole } from "../file/file.ts";
import { type EntryHead, headOf } from "./entry.ts";
import { EVENTS_FILE } from "./places.ts";
import {
  FROM_START,
  isSynced,
  judgeTail,
  linesAfter,
  type ReadFrom,
  type Reading,
  readLines,
  readLog,
  type TailVerdict,
  tailOf,
} from "./session-log.ts";
import type { Session } from "./session-writer.ts";

export type LogSegment = { readonly path: string; readonly last: number };

/** `trimmed` is 0 if nothing was removed (SG3); `removed` is what is left of that. Oldest first. */
export type LogSegments = {
  readonly trimmed: number;
  readonly segments: readonly LogSegment[];
  readonly removed: readonly LogSegment[];
};

export const TRIMMED_FILE = "trimmed.json";
const SEGMENT = /^events-(\d{16})\.jsonl$/;
const NEWLINE = 10;

/** Whether a file in a session's directory belongs to its log. */
export function isLogFile(name: string): boolean {
  return name === EVENTS_FILE || name === TRIMMED_FILE || SEGMENT.test(name);
}

export function segmentPath(directory: string, last: number): string {
  return joinPath(directory, `events-${String(last).padStart(16, "0")}.jsonl`);
}

export function segmentsIn(disk: Disk, directory: string): LogSegments {
  const names = disk.list(directory);
  const trimmed = names.includes(TRIMMED_FILE) ? trimmedIn(disk, directory) : 0;
  const all = names.flatMap((name): LogSegment[] => {
    const [, last] = SEGMENT.exec(name) ?? [];
    return last === undefined ? [] : [{ path: joinPath(directory, name), last: Number(last) }];
  });
  const [segments, removed] = [all.filter(({ last }) => last > trimmed), all.filter(({ last }) => last <= trimmed)];
  return { trimmed, segments: segments.sort(byLast), removed: removed.sort(byLast) };
}

function byLast(one: LogSegment, other: LogSegment): number {
  return one.last - other.last;
}

/** If it cannot be read as ours, it says nothing: then the chain is broken, and that is reported (SG2). */
function trimmedIn(disk: Disk, directory: string): number {
  const bytes = readWhole(disk, joinPath(directory, TRIMMED_FILE));
  const [, through] = /^\{"v":1,"through":(\d{1,16})[,}]/.exec(new TextDecoder().decode(bytes)) ?? [];
  return Number(through ?? 0);
}

/** SG3. Resolves when it is durable. */
export async function markTrimmed(disk: Disk, directory: string, through: number, at: string): Promise<void> {
  const text = `${JSON.stringify({ v: 1, through, at })}\n`;
  await writeAtomic(disk, joinPath(directory, TRIMMED_FILE), Buffer.from(text));
}

/** The last seq before `events.jsonl`; 0 if it is the first file of its log. */
function lastBefore({ trimmed, segments }: LogSegments): number {
  return segments.at(-1)?.last ?? trimmed;
}

/**
 * SG1. Makes the file of a session a segment, so that its waiting lines begin a new one. Returns false if it stays as
 * it is: bytes are in it that are not synced, or there is such a segment.
 */
export function becomeSegment(disk: Disk, directory: string, session: Session): boolean {
  const path = joinPath(directory, EVENTS_FILE);
  const waiting = session.waiting.bytes();
  const head = headOf(waiting.subarray(0, waiting.indexOf(NEWLINE)));
  if (head === undefined || disk.stat(path)?.size !== session.length) return false;
  const segment = segmentPath(directory, head.prev);
  if (disk.stat(segment) !== undefined) return false;
  disk.rename(path, segment);
  session.length = 0;
  session.named = false;
  return true;
}

/**
 * Judges the end of a log after a crash. Returns also the entries that are to be written again, and the last seq of the
 * segment that they follow; 0 if they follow none (S4).
 */
export function judgeLog<T extends { readonly head: EntryHead }>(
  disk: Disk,
  directory: string,
  drained: number,
  live: readonly T[],
): { readonly verdict: TailVerdict; readonly again: readonly T[]; readonly before: number } {
  const lines = tailOf(disk, joinPath(directory, EVENTS_FILE), drained);
  const isAnchored = lines.some((line) => isSynced(line, drained));
  const before = isAnchored ? 0 : lastBefore(segmentsIn(disk, directory));
  const again = live.filter(({ head }) => head.seq > before);
  const heads = again.map(({ head }) => head);
  return { verdict: judgeTail(lines, drained, heads, before), again, before };
}

/** Reads all files of a log from a position on, the last one up to `until`. Returns the last seq. */
export function* readFiles(
  disk: Disk,
  directory: string,
  from: ReadFrom = FROM_START,
  until?: number,
): Generator<Reading, number> {
  const { trimmed, segments, current } = openSteady(disk, directory);
  const offsetIn = (file: number) => (file === from.file ? from.offset : 0);
  let [file, seq] = [trimmed, from.seq];
  try {
    if (seq < trimmed) yield { kind: "trimmed", through: trimmed, start: 0, file };
    seq = Math.max(seq, trimmed);
    for (const { path, last } of segments) {
      if (last > from.file) seq = yield* readSegment(disk, path, { file, offset: offsetIn(file), seq });
      file = last;
    }
    if (current === undefined) return seq;
    return yield* readLog(current, { file, offset: offsetIn(file), seq }, until);
  } finally {
    current?.close();
  }
}

/** One that is gone breaks the chain (SG2). */
function* readSegment(disk: Disk, path: string, from: ReadFrom): Generator<Reading, number> {
  const file = openExisting(disk, path);
  if (file === undefined) return from.seq;
  try {
    return yield* readLog(file, from);
  } finally {
    file.close();
  }
}

/** SG4 */
function openSteady(disk: Disk, directory: string): LogSegments & { readonly current: OpenFile | undefined } {
  for (let found = segmentsIn(disk, directory); ; ) {
    const current = openExisting(disk, joinPath(directory, EVENTS_FILE));
    const again = segmentsIn(disk, directory);
    if (lastBefore(again) === lastBefore(found)) return { ...again, current };
    current?.close();
    found = again;
  }
}

/**
 * What follows the entry with this seq in the files of a log; undefined if it is in none of them. Reads the segments
 * only if it is there.
 */
export function readAfter(disk: Disk, directory: string, seq: number, until?: number): Iterable<Reading> | undefined {
  const lines = linesAfter(disk, joinPath(directory, EVENTS_FILE), seq, until);
  if (lines !== undefined) return readLines(lines, { file: -1, seq }, until);
  const { trimmed, segments } = segmentsIn(disk, directory);
  if (seq === trimmed) return readFiles(disk, directory, { file: trimmed, offset: 0, seq }, until);
  const at = segments.findIndex(({ last }) => last >= seq);
  const segment = segments[at];
  const line = segment && tailOf(disk, segment.path, seq).findLast(({ head }) => head?.seq === seq);
  if (line === undefined) return undefined;
  return readFiles(disk, directory, { file: segments[at - 1]?.last ?? trimmed, offset: line.end, seq }, until);
}

/** The size of all files of a log. */
export function logBytes(disk: Disk, directory: string): number {
  const names = disk.list(directory).filter(isLogFile);
  return names.reduce((sum, name) => sum + (disk.stat(joinPath(directory, name))?.size ?? 0), 0);
}
