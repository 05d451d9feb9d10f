// What is written to a tape between two lives of a terminal: the
// old program is gone, and the next one finds a clean terminal.
// F1. Everything the old program switched on is switched off; its unfinished output is cut short.
// F2. Nothing visible is lost: if it used the alternate screen, its rows are printed on the normal one with their
//     colours.
// F3. It ends at the beginning of an empty line. Nothing that was there before is overwritten.
import { messageLine, SOFT_RESET } from "../core/terminal/screen.ts";
import { usedLength } from "../vt/cells.ts";
import type { Emulator } from "../vt/emulator.ts";
import { rowText } from "../vt/rows.ts";
import type { ScreenBuffer } from "../world/xterm.ts";

const CSI = "\u001b[";
const CANCEL = "\u0018";
const LEAVE_ALTERNATE = `${CSI}?1047l`;
const TAB_WIDTH = 8;

export function restoreBanner(emulator: Emulator, message: string): string {
  const { xterm, extras, unfinished } = emulator;
  const { normal, alternate, active } = xterm;
  const left = active === alternate ? rowsOf(emulator, alternate) : [];
  return [
    unfinished ? CANCEL : "",
    active === alternate ? LEAVE_ALTERNATE : "",
    SOFT_RESET,
    extras.undo,
    tabs(xterm.cols, normal), // F1
    toEmptyLine(normal, xterm.rows, active === normal ? normal.y : 0),
    ...left.map((row) => `${row}\r\n`), // F2
    messageLine(message),
  ].join("");
}

function rowsOf({ xterm }: Emulator, buffer: ScreenBuffer): string[] {
  const rows: string[] = [];
  let filled = 0;
  for (let y = 0; y < xterm.rows; y += 1) {
    const line = buffer.lines.get(buffer.ybase + y);
    if (line === undefined) break;
    rows.push(rowText(line, (link) => xterm.link(link)).text);
    if (usedLength(line) > 0) filled = rows.length;
  }
  return rows.slice(0, filled);
}

/** F3: after the last row that shows anything, and not before the row of the cursor. */
function toEmptyLine(buffer: ScreenBuffer, rows: number, least: number): string {
  const isEmpty = (y: number) => {
    const line = buffer.lines.get(buffer.ybase + y);
    return line === undefined || usedLength(line) === 0;
  };
  let y = rows - 1;
  while (y > least && isEmpty(y)) y -= 1;
  return `${CSI}${y + 1};1H${isEmpty(y) ? "" : "\r\n"}`;
}

/** Only if they were changed. */
function tabs(cols: number, { tabs: stops }: ScreenBuffer): string {
  const columns = Array.from({ length: cols }, (_, x) => x);
  if (columns.every((x) => (stops[x] === true) === (x % TAB_WIDTH === 0))) return "";
  return `${CSI}3g${columns
    .filter((x) => x % TAB_WIDTH === 0)
    .map((x) => `${CSI}${x + 1}G\u001bH`)
    .join("")}`;
}
