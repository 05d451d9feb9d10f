// The cells of a line as they are meant, whatever the emulator's history has left in them. Pure.
// C1. Half of a wide character without its other half shows nothing: it counts as a blank.
// C2. A blank that was erased differs from a space that was printed: lines are wrapped anew by the former. A blank that no erasing
//     leaves, because it is underlined for example, counts as a space.
import type { BufferLine } from "../world/xterm.ts";
import { isErased, type Pen, penOf } from "./pen.ts";

/** `text` is empty for an erased blank. `width`: how many columns it takes; a lone combining character takes one, and is marked. */
export type Cell = { readonly text: string; readonly width: number; readonly lone: boolean; readonly pen: Pen };

export function cellAt(line: BufferLine, x: number): Cell {
  const pen = penOf(line.getFg(x), line.getBg(x), line._extendedAttrs[x]);
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

/** Whether nothing was ever left on it. */
export function isEmptyLine(line: BufferLine): boolean {
  for (let x = 0; x < line.length; x += 1) {
    if (line.hasContent(x) !== 0 || line.getBg(x) !== 0 || line.getFg(x) !== 0) return false;
  }
  return true;
}
