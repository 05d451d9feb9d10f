// Scans one segment of the write-ahead log as it is on disk, whole or corrupt.
// N1. Every frame that passes its checksum and is not yet drained is found, even behind a hole, a NUL, or a line that
//     lost its newline.
// N2. Bytes that are neither a frame nor empty are reported as a bad stretch, unless they are only residue that an
//     earlier use of the segment left behind the NUL that ends every batch.
// N3. Lines that claim to be of an older generation, or already drained, are skipped without a checksum: nothing in
//     them matters, and a segment is full of them. But the line behind the last frame, and a line before it that the
//     next one does not continue, may be an acknowledged one, now corrupt, or hide one: they need a good checksum.
import { type Claim, decodeFrame, type Frame, peekFrame } from "./frame.ts";

const NEWLINE = 10;
const PAGE = 4096;
/** Every batch ends in zeros up to a multiple of its page, which is a multiple of this. */
export const MIN_PAGE = 256;
const EMPTY_PAGE = new Uint8Array(PAGE);

export type FrameAt = Frame & { readonly start: number; readonly end: number };
export type Stretch = { readonly start: number; readonly end: number };
export type SegmentScan = { readonly frames: readonly FrameAt[]; readonly bad: readonly Stretch[] };

type FramesFound = { readonly frames: FrameAt[]; readonly bad: Stretch[] };

export function scanSegment(bytes: Uint8Array): SegmentScan {
  const starts = lineStarts(bytes);
  const top = firstFrame(bytes, starts)?.gen ?? 0;
  const last = lastFrame(bytes, starts, top);
  const drained = last?.drained ?? 0;
  const found: FramesFound = { frames: [], bad: [] };
  const claims = starts.map((start) => peekFrame(bytes, start));
  for (const [at, start] of starts.entries()) {
    const claim = claims[at];
    const old = claim !== undefined && (claim.gen < top || claim.last <= drained); // N3
    const breaks = start < (last?.start ?? 0) && !continues(claims[at + 1], claim);
    if (!old || start === last?.start || isNext(start, last) || (breaks && isHarmed(bytes, start)))
      take(bytes, { start, end: lineEnd(bytes, start) }, top, found);
  }
  const harmed = found.bad.filter((stretch) => !isResidue(stretch, bytes, found.frames));
  return { frames: found.frames, bad: joined(harmed, bytes) };
}

/** Neighbours with nothing but NULs between them are one piece of damage: noise is full of newlines. */
function joined(stretches: readonly Stretch[], bytes: Uint8Array): Stretch[] {
  const pieces: Stretch[] = [];
  for (const stretch of stretches) {
    const before = pieces.at(-1);
    const touches = before !== undefined && skipEmpty(bytes, before.end) >= stretch.start;
    if (touches) pieces[pieces.length - 1] = { start: before.start, end: stretch.end };
    else pieces.push(stretch);
  }
  return pieces;
}

/** Behind the last frame, where the next one would begin, a line's claim to be old is not trusted. */
function isNext(start: number, last: FrameAt | undefined): boolean {
  return last !== undefined && start >= last.end && start < paddedEnd(last);
}

/** The seqs of a segment's lines follow each other without a gap; a line that lost its newline hides the next one. */
function continues(next: Claim | undefined, claim: Claim | undefined): boolean {
  return next !== undefined && claim !== undefined && next.gen === claim.gen && next.first === claim.last + 1;
}

function isHarmed(bytes: Uint8Array, start: number): boolean {
  return decodeFrame(bytes.subarray(start, lineEnd(bytes, start)), 0) === undefined;
}

/** Where residue of an earlier use may begin. */
function paddedEnd({ end }: FrameAt): number {
  return (Math.floor(end / MIN_PAGE) + 1) * MIN_PAGE;
}

/** Where lines begin; runs of NULs are skipped (N1). */
function lineStarts(bytes: Uint8Array): number[] {
  const starts: number[] = [];
  for (let at = skipEmpty(bytes, 0); at < bytes.length; at = skipEmpty(bytes, lineEnd(bytes, at) + 1)) starts.push(at);
  return starts;
}

function lineEnd(bytes: Uint8Array, start: number): number {
  const newline = bytes.indexOf(NEWLINE, start);
  return newline < 0 ? bytes.length : newline;
}

/** The first whole frame. It has the segment's generation, since a segment is written from its start. */
function firstFrame(bytes: Uint8Array, starts: readonly number[]): Frame | undefined {
  for (const start of starts) {
    const frame = decodeFrame(bytes.subarray(start, lineEnd(bytes, start)), 0);
    if (frame !== undefined) return frame;
  }
  return undefined;
}

/** The last whole frame of the segment's generation, or of a newer one: it knows best what is drained. */
function lastFrame(bytes: Uint8Array, starts: readonly number[], top: number): FrameAt | undefined {
  for (let at = starts.length - 1; at >= 0; at -= 1) {
    const start = starts[at] ?? 0;
    if ((peekFrame(bytes, start)?.gen ?? -1) < top) continue;
    const end = lineEnd(bytes, start);
    const frame = decodeFrame(bytes.subarray(start, end), top);
    if (frame !== undefined) return { ...frame, start, end: end + 1 };
  }
  return undefined;
}

/** Takes a whole frame, or a corrupt line, which may hide a whole frame that lost the newline before it (N1). */
function take(bytes: Uint8Array, line: Stretch, top: number, found: FramesFound): void {
  for (let at = line.start; at < line.end; at += 1) {
    if (peekFrame(bytes, at) === undefined) continue;
    const frame = decodeFrame(bytes.subarray(at, line.end), top);
    if (frame === undefined) continue;
    if (at > line.start) found.bad.push({ start: line.start, end: at });
    found.frames.push({ ...frame, start: at, end: line.end + 1 });
    return;
  }
  found.bad.push({ start: line.start, end: Math.min(line.end + 1, bytes.length) });
}

/** N2: behind the last frame of the newest generation, and not touching it. */
function isResidue(stretch: Stretch, bytes: Uint8Array, frames: readonly FrameAt[]): boolean {
  const newest = frames.reduce((top, frame) => Math.max(top, frame.gen), 0);
  const last = frames.findLast((frame) => frame.gen === newest);
  return last !== undefined && stretch.start >= paddedEnd(last) && bytes[last.end] === 0;
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
