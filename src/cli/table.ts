// Rows of cells as lines: the cells of a column have the same width, the last one needs none.

export function columns(rows: readonly (readonly string[])[], widthOf: (text: string) => number): string[] {
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
