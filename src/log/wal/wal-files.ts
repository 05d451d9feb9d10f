// Reads the write-ahead log's files as they are on disk: for recovery, and for inspection.

import { joinPath } from "../../base/path.ts";
import type { Disk } from "../../world/disk.ts";
import { readWhole } from "../file/file.ts";
import { WAL_DIRECTORY, WAL_ENDING } from "../session/places.ts";
import { decodeFrame, encodeAgain, encodeMark, type Frame, lastOf } from "./frame.ts";
import { type FrameAt, MIN_PAGE, type SegmentScan, type Stretch, scanSegment } from "./segment-scan.ts";
import { foldWal, type WalView } from "./wal-fold.ts";

export type WalFrame = FrameAt & { readonly path: string };
export type WalFile = { readonly path: string; readonly bytes: Uint8Array; readonly scan: SegmentScan };

export type WalContents = { readonly files: readonly WalFile[]; readonly view: WalView<WalFrame> };

/** Bytes that are neither frames nor empty, if they matter: next to something not yet in the session logs. */
export type HarmedStretch = Stretch & {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly kind: "torn" | "damaged";
};

/**
 * Reads the files from the newest on, and stops when everything older is in the
 * session logs: what a file contains is below the first seq of the file that was
 * begun after it. So the cost depends on what is live, not on the size of the log.
 */
export function readWal(disk: Disk, home: string): WalContents {
  const files: WalFile[] = [];
  let drained = 0;
  let newerFirst = Number.POSITIVE_INFINITY;
  for (const { path, head } of newestFirst(disk, joinPath(home, WAL_DIRECTORY))) {
    if (head !== undefined && newerFirst <= drained + 1) break;
    const bytes = readWhole(disk, path);
    if (bytes === undefined) continue;
    const scan = scanSegment(bytes);
    files.push({ path, bytes, scan });
    drained = scan.frames.reduce((top, frame) => Math.max(top, frame.drained), drained);
    if (head !== undefined) newerFirst = head.first;
  }
  return { files, view: foldWal(inWriteOrder(files)) };
}

/** Long enough for the first frame of nearly every file; otherwise the whole file is read. */
const HEAD_BYTES = 4096;

/** Files with an unreadable first line come first: they must be read in any case. */
function newestFirst(disk: Disk, directory: string): { readonly path: string; readonly head: Frame | undefined }[] {
  const names = disk.list(directory).filter((name) => name.endsWith(WAL_ENDING));
  const found = names.map((name) => joinPath(directory, name)).map((path) => ({ path, head: readHead(disk, path) }));
  const gen = (head: Frame | undefined) => head?.gen ?? Number.POSITIVE_INFINITY;
  return found.sort((a, b) => (gen(a.head) === gen(b.head) ? 0 : gen(b.head) - gen(a.head)));
}

function readHead(disk: Disk, path: string): Frame | undefined {
  const bytes = readWhole(disk, path, HEAD_BYTES) ?? new Uint8Array(0);
  const newline = bytes.indexOf(10);
  return newline < 0 ? undefined : decodeFrame(bytes.subarray(0, newline), 0);
}

function inWriteOrder(files: readonly WalFile[]): WalFrame[] {
  const frames = files.flatMap((file) => file.scan.frames.map((frame) => ({ ...frame, path: file.path })));
  return frames.sort((a, b) => a.gen - b.gen || a.start - b.start);
}

/** A mark, so that every older frame above `drained` is dead, then the live frames with a new generation. */
export function anew({ view }: WalContents): Uint8Array {
  const marks = { gen: view.gen + 1, durable: view.end, drained: view.drained };
  return Buffer.concat([encodeMark(marks, view.drained + 1), ...view.live.map((frame) => encodeAgain(marks, frame))]);
}

/** The next unused file name. */
export function nextSegmentPath(disk: Disk, home: string): string {
  const directory = joinPath(home, WAL_DIRECTORY);
  const numbers = disk.list(directory).map((name) => Number.parseInt(name, 10) || 0);
  const number = 1 + numbers.reduce((top, value) => Math.max(top, value), 0);
  return joinPath(directory, `${number.toString().padStart(8, "0")}${WAL_ENDING}`);
}

type Recovered = { readonly recovered: string; readonly report: { readonly torn: readonly string[] } };

/**
 * Which files the next process may reuse, and which ones it no longer needs. A torn one comes first, to be overwritten
 * at once: the next recovery must not report it again, and the removal of a file may be undone by a power cut.
 */
export function segmentPaths(disk: Disk, home: string, segmentBytes: number, { recovered, report }: Recovered) {
  const directory = joinPath(home, WAL_DIRECTORY);
  const paths = disk
    .list(directory)
    .filter((name) => name.endsWith(WAL_ENDING))
    .map((name) => joinPath(directory, name));
  const usable = paths.filter((path) => path !== recovered && disk.stat(path)?.size === segmentBytes);
  const isTorn = (path: string) => Number(report.torn.includes(path));
  const reusable = usable.sort((a, b) => isTorn(b) - isTorn(a)).slice(0, KEPT_SEGMENTS);
  return { reusable, obsolete: paths.filter((path) => !reusable.includes(path)) };
}

/** A quiet log needs one to write to and a next one. A burst may have left more. */
const KEPT_SEGMENTS = 2;

export function harmedStretches(contents: WalContents): HarmedStretch[] {
  return contents.files.flatMap((file) =>
    file.scan.bad
      .filter((stretch) => matters(stretch, file.scan, contents.view.drained))
      .map((stretch) => ({
        ...stretch,
        path: file.path,
        bytes: file.bytes.subarray(stretch.start, stretch.end),
        kind: judge(stretch, file, contents.view),
      })),
  );
}

/**
 * Nothing can be missing if all that comes before the next frame is in the session logs. But at the start of a segment
 * whose frames are all there, the next frame may be residue, and the stretch the first batch of a new use.
 */
function matters(stretch: Stretch, scan: SegmentScan, drained: number): boolean {
  const before = scan.frames.findLast((frame) => frame.end <= stretch.start);
  const after = scan.frames.find((frame) => frame.start >= stretch.end);
  if (after === undefined) return before === undefined || lastOf(before) >= drained;
  if (before === undefined && lastOf(after) <= drained) return stretch.start < MIN_PAGE;
  return after.first > drained + 1;
}

/** It is damage if an acknowledged seq is missing and this stretch could have contained it. */
function judge(stretch: Stretch, file: WalFile, view: WalView<WalFrame>): "torn" | "damaged" {
  const after = file.scan.frames.find((frame) => frame.start >= stretch.end);
  const before = file.scan.frames.findLast((frame) => frame.end <= stretch.start);
  const low = before === undefined ? 0 : lastOf(before);
  const high = after === undefined ? Number.POSITIVE_INFINITY : after.first;
  return view.lost.some((range) => range.to > low && range.from < high) ? "damaged" : "torn";
}
