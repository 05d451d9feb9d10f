// The content of the write-ahead log, derived from the frames found in all its segments. Pure.
// V1. Frames count in the order they were written: by generation, then by position. A later frame that begins at or
//     below the seqs of an earlier one replaces it (F3).
// V2. Entries at or below `drained` are in the session logs for good and are ignored here.
// V3. A missing seq at or below the highest `durable` was once acknowledged: that is damage. It is reported, and what
//     follows it is kept. A missing seq above it is a torn write, or damage to the last batch, which looks the same:
//     the log ends there, and the rest is cut.
import { type Frame, lastOf } from "./frame.ts";

export type SeqRange = { readonly from: number; readonly to: number };

export type WalView<F extends Frame = Frame> = {
  /** Whole frames above `drained`, ascending. */
  readonly live: readonly F[];
  /** Whole frames behind a torn one; not known to be acknowledged. */
  readonly cut: readonly F[];
  /** Acknowledged seqs that are gone. */
  readonly lost: readonly SeqRange[];
  readonly drained: number;
  readonly durable: number;
  /** The last seq of the log. */
  readonly end: number;
  /** The highest generation in use. */
  readonly gen: number;
};

/** `frames` in the order they were written. */
export function foldWal<F extends Frame>(frames: readonly F[]): WalView<F> {
  const run: F[] = [];
  let drained = 0;
  let durable = 0;
  let gen = 0;
  for (const frame of frames) {
    while (run.length > 0 && lastOf(run[run.length - 1] ?? frame) >= frame.first) run.pop(); // V1
    if (frame.count > 0) run.push(frame);
    drained = Math.max(drained, frame.drained);
    durable = Math.max(durable, frame.durable);
    gen = Math.max(gen, frame.gen);
  }
  const above = run.filter((frame) => lastOf(frame) > drained); // V2
  return { ...settle(above, drained, durable), drained, durable, gen };
}

function settle<F extends Frame>(frames: readonly F[], drained: number, durable: number) {
  const lost: SeqRange[] = [];
  let end = drained;
  for (const [index, frame] of frames.entries()) {
    const missing = { from: end + 1, to: frame.first - 1 };
    if (missing.to > durable && missing.to >= missing.from) {
      if (missing.from <= durable) lost.push({ from: missing.from, to: durable });
      return { live: frames.slice(0, index), cut: frames.slice(index), lost, end: Math.max(end, durable) }; // V3
    }
    if (missing.to >= missing.from) lost.push(missing);
    end = lastOf(frame);
  }
  if (end < durable) lost.push({ from: end + 1, to: durable });
  return { live: frames, cut: [], lost, end: Math.max(end, durable) };
}
