// The end of a home's log as frames again, from its session logs: for a second place that does not have it
// (wal/elsewhere.ts). The write-ahead log need not have it any more. Everything is drained.
// EA1. What is returned has no hole: if an entry is not found, nothing is returned.
// EA2. Only files that may have one of these entries are read, from their ends.
import { joinPath } from "../base/path.ts";
import type { Disk } from "../world/disk.ts";
import { openExisting } from "./file/file.ts";
import { framesIn } from "./import.ts";
import { archivedEnd } from "./session/archive-index.ts";
import { namePart } from "./session/entry-encoder.ts";
import { type Line, tailLines } from "./session/lines.ts";
import { segmentsIn } from "./session/log-segments.ts";
import { EVENTS_FILE, listArchived, listSessions, sessionPath } from "./session/places.ts";
import { encodeFrame, entriesOf as entriesIn, FRAME_OVERHEAD, type Frame, FrameHead, lastOf } from "./wal/frame.ts";
import { readWal } from "./wal/wal-files.ts";

type Place = { readonly disk: Disk; readonly home: string };
type Found = { readonly session: string; readonly seq: number; readonly prev: number; readonly bytes: Uint8Array };

/** `sessions`: those that may have some; archived ones are found. Undefined: one of them is missing (EA1). */
export function framesAfter(place: Place, sessions: readonly string[], after: number): Uint8Array | undefined {
  const archived = archivedEnd(place) > after ? listArchived(place.disk, place.home) : [];
  const found = [...new Set([...sessions, ...archived])].flatMap((session) => [...entriesOf(place, session, after)]);
  const ordered = found.toSorted((a, b) => a.seq - b.seq);
  if (ordered.some(({ seq }, index) => seq !== after + 1 + index)) return undefined; // EA1
  return Buffer.concat(ordered.map(frameOf));
}

export type LoggedEntry = { readonly session: string; readonly line: Uint8Array };

/** The entry `seq` of a home that is not open; undefined if it is not found. */
export function entryAt(place: Place, seq: number): LoggedEntry | undefined {
  const { live, drained } = readWal(place.disk, place.home).view;
  if (seq > drained) return inFrames(live, seq);
  for (const session of [...listSessions(place.disk, place.home), ...listArchived(place.disk, place.home)])
    for (const found of entriesOf(place, session, seq - 1))
      if (found.seq === seq) return { session, line: found.bytes };
  return undefined;
}

/** The same of runs of frames. */
export function entryIn(batches: readonly Uint8Array[], seq: number): LoggedEntry | undefined {
  const frames = framesIn(batches);
  return frames.ok ? inFrames(frames.value, seq) : undefined;
}

function inFrames(frames: readonly Frame[], seq: number): LoggedEntry | undefined {
  const frame = frames.find((one) => one.first <= seq && lastOf(one) >= seq);
  return frame && entriesIn(frame)[seq - frame.first];
}

/** EA2 */
function* entriesOf({ disk, home }: Place, session: string, after: number): Generator<Found> {
  const directory = sessionPath(disk, home, session);
  const { segments } = segmentsIn(disk, directory);
  const paths = segments.filter(({ last }) => last > after).map(({ path }) => path);
  for (const path of [...paths, joinPath(directory, EVENTS_FILE)])
    for (const { head, bytes } of linesBack(disk, path, after))
      if (head !== undefined && head.seq > after) yield { session, ...head, bytes };
}

function linesBack(disk: Disk, path: string, after: number): Line[] {
  const file = openExisting(disk, path);
  if (file === undefined) return [];
  try {
    return tailLines(file, after);
  } finally {
    file.close();
  }
}

/** A frame of its own for each: which of them were one transaction is not known any more. */
function frameOf({ session, seq, prev, bytes }: Found): Uint8Array {
  const name = Buffer.from(namePart(session));
  const block = Buffer.concat([name, bytes]);
  const into = Buffer.alloc(FRAME_OVERHEAD + block.length);
  const entry = { session, prev, line: { block, from: 0, start: name.length, end: block.length } };
  const head = new FrameHead().set({ gen: 1, durable: seq - 1, drained: 0 });
  return into.subarray(0, encodeFrame(into, 0, head, { first: seq, entries: [entry] }));
}
