// Finds a position in a session's log from its end, so that the last lines of a long log cost no more than of a short
// one.
import { joinPath } from "../../base/path.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import { openRetrying, readAll } from "../file/file.ts";
import { type Line, wholeLines } from "./lines.ts";
import { readFiles, segmentsIn } from "./log-segments.ts";
import { EVENTS_FILE } from "./places.ts";
import { FROM_START, type ReadFrom, type Reading, readOn } from "./session-log.ts";
import type { Session } from "./session-writer.ts";

const NEWLINE = 10;
/** Enough for twenty lines of nearly every log. */
const FIRST_WINDOW = 1 << 14;
const MAX_WINDOW = 1 << 20;

/** Whether reading should start right after this entry; called from the last entry backwards. */
export type Stop = (seq: number, bytes: number) => boolean;

/**
 * The position after the last entry for which `stop` returns true, or the start. Files that begin after `until` are not
 * read: `stop` is not called for their entries.
 */
export function placeFromEnd(disk: Disk, directory: string, stop: Stop, until = Number.POSITIVE_INFINITY): ReadFrom {
  const { trimmed, segments } = segmentsIn(disk, directory);
  const paths = [...segments.map(({ path }) => path), joinPath(directory, EVENTS_FILE)];
  for (const [at, path] of [...paths.entries()].reverse()) {
    const file = segments[at - 1]?.last ?? trimmed;
    if (file >= until) continue;
    const place = disk.stat(path) && searchBack(disk, path, stop);
    if (place !== undefined) return { file, ...place };
  }
  return FROM_START;
}

type Back = { readonly stop: Stop; readonly until: number | undefined };

/** The entries behind that position, ascending, up to seq `until`. What waits for its file only adds to these. */
export function* readBack(
  disk: Disk,
  directory: string,
  { waiting, length }: Pick<Session, "waiting" | "length">,
  { stop, until = Number.POSITIVE_INFINITY }: Back,
): Generator<Reading> {
  const lines = waiting.bytes().slice();
  const from = placeFromEnd(disk, directory, stop, until);
  for (const reading of readOn(readFiles(disk, directory, from, length), lines, from.seq)) {
    if (reading.kind === "entry" && reading.entry.seq > until) return;
    yield reading;
  }
}

function searchBack(disk: Disk, path: string, stop: Stop): Omit<ReadFrom, "file"> | undefined {
  const file = openRetrying(disk, path, "read");
  try {
    return searchFile(file, stop);
  } finally {
    file.close();
  }
}

function searchFile(file: OpenFile, stop: Stop): Omit<ReadFrom, "file"> | undefined {
  let window = FIRST_WINDOW;
  for (let end = file.size(); end > 0; ) {
    const from = Math.max(0, end - window);
    const { lines, start } = linesBetween(file, from, end);
    const behind = lines.findLast((line) => line.head !== undefined && stop(line.head.seq, line.bytes.length));
    if (behind?.head !== undefined) return { offset: behind.end, seq: behind.head.seq };
    // If a line is longer than the window, no line was found: use a larger window.
    window = start === end ? window * 2 : Math.max(window, Math.min(window * 4, MAX_WINDOW));
    end = start;
  }
  return undefined;
}

/** The lines that start at or after `from` and end at or before `end`, and where the first of them starts. */
function linesBetween(file: OpenFile, from: number, end: number): { lines: Line[]; start: number } {
  const bytes = readAll(file, from, end - from);
  const newline = bytes.indexOf(NEWLINE);
  if (from > 0 && newline < 0) return { lines: [], start: end };
  const skip = from === 0 ? 0 : newline + 1;
  return { lines: [...wholeLines(bytes.subarray(skip), from + skip, true)], start: from + skip };
}
