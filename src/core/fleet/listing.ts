// Which rows of a home its listing has (wire/fleet/listing.ts): as many as there is room for. Pure.
// LS1. What goes on comes before what has ended, and of each the newest first; the order is kept.
// LS2. Every row that is left out is counted.

/** A person reads no more of one home, and a thousand homes are read at once. */
export const MAX_ROWS = 200;
/** Of one list, as JSON, in characters. */
export const MAX_LENGTH = 128 << 10;

export type Bounded<T> = { readonly rows: readonly T[]; readonly more: number };

/** `rows`: the oldest first. */
export function bounded<T>(rows: readonly T[], isOver: (row: T) => boolean): Bounded<T> {
  const newest = rows.map((row, at) => ({ row, at })).toReversed();
  const wanted = [...newest.filter(({ row }) => !isOver(row)), ...newest.filter(({ row }) => isOver(row))]; // LS1
  let length = 0;
  const kept = new Set<number>();
  for (const { row, at } of wanted) {
    if (kept.size >= MAX_ROWS) break;
    const its = JSON.stringify(row).length + 1;
    if (length + its > MAX_LENGTH) continue;
    length += its;
    kept.add(at);
  }
  return { rows: rows.filter((_, at) => kept.has(at)), more: rows.length - kept.size }; // LS2
}
