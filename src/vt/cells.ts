// The cells of a line as they are meant, regardless of leftovers of the emulator's history. Pure.
// C1. Half of a wide character without its other half shows nothing: it counts as blank.
// C2. An erased blank differs from a printed space: it matters when lines are wrapped again. A blank that erasing
//     cannot leave, because it is underlined for example, counts as a space.
// C3. Most of every screen is runs of plain characters, which are read together: reading them cell by cell, as separate
//     strings, would be most of the cost of a snapshot.
import type { BufferLine } from "../world/xterm.ts";
import { isErased, isExtended, type Pen, penOf } from "./pen.ts";

/**
 * `text` is empty for an erased blank. `width`: how many columns
 * it takes; a lone combining character takes one, and is marked.
 */
export type Cell = { readonly text: string; readonly width: number; readonly lone: boolean; readonly pen: Pen };

export function cellAt(line: BufferLine, x: number): Cell {
  return cellWith(line, x, penOf(line.getFg(x), line.getBg(x), line._extendedAttrs[x]));
}

/**
 * In `_data`: the number of words of a cell, and the bits of the
 * first word, besides the character, if it takes one column.
 */
export const WORDS = 3;
export const ONE_COLUMN = 1 << 22;
const JOINED = 1 << 21;
/** Above it a character is two units of a string. */
const MAX_UNIT = 0xffff;
/** Longer than any line. */
const MAX_RUN = 4096;
const units = new Uint16Array(MAX_RUN);
const unitBytes = Buffer.from(units.buffer);

/**
 * C3. Reads consecutive cells of one column and one unit, with the same pen that is entirely in its words, as one cell.
 * Returns undefined if the cell at `x` is anything else.
 */
export function runAt(line: BufferLine, x: number, end: number): Cell | undefined {
  const { _data: words } = line;
  const [fg, bg] = [line.getFg(x), line.getBg(x)];
  if (isExtended(bg)) return undefined;
  const most = Math.min(end - x, MAX_RUN);
  let width = 0;
  for (let at = x * WORDS; width < most; at += WORDS) {
    const unit = (words[at] ?? 0) - ONE_COLUMN;
    if (unit <= 0 || unit > MAX_UNIT || words[at + 1] !== fg || words[at + 2] !== bg) break;
    units[width] = unit;
    width += 1;
  }
  if (width === 0) return undefined;
  const text = unitBytes.toString("utf16le", 0, width * units.BYTES_PER_ELEMENT);
  return { text, width, lone: false, pen: penOf(fg, bg, undefined) };
}

/** Whether these cells have no attributes outside their words. */
export function isAllInWords(words: Uint32Array): boolean {
  for (let at = 0; at < words.length; at += WORDS)
    if (((words[at] ?? 0) & JOINED) !== 0 || isExtended(words[at + 2] ?? 0)) return false;
  return true;
}

function cellWith(line: BufferLine, x: number, pen: Pen): Cell {
  const text = line.hasContent(x) === 0 ? "" : line.getString(x);
  const width = line.getWidth(x);
  if (text === "" || (width === 2 && !isRightHalf(line, x + 1))) return blank(pen, text !== ""); // C1
  return width === 0 ? { text, width: 1, lone: true, pen } : { text, width, lone: false, pen };
}

function blank(pen: Pen, printed: boolean): Cell {
  return { text: printed || !isErased(pen) ? " " : "", width: 1, lone: false, pen }; // C2
}

function isRightHalf(line: BufferLine, x: number): boolean {
  return x < line.length && line.getWidth(x) === 0 && line.hasContent(x) === 0;
}

/** The length up to the last cell that was ever used. */
export function usedLength(line: BufferLine): number {
  let end = line.length;
  while (end > 0 && line.hasContent(end - 1) === 0 && line.getBg(end - 1) === 0 && line.getFg(end - 1) === 0) end -= 1;
  return end;
}
