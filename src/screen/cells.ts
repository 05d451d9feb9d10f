// The cells of a line as they are meant, whatever the emulator's history has left in them. Pure.
// C1. Half of a wide character without its other half shows nothing: it counts as a blank.
// C2. A blank that was erased differs from a space that was printed: lines are wrapped anew by the former. A blank that no erasing
//     leaves, because it is underlined for example, counts as a space.
import type { BufferLine } from "../world/xterm.ts";
import { isErased, isExtended, type Pen, PLAIN, penOf } from "./pen.ts";

/** `text` is empty for an erased blank. `width`: how many columns it takes; a lone combining character takes one, and is marked. */
export type Cell = { readonly text: string; readonly width: number; readonly lone: boolean; readonly pen: Pen };

export function cellAt(line: BufferLine, x: number): Cell {
  return cellWith(line, x, penOf(line.getFg(x), line.getBg(x), line._extendedAttrs[x]));
}

/** For whoever goes along a line: where the pen did not change, it is the same object. */
export class CellReader {
  readonly #line: BufferLine;
  #fg = 0;
  #bg = 0;
  #pen = PLAIN;

  constructor(line: BufferLine) {
    this.#line = line;
  }

  at(x: number): Cell {
    const [fg, bg] = [this.#line.getFg(x), this.#line.getBg(x)];
    if (fg !== this.#fg || bg !== this.#bg || isExtended(bg)) this.#pen = penOf(fg, bg, this.#line._extendedAttrs[x]);
    this.#fg = fg;
    this.#bg = bg;
    return cellWith(this.#line, x, this.#pen);
  }
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

/** How far anything was ever left on it. */
export function usedLength(line: BufferLine): number {
  let end = line.length;
  while (end > 0 && line.hasContent(end - 1) === 0 && line.getBg(end - 1) === 0 && line.getFg(end - 1) === 0) end -= 1;
  return end;
}
