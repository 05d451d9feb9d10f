// Finds a position in a session's log from its end, so that the last lines of a long log cost no more than of a short
// one.
import { joinPath } from "../../base/path.ts";
import { openRetrying, readAll } from "../../log/file/file.ts";
import { type Line, wholeLines } from "../../log/session/lines.ts";
import { segmentsIn } from "../../log/session/log-segments.ts";
import { EVENTS_FILE } from "../../log/session/places.ts";
import { FROM_START, type ReadFrom } from "../../log/session/session-log.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";

const NEWLINE = 10;
/** Enough for twenty lines of nearly every log. */
const FIRST_WINDOW = 1 << 14;
const MAX_WINDOW = 1 << 20;

/** Whether reading should start right after this entry; called from the last entry backwards. */
export type Stop = (seq: number) => boolean;

/** The position after the last entry for which `stop` returns true, or the start. */
export function placeFromEnd(disk: Disk, directory: string, stop: Stop): ReadFrom {
  const { trimmed, segments } = segmentsIn(disk, directory);
  const paths = [...segments.map(({ path }) => path), joinPath(directory, EVENTS_FILE)];
  for (const [at, path] of [...paths.entries()].reverse()) {
    const place = disk.stat(path) && searchBack(disk, path, stop);
    if (place !== undefined) return { file: segments[at - 1]?.last ?? trimmed, ...place };
  }
  return FROM_START;
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
    const behind = lines.findLast((line) => line.head !== undefined && stop(line.head.seq));
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
