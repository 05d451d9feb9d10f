// Formats rows of cells as lines: the cells of a column have the same width, the last column needs no padding.
import { fit } from "./print.ts";

type Rows = readonly (readonly string[])[];
type WidthOf = (text: string) => number;

/** A column that may be cut, and which part of its cells tells them apart. */
export type Cut = { readonly column: number; readonly keeps: "start" | "end" };

/** Less of a cell is useless. */
const MIN_CELLS = 10;

/** Cuts these columns, one after the other, until the lines fit. */
export function narrowed(rows: Rows, cuts: readonly Cut[], width: number, widthOf: WidthOf): Rows {
  return cuts.reduce<Rows>((wide, { column, keeps }) => {
    const over = Math.max(0, ...columns(wide, widthOf).map(widthOf)) - width;
    if (over <= 0) return wide;
    const widest = Math.max(...wide.map((row) => widthOf(row[column] ?? "")));
    const most = Math.max(MIN_CELLS, widest - over);
    return wide.map((row) =>
      row.with(
        column,
        part(row[column] ?? "", keeps, (text) => fit(text, most, widthOf)),
      ),
    );
  }, rows);
}

function part(text: string, keeps: Cut["keeps"], cut: (text: string) => string): string {
  return keeps === "start" ? cut(text) : backwards(cut(backwards(text)));
}

function backwards(text: string): string {
  return [...text].reverse().join("");
}

export function columns(rows: Rows, widthOf: WidthOf): string[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, at) => Math.max(...rows.map((row) => widthOf(row[at] ?? ""))));
  return rows.map((row) =>
    row
      .map((cell, at) =>
        at === row.length - 1 ? cell : cell + " ".repeat(Math.max(0, (widths[at] ?? 0) - widthOf(cell))),
      )
      .join("  "),
  );
}
