// A part of a tape as a sequence of beats: which bytes came how long after the beginning.
// TL1. Time never goes back: if the clock was set back, the bytes after that follow at once.
// TL2. Bytes before the first moment, of which nothing is known, come at the beginning.
import type { Recording } from "./recording.ts";

/** The bytes from `offset` to `end` come `at` milliseconds after the beginning; it was `time` then. */
export type Beat = { readonly at: number; readonly offset: number; readonly end: number; readonly time: number };

/** `maxIdle`: a longer pause counts as so many milliseconds. */
export type Range = { readonly from: number; readonly to: number; readonly maxIdle: number };

export function* beatsOf({ times }: Pick<Recording, "times">, { from, to, maxIdle }: Range): Generator<Beat> {
  let begun = { at: 0, offset: from, time: times.timeAt(from) ?? times.first?.time ?? 0 }; // TL2
  for (const { offset, time } of times.from(from + 1)) {
    if (offset >= to) break;
    yield { ...begun, end: offset };
    const pause = Math.max(0, Math.min(time - begun.time, maxIdle)); // TL1
    begun = { at: begun.at + pause, offset, time };
  }
  if (begun.offset < to) yield { ...begun, end: to };
}
