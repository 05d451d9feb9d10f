// A screen in parts, for comparing two screens cell by cell (core/terminal/screen.ts explains the words).
import type { ScreenCell, ScreenCells } from "../core/terminal/screen.ts";
import type { BufferLine, ScreenBuffer } from "../world/xterm.ts";
import { type Cell, cellAt } from "./cells.ts";
import { charsetName } from "./charsets.ts";
import type { Emulator } from "./emulator.ts";
import { quietModes } from "./modes.ts";
import { colourName, currentPen, flagNames, type Pen, savedPen } from "./pen.ts";

export function describe(emulator: Emulator): ScreenCells {
  const { xterm } = emulator;
  const { active: buffer } = xterm;
  return {
    ...emulator.size,
    lines: linesOf(emulator, buffer, buffer.ybase),
    cursor: { x: buffer.x, y: buffer.y, visible: !xterm.modes.hidden },
    modes: modesOf(emulator),
    title: xterm.titles.title,
    alternate: buffer === xterm.alternate,
    behind: xterm.normal.ybase,
  };
}

/** The lines of a buffer from `first` on. */
export function linesOf({ xterm }: Emulator, buffer: ScreenBuffer, first: number): ScreenCell[][] {
  const lines: ScreenCell[][] = [];
  for (let y = first; y < buffer.lines.length; y += 1) {
    const line = buffer.lines.get(y);
    if (line !== undefined) lines.push(cellsOf(line, (link) => xterm.link(link)?.uri));
  }
  return lines;
}

function cellsOf(line: BufferLine, uri: (link: number) => string | undefined): ScreenCell[] {
  const cells: ScreenCell[] = [];
  for (let x = 0; x < line.length; ) {
    const cell = cellAt(line, x);
    cells.push(named(cell, uri));
    for (let half = 1; half < cell.width; half += 1) cells.push({ ...named(cell, uri), ch: "", width: 0 });
    x += cell.width;
  }
  return cells;
}

function named({ text, width, pen }: Cell, uri: (link: number) => string | undefined): ScreenCell {
  return { ch: text, width, ...looks(pen, pen.link === 0 ? undefined : uri(pen.link)) };
}

function looks(pen: Pen, uri: string | undefined) {
  return { fg: colourName(pen.fg), bg: colourName(pen.bg), flags: flagNames(pen, uri) };
}

function modesOf(emulator: Emulator): string[] {
  const { xterm, extras } = emulator;
  const { modes, active } = xterm;
  const whole = active.scrollTop === 0 && active.scrollBottom === xterm.rows - 1;
  return [
    ...quietModes(xterm).map(({ name }) => name),
    ...(modes.origin ? ["origin"] : []),
    ...(modes.insert ? ["insert"] : []),
    ...(whole ? [] : [`region=${active.scrollTop}-${active.scrollBottom}`]),
    `pen=${words(currentPen(xterm.pen), xterm.link(currentPen(xterm.pen).link)?.uri)}`,
    `saved=${saved(active, xterm.cols)}`,
    `charsets=${charsetsOf(emulator)}`,
    `tabs=${tabsOf(active, xterm.cols)}`,
    `extras=${extras.text.replaceAll("\u001b", "^")}`,
    `titles=${JSON.stringify(xterm.titles)}`,
  ];
}

function words(pen: Pen, uri: string | undefined): string {
  const { fg, bg, flags } = looks(pen, uri);
  return [fg, bg, flags].join(",");
}

/** In a full line the saved cursor is beyond the last column; restoring it gives the last column. */
function saved(buffer: ScreenBuffer, cols: number): string {
  const { savedX, savedY, ybase, savedCurAttrData, savedCharset } = buffer;
  const at = [Math.min(savedX, cols - 1), Math.max(0, savedY - ybase)].join(",");
  return `${at},${words(savedPen(savedCurAttrData), undefined)},${charsetName(savedCharset)}`;
}

function charsetsOf({ xterm }: Emulator): string {
  const { active, level, sets } = xterm.charsets;
  return [charsetName(active), level, ...[0, 1, 2, 3].map((at) => charsetName(sets[at]))].join("");
}

function tabsOf({ tabs }: ScreenBuffer, cols: number): string {
  return Array.from({ length: cols }, (_, x) => x)
    .filter((x) => tabs[x] === true)
    .join(",");
}
