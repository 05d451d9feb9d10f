// Reads one segment of the write-ahead log as it lies on disk, whole or harmed, and says what is in it.
// N1. Every frame that passes its checksum is found, also behind a hole, a NUL, or a line that lost its newline.
// N2. What is neither a frame nor empty is reported as a bad stretch, unless it is only the residue that an earlier
//     use of the segment left behind the NUL that ends every batch.
import { claimedGen, decodeFrame, type Frame } from "./frame.ts";

const NEWLINE = 10;
const PAGE = 4096;
const EMPTY_PAGE = new Uint8Array(PAGE);

export type FrameAt = Frame & { readonly start: number; readonly end: number };
export type Stretch = { readonly start: number; readonly end: number };
export type SegmentScan = { readonly frames: readonly FrameAt[]; readonly bad: readonly Stretch[] };

export function scanSegment(bytes: Uint8Array): SegmentScan {
  const frames: FrameAt[] = [];
  const bad: Stretch[] = [];
  let top = 0; // the newest generation seen: lines of older ones are residue and need no checksum
  let at = skipEmpty(bytes, 0);
  while (at < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline < 0 ? bytes.length : newline;
    const frame = decodeFrame(bytes.subarray(at, end), top);
    if (frame !== undefined) {
      frames.push({ ...frame, start: at, end: end + 1 });
      top = frame.gen;
    } else if ((claimedGen(bytes, at) ?? top) >= top) {
      salvage(bytes, { start: at, end }, { frames, bad });
      top = frames.at(-1)?.gen ?? top;
    }
    at = skipEmpty(bytes, end + 1);
  }
  return { frames, bad: bad.filter((stretch) => !isResidue(stretch, bytes, frames)) };
}

/** A harmed line may hide an unharmed one that lost the newline before it (N1). */
function salvage(bytes: Uint8Array, line: Stretch, found: { frames: FrameAt[]; bad: Stretch[] }): void {
  const top = found.frames.at(-1)?.gen ?? 0;
  for (let at = line.start + 1; at < line.end; at++) {
    if (claimedGen(bytes, at) === undefined) continue;
    const frame = decodeFrame(bytes.subarray(at, line.end), top);
    if (frame === undefined) continue;
    found.bad.push({ start: line.start, end: at });
    found.frames.push({ ...frame, start: at, end: line.end + 1 });
    return;
  }
  found.bad.push({ start: line.start, end: Math.min(line.end + 1, bytes.length) });
}

/** N2: behind the last frame of the newest generation, and not touching it. */
function isResidue(stretch: Stretch, bytes: Uint8Array, frames: readonly FrameAt[]): boolean {
  const newest = frames.reduce((top, frame) => Math.max(top, frame.gen), 0);
  const last = frames.findLast((frame) => frame.gen === newest);
  return last !== undefined && stretch.start >= last.end && bytes[last.end] === 0;
}

/** The first byte at or after `at` that is not NUL. */
export function skipEmpty(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] === 0) {
    if (at + PAGE <= bytes.length && Buffer.compare(bytes.subarray(at, at + PAGE), EMPTY_PAGE) === 0) at += PAGE;
    else at++;
  }
  return at;
}
