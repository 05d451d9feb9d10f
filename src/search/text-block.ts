// A source as blocks of plain text.
// SO1. A block is a range of positions of its source: offsets of a tape, seqs of a log. What is at a position never
//      changes, unless a power cut took the end of a tape.
// SO2. Positions that are gone, dropped by the tape or trimmed from the log, are passed over.

export type HitKind = "terminal" | "agent" | "prompt" | "run";

/**
 * Where a line of a block is: at which position, and when it came, in milliseconds since the epoch. `seq`: the entry
 * of the log, if positions are others. `attempt`: the number of the attempt that printed it.
 */
export type Place = {
  readonly position: number;
  readonly at: number;
  readonly kind: HitKind;
  readonly seq?: number;
  readonly attempt?: number;
};

export type TextBlock = {
  readonly from: number;
  readonly to: number;
  /** When its first and its last line came. */
  readonly first: number;
  readonly last: number;
  /** Lines, each with a newline behind it. */
  readonly text: Uint8Array;
  /** Of the line that begins here in `text`. */
  placeOf(start: number): Place;
};

/** The text of one source. */
export type SourceText = {
  /** How many positions count as a byte, where sources are compared. */
  readonly unit: number;
  /** From where to where it has text now. */
  range(): { readonly start: number; readonly end: number };
  /** When something was last added to it. */
  changedAt(): number;
  /** The next block at or after `from` that ends at `until` or before; undefined if there is none. */
  block(from: number, until: number): TextBlock | undefined;
  /** A position before which nothing is newer than this time, as far as that is known without reading it all. */
  after(time: number): number;
  /** What it is called, if that is in it. */
  name(): string | null;
  /** A sum of what is before a position, by which a changed end is noticed (SO1). */
  proof(to: number): number;
};

/** Text of a block, as it is in its source. */
export const BLOCK_BYTES = 64 << 10;
