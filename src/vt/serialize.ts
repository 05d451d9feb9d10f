// A screen as text: printed on a fresh terminal of the same size, it gives the same screen, in the same modes.
// Z1. The order is: scrollback, visible lines, surroundings (tabs, scroll region, saved cursor), modes, and finally the
//     cursor and its pen. If the alternate screen is on, the whole normal one comes first.
// Z2. What was printed last is printed last: a terminal remembers it, for a full line and for a combining character.
// Z3. Only sequences that every terminal understands or safely ignores: the same text is shown on people's own
//     terminals.
import { SCROLLBACK_BYTES } from "../core/terminal/screen.ts";
import type { BufferLine, ScreenBuffer } from "../world/xterm.ts";
import { cellAt } from "./cells.ts";
import { charsetName } from "./charsets.ts";
import type { Emulator } from "./emulator.ts";
import { keptRow } from "./kept-rows.ts";
import { quietModes } from "./modes.ts";
import { currentPen, type Pen, PLAIN, samePen, savedPen } from "./pen.ts";
import { APART, between, type Links, penChange, type RowText } from "./rows.ts";

const CSI = "\u001b[";
const SAVE = "\u001b7";
const RESTORE = "\u001b8";
const DESIGNATORS = ["(", ")", "*", "+"];
const SHIFTS = ["\u000f", "\u000e", "\u001bn", "\u001bo"];
const TAB_WIDTH = 8;

export function serialize(emulator: Emulator, maxBytes: number = SCROLLBACK_BYTES): string {
  return serialized(emulator, maxBytes).vt;
}

/** `behind`: how much of it comes before the visible screen. */
export type Serialized = { readonly vt: string; readonly behind: number };

export function serialized(emulator: Emulator, maxBytes: number): Serialized {
  const { xterm, extras } = emulator;
  const links: Links = (link) => xterm.link(link);
  const { normal, alternate, active } = xterm;
  const hasAlternate = active === alternate;
  const first = hasAlternate ? "" : elsewhere(savedCursor(alternate, links));
  const { behind, visible } = lines(normal, emulator, maxBytes);
  const parts = [
    first,
    behind,
    visible,
    hasAlternate ? `${surroundings(normal, emulator)}${place(normal.x, normal.y)}${CSI}?1047h${CSI}2J${CSI}H` : "",
    hasAlternate ? lines(alternate, emulator, 0).visible : "",
    surroundings(active, emulator),
    charsets(emulator),
    titles(emulator),
    extras.text,
    ...quietModes(xterm).map(({ set }) => set),
    xterm.modes.origin ? `${CSI}?6h` : "",
    cursor(emulator, links),
  ]; // Z1
  return { vt: parts.join(""), behind: first.length + behind.length };
}

/** Done on the alternate screen, which forgets everything else when it is left. */
function elsewhere(text: string): string {
  return text === "" ? "" : `${CSI}?1047h${text}${CSI}?1047l${CSI}H`;
}

/** From the last line up, so that each line knows how it continues; scrollback is included as long as there is room. */
function lines(buffer: ScreenBuffer, { xterm }: Emulator, maxBytes: number): Lines {
  const links: Links = (link) => xterm.link(link);
  const rows: { readonly line: BufferLine; readonly row: RowText }[] = [];
  let room = maxBytes;
  let whole = 0;
  for (let y = buffer.ybase + xterm.rows - 1; y >= 0; y -= 1) {
    const line = buffer.lines.get(y);
    if (line === undefined) continue;
    const under = rows.at(-1)?.line;
    const row = keptRow(line, links, under?.isWrapped === true ? under : undefined);
    const isBehind = y < buffer.ybase;
    if (isBehind) room -= row.bytes + LINE_END;
    if (room < 0) break;
    rows.push({ line, row });
    // A wrapped line in the scrollback is included completely or not at all.
    if (!isBehind || !line.isWrapped) whole = rows.length;
  }
  return joined(rows.slice(0, whole).reverse(), xterm.rows);
}

const LINE_END = 2;

type Lines = { readonly behind: string; readonly visible: string };

/** The last `seen` of them are visible. */
function joined(rows: readonly { readonly line: BufferLine; readonly row: RowText }[], seen: number): Lines {
  let [behind, visible] = ["", ""];
  for (const [at, { line, row }] of rows.entries()) {
    const above = rows[at - 1];
    const end = above === undefined ? "" : between(above.line, above.row, row, line.isWrapped);
    if (at < rows.length - seen) behind += end + row.text;
    else if (at === rows.length - seen) [behind, visible] = [behind + end, row.text];
    else visible += end + row.text;
  }
  return { behind, visible };
}

