// Frames on a stream: a length, a tag, a payload. Only the holder's protocol uses them.
//   u32 length of what follows (big-endian) · u8 tag · payload
// F1. Tags are open: a frame with an unknown one is ignored. Fields are added, never changed.
// F2. A frame over the limit is not in the protocol; never more than one frame is buffered.

import { ByteQueue } from "../../base/byte-queue.ts";

export const MAX_FRAME = 1 << 20;
const HEADER = 5;

export type RawFrame = { readonly tag: number; readonly payload: Uint8Array };

export function encodeFrame(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 1);
  const frame = new Uint8Array(4 + length);
  putU32(frame, 0, length);
  frame[4] = tag;
  let at = HEADER;
  for (const part of parts) {
    frame.set(part, at);
    at += part.length;
  }
  return frame;
}

/** Cuts a stream into frames. */
export class FrameReader {
  readonly #queue = new ByteQueue();

  /** The frames that are complete now, if possible as views of `bytes`; undefined if it is not this protocol (F2). */
  push(bytes: Uint8Array): RawFrame[] | undefined {
    const queue = this.#queue;
    const isFirst = queue.length === 0;
    if (!isFirst) queue.push(bytes);
    const all = isFirst ? bytes : queue.view();
    const numbers = new DataView(all.buffer, all.byteOffset, all.length);
    const frames: RawFrame[] = [];
    let at = 0;
    while (all.length - at >= HEADER) {
      const length = numbers.getUint32(at);
      if (length === 0 || length > MAX_FRAME) return undefined;
      if (all.length - at < 4 + length) break;
      frames.push({ tag: all[at + 4] ?? 0, payload: all.subarray(at + HEADER, at + 4 + length) });
      at += 4 + length;
    }
    if (isFirst) queue.push(all.subarray(at));
    else queue.drop(at);
    return frames;
  }
}

/** Byte by byte: a DataView for a few bytes costs more than they do. */
export function putU32(into: Uint8Array, at: number, number: number): void {
  into[at] = number >>> 24;
  into[at + 1] = number >>> 16;
  into[at + 2] = number >>> 8;
  into[at + 3] = number;
}
