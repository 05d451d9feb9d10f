// Reads the lines of a session's log, from the front in bounded chunks, or from the back until one is found.
import type { OpenFile } from "../../world/disk.ts";
import { readAll } from "../file/file.ts";
import { type EntryHead, headOf } from "./entry.ts";

const NEWLINE = 10;
/** Large enough that the calls cost nothing, small enough that memory stays bounded. */
const CHUNK = 1 << 20;
/** Contains the last few lines of nearly every log. */
const FIRST_TAIL = 4096;

/** One line, whole or not. `head` is undefined if it is corrupt or has no newline yet. */
export type Line = {
  readonly start: number;
  readonly end: number;
  readonly bytes: Uint8Array;
  readonly head: EntryHead | undefined;
};

/** All lines from `from` on, which must be the start of a line, up to the current end of the file. */
export function* linesFrom(file: OpenFile, from: number): Generator<Line> {
  const size = file.size();
  let start = from;
  for (let window = CHUNK; start < size; ) {
    const length = Math.min(window, size - start);
    const last = start + length === size;
    const used = yield* wholeLines(readAll(file, start, length), start, last);
    start += used;
    if (last) return;
    window = used === 0 ? window * 2 : CHUNK; // The line is longer than the window.
  }
}

/**
 * The lines in `chunk`, which begins at `offset`; returns how much of
 * it they took. What follows the last newline counts only at the end.
 */
export function* wholeLines(chunk: Uint8Array, offset: number, last: boolean): Generator<Line, number> {
  let at = 0;
  while (at < chunk.length) {
    const newline = chunk.indexOf(NEWLINE, at);
    if (newline < 0) {
      if (last) yield { start: offset + at, end: offset + chunk.length, bytes: chunk.subarray(at), head: undefined };
      return last ? chunk.length : at;
    }
    const bytes = chunk.subarray(at, newline);
    yield { start: offset + at, end: offset + newline + 1, bytes, head: headOf(bytes) };
    at = newline + 1;
  }
  return at;
}

/**
 * The last lines of a file: enough of them to include an intact one at or below `atMost`, or all if there is none. The
 * cost depends on the length of the tail, not of the log.
 */
export function tailLines(file: OpenFile, atMost: number): Line[] {
  const size = file.size();
  for (let window = FIRST_TAIL; ; window *= 8) {
    const from = Math.max(0, size - window);
    const lines = linesWithin(readAll(file, from, size - from), from);
    const found = lines.some((line) => line.head !== undefined && line.head.seq <= atMost);
    if (found || from === 0) return lines;
  }
}

function linesWithin(bytes: Uint8Array, from: number): Line[] {
  const start = from === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
  if (from > 0 && start === 0) return []; // one line longer than the window
  return [...wholeLines(bytes.subarray(start), from + start, true)];
}
