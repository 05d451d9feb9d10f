// A terminal's tape from an offset to its end, part by part, including what is missing in between.

import { TapeReader } from "../../log/tape/reader.ts";
import { type HeldDirectory, tapeDirectory } from "./holder-files.ts";

export type TapePart =
  | { readonly kind: "bytes"; readonly offset: number; readonly bytes: Uint8Array }
  /** `dropped`: the tape is bounded, and these bytes were the oldest. `gap`: they could not be stored. */
  | { readonly kind: "dropped" | "gap"; readonly from: number; readonly to: number };

const PART_BYTES = 1 << 20;

export function tapeOf(place: HeldDirectory): TapeReader {
  return new TapeReader(place.disk, tapeDirectory(place));
}

export function* tapeParts(place: HeldDirectory, from: number): Generator<TapePart> {
  const reader = tapeOf(place);
  for (let offset = from; ; ) {
    const found = reader.read(offset, PART_BYTES);
    if (found.kind === "end") return;
    yield found;
    offset = found.kind === "bytes" ? offset + found.bytes.length : found.to;
  }
}
