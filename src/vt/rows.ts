// Lines of a buffer as text that writes them into rows that are still empty.
// R1. Each row begins and ends with the plain pen and without a link: rows can be left out, and old ones do not colour
//     new ones.
// R2. A wrapped row must wrap again: a terminal wraps when a character follows the last column. If the rows have no
//     suitable character, a temporary one is printed.
import type { BufferLine } from "../world/xterm.ts";
import { type Cell, cellAt, runAt, usedLength } from "./cells.ts";
import { backgroundOf, hasBackground, isProtected, looksSame, type Pen, PLAIN, samePen, sgr } from "./pen.ts";

const CSI = "\u001b[";
const OSC = "\u001b]";
const ST = "\u001b\\";

/** Resolves a link's number. */
export type Links = (link: number) => { readonly id?: string; readonly uri: string } | undefined;

/**
 * `bytes`: the length of its text. `full`: the next character begins a new row. `direct`: its own first character may
 * do that; `breaker`: what does it otherwise.
 */
export type RowText = {
  readonly text: string;
  readonly bytes: number;
  readonly full: boolean;
  readonly direct: boolean;
  readonly breaker: string;
};

/** Changes the pen. */
export function penChange(from: Pen, to: Pen, links: Links): string {
  const link = from.link === to.link ? "" : linkText(to.link, links);
  if (looksSame(from, to)) return link;
  return `${looksSame(from, PLAIN) ? "" : CSI_RESET}${penText(to)}${link}`;
}

/** Does nothing, except that what follows does not join or repeat the character before it. */
export const APART = `${CSI}10m`;
const CSI_RESET = `${CSI}m`;

/** From the plain pen to this one. */
function penText(pen: Pen): string {
  const numbers = sgr(pen);
  return `${numbers === "" ? "" : `${CSI}${numbers}m`}${isProtected(pen) ? `${CSI}1"q` : ""}`;
}

function linkText(link: number, links: Links): string {
  const found = link === 0 ? undefined : links(link);
  return found === undefined ? `${OSC}8;;${ST}` : `${OSC}8;${found.id ? `id=${found.id}` : ""};${found.uri}${ST}`;
}

/** `next` is the row in which it continues, if it does. */
export function rowText(line: BufferLine, links: Links, next?: BufferLine): RowText {
  const writer = new RowWriter(links);
  const pushed = next === undefined ? undefined : pushedOut(line, next);
  const end = Math.min(usedLength(line), pushed === undefined ? line.length : line.length - 1);
  let full = false;
  for (let x = 0; x < end; ) {
    const piece = pieceAt(line, x, end);
    if (piece.text === "") writer.blanks(piece.pen, piece.width);
    else writer.print(piece);
    x += piece.width;
    full = piece.text !== "" && x === line.length;
  }
  const direct = startsDirectly(line);
  const written = writer.finish();
  if (pushed === undefined) return { text: written, bytes: Buffer.byteLength(written), full, direct, breaker: " " };
  const text = `${written}${CSI}${line.length}G`;
  const breaker = `${penChange(PLAIN, pushed.pen, links)}${pushed.text}${penChange(pushed.pen, PLAIN, links)}`;
  return { text, bytes: Buffer.byteLength(text), full: true, direct, breaker };
}

/**
 * The columns from `left` to `right`, for rows that are not as long as the line. Half of a wide character is a blank in
 * its colours.
 */
export function rowPart(line: BufferLine, links: Links, left: number, right: number): string {
  const writer = new RowWriter(links);
  const end = Math.min(usedLength(line), right);
  for (let x = left; x < end; ) {
    const piece = pieceAt(line, x, end);
    if (piece.text === "") writer.blanks(piece.pen, piece.width);
    else writer.print(x + piece.width > end ? { ...piece, text: " " } : piece);
    x += piece.width;
  }
  return writer.finish();
}

/**
 * A wide character that did not fit into the last column began
 * the next row, and left that column blank with its own pen.
 */
function pushedOut(line: BufferLine, next: BufferLine): Cell | undefined {
  const last = line.length - 1;
  if (line.hasContent(last) !== 0 || line.getWidth(last) !== 1) return undefined;
  const wide = cellAt(next, 0);
  return wide.width === 2 && samePen(cellAt(line, last).pen, wide.pen) ? wide : undefined;
}

class RowWriter {
  readonly #links: Links;
  #text = "";
  #pen = PLAIN;
  /** Columns that stay as they are. */
  #skipped = 0;

  constructor(links: Links) {
    this.#links = links;
  }

  blanks(pen: Pen, width: number): void {
    if (hasBackground(pen)) {
      this.#catchUp();
      this.#use(backgroundOf(pen));
      this.#text += `${CSI}${width}X`;
    }
    this.#skipped += width;
  }

  print({ text, lone, pen }: Cell): void {
    this.#catchUp();
    this.#use(pen);
    this.#text += lone ? APART + text : text;
  }

  /** R1 */
  finish(): string {
    this.#use(PLAIN);
    return this.#text;
  }

  #catchUp(): void {
    if (this.#skipped > 0) this.#text += `${CSI}${this.#skipped}C`;
    this.#skipped = 0;
  }

  #use(pen: Pen): void {
    if (pen === this.#pen) return;
    this.#text += penChange(this.#pen, pen, this.#links);
    this.#pen = pen;
  }
}

/** The next piece: as many cells of the same kind as possible. */
function pieceAt(line: BufferLine, x: number, end: number): Cell {
  const run = runAt(line, x, end);
  if (run !== undefined) return run;
  const cell = cellAt(line, x);
  return cell.text === "" ? { ...cell, width: blanksFrom(line, x, end) } : cell;
}

/** The number of consecutive erased blanks with the same background. */
function blanksFrom(line: BufferLine, from: number, end: number): number {
  const bg = line.getBg(from);
  let x = from + 1;
  while (x < end && line.getBg(x) === bg && line.hasContent(x) === 0 && cellAt(line, x).text === "") x += 1;
  return x - from;
}

/** A new row is filled with the pen's background: only a pen without one may begin it. */
function startsDirectly(line: BufferLine): boolean {
  const cell = cellAt(line, 0);
  return cell.text !== "" && !cell.lone && !hasBackground(cell.pen);
}

/** What separates two rows: the end of a line, or what wraps the first into the second (R2). */
export function between(line: BufferLine, row: RowText, next: RowText, goesOn: boolean): string {
  if (!goesOn) return "\r\n";
  if (row.full && next.direct) return "";
  const begun = `${row.breaker}\r${CSI}${line.length}X`; // The second row exists now, and is empty.
  if (row.full) return begun;
  const last = line.length;
  const { pen } = cellAt(line, last - 1);
  const colour = (text: string) => (hasBackground(pen) ? `${CSI}${sgr(backgroundOf(pen))}m${text}${CSI}m` : text);
  return `${CSI}${last}G ${begun}${CSI}A${CSI}${last}G${colour(`${CSI}X`)}${CSI}B\r`;
}
