// Formats rows of cells as lines: the cells of a column have the same width, the last column needs no padding.
// TB1. In a window no line is longer than a row, except commands, which are copied; elsewhere nothing is changed.
import type { Console } from "../world/console.ts";
import { wordWrapped } from "./fold.ts";
import { fit } from "./print.ts";

type Rows = readonly (readonly string[])[];
type WidthOf = (text: string) => number;

/** A column that may be cut, and which part of its cells tells them apart. */
export type Cut = { readonly column: number; readonly keeps: "start" | "end" };

/** Less of a cell is useless. */
const MIN_CELLS = 10;

/** What a table is printed on. */
type Page = Pick<Console, "out" | "widthOf">;

export function pageWidth({ out }: Pick<Console, "out">): number {
  return out.tty ? out.columns() : Number.POSITIVE_INFINITY;
}

/** The lines of a table (TB1). */
export function tableText(page: Page, rows: Rows, cuts: readonly Cut[] = []): string {
  const [width, { widthOf }] = [pageWidth(page), page];
  return columns(narrowed(rows, cuts, width, widthOf), widthOf)
    .map((line) => `${fit(line.trimEnd(), width, widthOf)}\n`)
    .join("");
}

/** A table of which one column has commands: if a row would not fit, all of these go below their rows (TB1). */
export function commandTable(
  page: Page,
  rows: Rows,
  { column, cuts }: { column: number; cuts: readonly Cut[] },
): string {
  const { widthOf } = page;
  if (columns(rows, widthOf).every((line) => widthOf(line) <= pageWidth(page))) return tableText(page, rows);
  const rest = rows.map((row) => row.toSpliced(column, 1));
  const moved = cuts.map((cut) => ({ ...cut, column: cut.column > column ? cut.column - 1 : cut.column }));
  const lines = tableText(page, rest, moved).split("\n");
  const [, ...below] = rows.map((row) => row[column] ?? "");
  const commands = ["", ...below].map((command) => (command === "" ? "" : `${INDENT}${COMMAND}${command}\n`));
  return commands.map((command, at) => `${lines[at]}\n${command}`).join("");
}

/** A table that is printed page by page. TB2. A column is at least as wide as it was on the pages before. */
export class PagedTable {
  readonly #widthOf: WidthOf;
  readonly #head: readonly string[];
  #widest: readonly string[] | undefined;

  constructor({ widthOf }: Pick<Page, "widthOf">, head: readonly string[]) {
    this.#widthOf = widthOf;
    this.#head = head;
  }

  get isEmpty(): boolean {
    return this.#widest === undefined;
  }

  /** The lines of the next page; `format` gets it with a first row, the headings or what stands for them (TB2). */
  add(rows: Rows, format: (rows: Rows) => string): string {
    const text = format([this.#widest ?? this.#head, ...rows]);
    const shown = this.#widest === undefined ? text : text.slice(text.indexOf("\n") + 1);
    this.#widest = [this.#widest ?? this.#head, ...rows].reduce((widest, row) => this.#wider(widest, row));
    return shown;
  }

  #wider(one: readonly string[], other: readonly string[]): readonly string[] {
    const longer = one.length >= other.length ? one : other;
    return longer.map((_, at) => {
      const [a = "", b = ""] = [one[at], other[at]];
      return this.#widthOf(b) > this.#widthOf(a) ? b : a;
    });
  }
}

/** A table with columns that can be spared: if cutting is not enough, they are left out, one after the other. */
export function sparingTable(page: Page, rows: Rows, spared: readonly string[], cuts: readonly string[]): string {
  const [head = []] = rows;
  const there = cuts.filter((name) => head.includes(name));
  const marks = there.map((name) => ({ column: head.indexOf(name), keeps: "start" }) as const);
  const lines = columns(narrowed(rows, marks, pageWidth(page), page.widthOf), page.widthOf);
  const [first, ...others] = spared;
  if (first === undefined || lines.every((line) => page.widthOf(line) <= pageWidth(page)))
    return tableText(page, rows, marks);
  const without = rows.map((row) => row.toSpliced(head.indexOf(first), 1));
  return sparingTable(page, without, others, cuts);
}

/** Marks a command: it is never broken, so that it can be copied. */
const COMMAND = "→ ";

/** Rows whose last cells are sentences or commands. If a line would not fit, all of these go below the first cells. */
export function listText(page: Page, rows: Rows, firsts: number): string {
  const [width, { widthOf }] = [pageWidth(page), page];
  const lines = columns(rows, widthOf);
  if (lines.every((line) => widthOf(line) <= width)) return lines.map((line) => `${line}\n`).join("");
  const heads = columns(
    rows.map((row) => row.slice(0, firsts)),
    widthOf,
  );
  const below = (cell: string) =>
    cell.startsWith(COMMAND) ? [cell] : wordWrapped(cell, width - INDENT.length, widthOf);
  return rows
    .flatMap((row, at) => [
      heads[at] ?? "",
      ...row
        .slice(firsts)
        .flatMap(below)
        .map((line) => `${INDENT}${line}`),
    ])
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}

const INDENT = "  ";

/** Cuts these columns, one after the other, until the lines fit. */
export function narrowed(rows: Rows, cuts: readonly Cut[], width: number, widthOf: WidthOf): Rows {
  if (width === Number.POSITIVE_INFINITY) return rows;
  return cuts.reduce<Rows>((wide, { column, keeps }) => {
    const cells = cellWidths(wide, widthOf);
    const over = longestLine(cells) - width;
    if (over <= 0) return wide;
    const most = Math.max(MIN_CELLS, (columnWidths(cells)[column] ?? 0) - over);
    return wide.map((row) =>
      row.with(
        column,
        part(row[column] ?? "", keeps, (text) => fit(text, most, widthOf)),
      ),
    );
  }, rows);
}

function cellWidths(rows: Rows, widthOf: WidthOf): number[][] {
  return rows.map((row) => row.map((cell) => widthOf(cell)));
}

function columnWidths(cells: readonly (readonly number[])[]): number[] {
  const count = Math.max(0, ...cells.map((row) => row.length));
  return Array.from({ length: count }, (_, at) => Math.max(...cells.map((row) => row[at] ?? 0)));
}

/** As `columns` would make it: the last cell of a row is not padded. */
function longestLine(cells: readonly (readonly number[])[]): number {
  const widths = columnWidths(cells);
  const before = (count: number) => widths.slice(0, count).reduce((sum, width) => sum + width + GAP.length, 0);
  const begins = widths.map((_, at) => before(at));
  return Math.max(0, ...cells.map((row) => (begins[row.length - 1] ?? 0) + (row.at(-1) ?? 0)));
}

function part(text: string, keeps: Cut["keeps"], cut: (text: string) => string): string {
  return keeps === "start" ? cut(text) : backwards(cut(backwards(text)));
}

function backwards(text: string): string {
  return [...text].reverse().join("");
}

const GAP = "  ";

export function columns(rows: Rows, widthOf: WidthOf): string[] {
  const cells = cellWidths(rows, widthOf);
  const widths = columnWidths(cells);
  const padding = (row: number, at: number) => " ".repeat((widths[at] ?? 0) - (cells[row]?.[at] ?? 0));
  return rows.map((row, number) =>
    row.map((cell, at) => (at === row.length - 1 ? cell : cell + padding(number, at))).join(GAP),
  );
}
