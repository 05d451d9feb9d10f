// The entries of many sessions in the order of their seqs.
// M1. Memory and open files do not grow with the logs or the number of sessions: entries are collected by windows of
//     seqs, one session after another, and a cursor for each session remembers its position.
// M2. A cursor moves only past entries that were collected: an unreadable end of a log is read again.

import type { LogView } from "../../log/inspect.ts";
import type { Entry } from "../../log/session/entry.ts";
import { FROM_START, type ReadFrom, type Reading } from "../../log/session/session-log.ts";

/** A session's reading position, and its next seq if known; 0 before the first look. */
export type Cursor = { place: ReadFrom; next: number };
export type Cursors = Map<string, Cursor>;

export type EntryFound = { readonly session: string; readonly entry: Entry };
export type Harm = { readonly session: string; readonly reading: Exclude<Reading, { kind: "entry" | "trimmed" }> };
/** Seqs, both inclusive. */
export type Range = { readonly from: number; readonly until: number };

/** Small at first, so that the first lines appear at once; then larger, up to what is worth a read of each session. */
const WINDOW = {
  first: 64,
  most: 1 << 16,
  step: 8,
  bytesEach: 1 << 16,
  leastBytes: 2 << 20,
  mostBytes: 16 << 20,
} as const;

/** The next seq of a session that has no more entries. */
const NEVER = Number.POSITIVE_INFINITY;

export function cursorAt(place: ReadFrom = FROM_START): Cursor {
  return { place, next: 0 };
}

/**
 * The entries of `range`, ascending. Unreadable parts are added to `harms`, unless nothing follows them in their log.
 */
export function* inOrder(view: LogView, cursors: Cursors, range: Range, harms: Harm[]): Generator<EntryFound> {
  const [only, ...others] = cursors;
  if (only !== undefined && others.length === 0) return yield* alone(view, only, range, harms);
  let size: number = WINDOW.first;
  for (let from = nextOf(cursors, range); from <= range.until && from < NEVER; from = nextOf(cursors, range)) {
    const window = { from: Math.max(from, range.from), until: Math.min(from + size - 1, range.until) };
    const { found, bytes } = gather(view, cursors, window, harms);
    yield* found;
    size = nextSize(size, bytes, cursors.size);
  }
}

/** A single session needs no windows. */
function* alone(
  view: LogView,
  [session, cursor]: [string, Cursor],
  range: Range,
  harms: Harm[],
): Generator<EntryFound> {
  for (const entry of advance(view, session, cursor, { until: range.until, harms })) {
    if (entry.seq >= range.from) yield { session, entry };
  }
}

function nextOf(cursors: Cursors, range: Range): number {
  let next = NEVER;
  for (const cursor of cursors.values()) next = Math.min(next, cursor.next === 0 ? range.from : cursor.next);
  return next;
}

function nextSize(size: number, bytes: number, sessions: number): number {
  const wanted = Math.min(WINDOW.mostBytes, Math.max(WINDOW.leastBytes, sessions * WINDOW.bytesEach));
  const factor = Math.min(WINDOW.step, wanted / Math.max(bytes, 1));
  return Math.min(WINDOW.most, Math.max(WINDOW.first, Math.floor(size * factor)));
}

function gather(view: LogView, cursors: Cursors, window: Range, harms: Harm[]) {
  const found: EntryFound[] = [];
  let bytes = 0;
  for (const [session, cursor] of cursors) {
    if (cursor.next > window.until) continue;
    const before = cursor.place;
    for (const entry of advance(view, session, cursor, { until: window.until, harms })) {
      if (entry.seq >= window.from) found.push({ session, entry });
    }
    bytes += cursor.place.offset - (cursor.place.file === before.file ? before.offset : 0);
  }
  return { found: found.sort((a, b) => a.entry.seq - b.entry.seq), bytes };
}

type Way = { readonly until: number; readonly harms: Harm[] };

/** The session's entries up to `until`; moves the cursor with them (M2). */
function* advance(view: LogView, session: string, cursor: Cursor, { until, harms }: Way): Generator<Entry> {
  const passed: Harm[] = [];
  for (const reading of view.read(session, cursor.place)) {
    if (reading.kind !== "entry") {
      // A double may just have been seen in the write-ahead log first, and retention removes what it may.
      if (reading.kind !== "double" && reading.kind !== "trimmed") passed.push({ session, reading });
      continue;
    }
    const { entry, end, file } = reading;
    cursor.next = entry.seq;
    if (entry.seq > until) return;
    harms.push(...passed.splice(0));
    // Still only in the write-ahead log: its offset in the session's log is not known yet.
    cursor.place = end < 0 ? { ...cursor.place, seq: entry.seq } : { file, offset: end, seq: entry.seq };
    yield entry;
  }
  cursor.next = NEVER;
}
