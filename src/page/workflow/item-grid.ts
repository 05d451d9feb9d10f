// The items of a map as small squares: which are in the window, which is under the pointer, and what a key moves to.
// IG1. Only what is in the window is drawn, and only its pieces of states are fetched: a million items cost the same.
import { ITEM_LETTERS } from "../../wire/rpc/workflow.ts";

/** The side of a square with the space behind it, in CSS pixels: large enough for a finger to hit a neighbour of. */
export const CELL = 12;
/** As many as an answer has (MAX_STATES of wire/rpc/listed-run.ts). */
export const PIECE = 4096;

/** The states of items, a letter each, by the number of the first one of a piece. It is replaced, never changed. */
export type ItemPieces = ReadonlyMap<number, string>;

export type GridShape = { readonly columns: number; readonly total: number };

export function shapeOf(width: number, total: number): GridShape {
  return { columns: Math.max(1, Math.floor(width / CELL)), total };
}

export function heightOf({ columns, total }: GridShape): number {
  return Math.ceil(total / columns) * CELL;
}

/** The numbers of the first item in the window, and of the one behind the last. */
export function itemsIn({ columns, total }: GridShape, top: number, height: number): { first: number; end: number } {
  const first = Math.max(0, Math.floor(top / CELL)) * columns;
  return { first: Math.min(first, total), end: Math.min(total, Math.ceil((top + height) / CELL) * columns) };
}

/** The pieces that the items in the window are in. */
export function piecesIn({ first, end }: { readonly first: number; readonly end: number }): number[] {
  const from = first - (first % PIECE);
  return Array.from({ length: Math.ceil((end - from) / PIECE) }, (_, at) => from + at * PIECE);
}

export function letterOf(pieces: ItemPieces, item: number): string | undefined {
  const from = item - (item % PIECE);
  return pieces.get(from)?.[item - from];
}

const WORDS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ITEM_LETTERS).map(([word, letter]) => [letter, word]),
);

export function stateOf(pieces: ItemPieces, item: number): string {
  return WORDS[letterOf(pieces, item) ?? ""] ?? "not known yet";
}

/** Undefined beside the squares. */
export function itemAt({ columns, total }: GridShape, x: number, y: number): number | undefined {
  const column = Math.floor(x / CELL);
  const item = Math.floor(y / CELL) * columns + column;
  return column < 0 || column >= columns || item < 0 || item >= total ? undefined : item;
}

/** Undefined for a key that moves nothing. */
export function movedBy(key: string, item: number, { columns, total }: GridShape): number | undefined {
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[key];
  if (key === "Home") return 0;
  if (key === "End") return total - 1;
  return by === undefined ? undefined : Math.min(total - 1, Math.max(0, item + by));
}

/** How far to scroll so that an item is in the window; where it is if it is there. */
export function scrolledTo(item: number, columns: number, top: number, height: number): number {
  const at = Math.floor(item / columns) * CELL;
  if (at < top) return at;
  return at + CELL > top + height ? at + CELL - height : top;
}
