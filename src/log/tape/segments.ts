// A tape on disk: segment files named by the absolute offset of their first byte, and how bytes are found in them. A
// gap between two segments is reported as a gap; empty files and files with other names are ignored.
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import type { Disk } from "../../world/disk.ts";
import { openRetrying, readAll } from "../file/file.ts";

const ENDING = ".seg";
const DIGITS = 16;

/** Bytes without a gap, in one file. */
export type Stretch = { readonly start: number; readonly size: number; readonly path: string };

/**
 * `gap`: these bytes do not exist, reading continues at `to`. `dropped`: they existed once, but the tape is bounded.
 */
export type TapeRead =
  | { readonly kind: "bytes"; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly kind: "gap"; readonly from: number; readonly to: number }
  | { readonly kind: "dropped"; readonly from: number; readonly to: number }
  | { readonly kind: "end"; readonly end: number };

export function segmentPath(directory: string, start: number): string {
  return joinPath(directory, String(start).padStart(DIGITS, "0") + ENDING);
}

export function isSegmentName(name: string): boolean {
  return name.length === DIGITS + ENDING.length && /^\d+\.seg$/.test(name);
}

/** The stretches of a tape, ascending. */
export function listStretches(disk: Disk, directory: string): Stretch[] {
  return stretchesOf(disk, directory, disk.list(directory));
}

/** Those in the files of these names. */
export function stretchesOf(disk: Disk, directory: string, names: readonly string[]): Stretch[] {
  const found = names.flatMap((name) => stretchOf(disk, directory, name) ?? []);
  return found.sort((a, b) => a.start - b.start);
}

function stretchOf(disk: Disk, directory: string, name: string): Stretch | undefined {
  if (!isSegmentName(name)) return undefined;
  const path = joinPath(directory, name);
  const stat = disk.stat(path);
  if (stat?.kind !== "file" || stat.size === 0) return undefined;
  return { start: Number(name.slice(0, DIGITS)), size: stat.size, path };
}

export function endOf(stretches: readonly Stretch[]): number {
  const last = stretches.at(-1);
  return last === undefined ? 0 : last.start + last.size;
}

/** At most `max` bytes at `offset`; undefined if the file was removed or truncated meanwhile. */
export function readFrom(disk: Disk, stretches: readonly Stretch[], offset: number, max: number): TapeRead | undefined {
  const first = stretches[0];
  if (first === undefined || offset >= endOf(stretches)) return { kind: "end", end: endOf(stretches) };
  if (offset < first.start) return { kind: "dropped", from: offset, to: first.start };
  const index = stretches.findLastIndex((stretch) => stretch.start <= offset);
  const stretch = stretches[index] ?? first;
  const next = stretches[index + 1]?.start ?? Number.POSITIVE_INFINITY;
  const end = Math.min(stretch.start + stretch.size, next);
  if (offset >= end) return { kind: "gap", from: offset, to: next };
  const bytes = readPart(disk, stretch.path, offset - stretch.start, Math.min(max, end - offset));
  return bytes === undefined ? undefined : { kind: "bytes", offset, bytes };
}

function readPart(disk: Disk, path: string, offset: number, length: number): Uint8Array | undefined {
  try {
    const file = openRetrying(disk, path, "read");
    try {
      const bytes = readAll(file, offset, length);
      return bytes.length === 0 && length > 0 ? undefined : bytes;
    } finally {
      file.close();
    }
  } catch (error) {
    if (isFault(error, "ENOENT")) return undefined;
    throw error;
  }
}