/** Z1. Afterwards the cursor is anywhere, and the pen is plain. */
function surroundings(buffer: ScreenBuffer, { xterm }: Emulator): string {
  const { scrollTop, scrollBottom } = buffer;
  const whole = scrollTop === 0 && scrollBottom === xterm.rows - 1;
  const region = whole ? "" : `${CSI}${scrollTop + 1};${scrollBottom + 1}r`;
  return `${tabs(buffer, xterm.cols)}${region}${savedCursor(buffer, (link) => xterm.link(link))}`;
}

function tabs({ tabs: stops }: ScreenBuffer, cols: number): string {
  const columns = Array.from({ length: cols }, (_, x) => x);
  if (columns.every((x) => (stops[x] === true) === (x % TAB_WIDTH === 0))) return "";
  const set = columns.filter((x) => stops[x] === true).map((x) => `${CSI}${x + 1}G\u001bH`);
  return `${CSI}3g${set.join("")}`;
}

function savedCursor(buffer: ScreenBuffer, links: Links): string {
  const pen = savedPen(buffer.savedCurAttrData);
  const [x, y] = [buffer.savedX, Math.max(0, buffer.savedY - buffer.ybase)];
  const charset = buffer.savedCharset;
  if (x === 0 && y === 0 && samePen(pen, PLAIN) && charset === undefined) return "";
  const [use, leave] = charset === undefined ? ["", ""] : [`\u001b(${charsetName(charset)}`, "\u001b(B"];
  return `${place(x, y)}${penChange(PLAIN, pen, links)}${use}${SAVE}${leave}${penChange(pen, PLAIN, links)}`;
}

const place = (x: number, y: number): string => `${CSI}${y + 1};${x + 1}H`;

/**
 * Restoring a cursor restores its active character set, but not the slot it came from: repeating the same steps does.
 */
function charsets({ xterm }: Emulator): string {
  const { active, level, sets } = xterm.charsets;
  const designated = DESIGNATORS.map((by, at) => (sets[at] === undefined ? "" : `\u001b${by}${charsetName(sets[at])}`));
  const shifted = level === 0 ? "" : (SHIFTS[level] ?? "");
  const restored = active !== sets[level] && active === xterm.active.savedCharset ? `${RESTORE}${CSI}m` : "";
  return `${designated.join("")}${shifted}${restored}`;
}

function titles({ xterm }: Emulator): string {
  const { title, icon, titles: under, icons: iconsUnder } = xterm.titles;
  const osc = (which: number, text: string) => `\u001b]${which};${text}\u001b\\`;
  return [
    ...under.map((text) => `${osc(2, text)}${CSI}22;2t`),
    ...iconsUnder.map((text) => `${osc(1, text)}${CSI}22;1t`),
    title === "" && under.length === 0 ? "" : osc(2, title),
    icon === "" && iconsUnder.length === 0 ? "" : osc(1, icon),
  ].join("");
}

function cursor({ xterm }: Emulator, links: Links): string {
  const { active: buffer, modes, cols } = xterm;
  const pen = currentPen(xterm.pen);
  const y = modes.origin ? buffer.y - buffer.scrollTop : buffer.y;
  const insert = modes.insert ? `${CSI}4h` : "";
  const last = lastPrinted(buffer);
  if (last === undefined || (!xterm.printedLast && buffer.x < cols))
    return `${place(buffer.x, y)}${penChange(PLAIN, pen, links)}${insert}`;
  const there = place(last.x, y);
  if (!xterm.printedLast || !samePen(last.pen, visible(pen)))
    return `${there}${penChange(PLAIN, last.pen, links)}${last.text}${APART}${penChange(last.pen, pen, links)}${insert}`;
  const room = modes.insert ? `${CSI}${buffer.x - last.x}P` : "";
  return `${insert}${there}${penChange(PLAIN, pen, links)}${room}${last.text}`; // Z2
}

/** A cell has no attributes outside its words if they are not visible. */
function visible(pen: Pen): Pen {
  return pen.ext >> 26 === 0 && pen.link === 0 ? { ...pen, ext: 0 } : pen;
}

/** The character before the cursor. */
function lastPrinted(buffer: ScreenBuffer) {
  const line = buffer.lines.get(buffer.ybase + buffer.y);
  if (line === undefined || buffer.x === 0) return undefined;
  const isHalf = buffer.x > 1 && line.getWidth(buffer.x - 1) === 0 && line.hasContent(buffer.x - 1) === 0;
  const x = isHalf ? buffer.x - 2 : buffer.x - 1;
  const { text, pen } = cellAt(line, x);
  return { x, pen, text: text === "" ? " " : text };
}
