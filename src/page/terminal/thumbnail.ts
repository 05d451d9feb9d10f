// A small live picture of a terminal: its cells on a canvas. The terminal behind it is never opened in the document,
// because browsers allow only a few accelerated canvases, and elements for every cell would be slow.
// TN1. It is drawn at most twice a second, only if something changed, and only while it can be seen.
// TN2. While it cannot be seen, it has no connection.

import { effect } from "@preact/signals";
import type { IBufferLine, Terminal } from "@xterm/xterm";
import { after } from "../browser.ts";
import { whenUp } from "../state/session.ts";
import { type CellColours, coloursOf } from "./cell-colours.ts";
import { FONT, newSession, newTerminal } from "./emulator.ts";
import type { TerminalSession } from "./terminal-session.ts";
import { theme } from "./theme.ts";

/** TN1 */
const FRAME_MS = 500;
/** For screens with more pixels than CSS has. */
const SHARPNESS = 2;
/** How wide a character is, for its height; of most fonts with one width. */
const SLIM = 0.6;
const LINE = 1.25;

export class Thumbnail {
  readonly #canvas: HTMLCanvasElement;
  readonly #id: string;
  readonly #watch: IntersectionObserver;
  readonly #unthemed: () => void;
  #terminal: Terminal | undefined;
  #session: TerminalSession | undefined;
  #unwatch: (() => void) | undefined;
  #frame: (() => void) | undefined;
  #isSeen = false;

  constructor(canvas: HTMLCanvasElement, id: string) {
    this.#canvas = canvas;
    this.#id = id;
    this.#watch = new IntersectionObserver((entries) => this.#seen(entries.at(-1)?.isIntersecting === true));
    this.#watch.observe(canvas);
    this.#unthemed = effect(() => void (theme.value && this.#changed()));
  }

  close(): void {
    this.#watch.disconnect();
    this.#unthemed();
    this.#seen(false);
    this.#terminal?.dispose();
  }

  #seen(isSeen: boolean): void {
    if (isSeen === this.#isSeen) return;
    this.#isSeen = isSeen;
    if (isSeen) void this.#begin();
    else this.#end();
  }

  async #begin(): Promise<void> {
    const terminal = await newTerminal({ scrollback: 0 });
    if (!this.#isSeen) return terminal.dispose();
    this.#terminal?.dispose();
    this.#terminal = terminal;
    terminal.onWriteParsed(() => this.#changed());
    terminal.onResize(() => this.#changed());
    const session = newSession(terminal, { id: this.#id, readOnly: true }, () => undefined);
    this.#session = session;
    this.#unwatch = whenUp(() => session.open());
  }

  /** TN2. The last picture stays. */
  #end(): void {
    this.#unwatch?.();
    this.#session?.close();
    this.#session = undefined;
    this.#frame?.();
    this.#frame = undefined;
  }

  /** TN1. The first change is drawn at once. */
  #changed(): void {
    if (!this.#isSeen || this.#frame !== undefined || this.#terminal === undefined) return;
    const draw = () => {
      this.#frame = undefined;
      if (!document.hidden) this.#draw();
    };
    this.#frame = after(FRAME_MS, draw);
  }

  #draw(): void {
    const context = this.#canvas.getContext("2d");
    const terminal = this.#terminal;
    if (context === null || terminal === undefined) return;
    const { cols, rows, buffer } = terminal;
    const width = Math.round(this.#canvas.clientWidth * SHARPNESS);
    const cell = { width: width / cols, height: (width / cols / SLIM) * LINE };
    // The picture has the room that its place in the grid has: the end of the screen is where things happen.
    const height = Math.round(this.#canvas.clientHeight * SHARPNESS);
    const shown = Math.min(rows, Math.ceil(height / cell.height));
    const last = Math.max(shown, buffer.active.cursorY + 1);
    if (this.#canvas.width !== width) this.#canvas.width = width;
    if (this.#canvas.height !== height) this.#canvas.height = height;
    context.fillStyle = theme.value.background ?? "#ffffff";
    context.fillRect(0, 0, width, height);
    context.font = `${cell.width / SLIM}px ${FONT}`;
    context.textBaseline = "middle";
    for (let row = 0; row < shown; row += 1) {
      const line = buffer.active.getLine(buffer.active.baseY + Math.min(rows, last) - shown + row);
      if (line !== undefined) drawLine(context, line, cell, row);
    }
  }
}

type CellSize = { readonly width: number; readonly height: number };

/** Cells of the same colours are drawn together. */
function drawLine(context: CanvasRenderingContext2D, line: IBufferLine, size: CellSize, row: number): void {
  let run: { from: number; text: string; colours: CellColours } | undefined;
  for (let column = 0; column < line.length; column += 1) {
    const cell = line.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const colours = coloursOf(cell, theme.value);
    if (run !== undefined && (run.colours.fg !== colours.fg || run.colours.bg !== colours.bg)) {
      drawRun(context, run, size, row);
      run = undefined;
    }
    run ??= { from: column, text: "", colours };
    run.text += cell.getChars() || " ";
  }
  if (run !== undefined) drawRun(context, run, size, row);
}

type Run = { readonly from: number; readonly text: string; readonly colours: CellColours };

function drawRun(context: CanvasRenderingContext2D, { from, text, colours }: Run, size: CellSize, row: number): void {
  const [x, y, width] = [from * size.width, row * size.height, text.length * size.width];
  if (colours.bg !== theme.value.background) {
    context.fillStyle = colours.bg;
    context.fillRect(x, y, Math.ceil(width), Math.ceil(size.height));
  }
  if (text.trim() === "") return;
  context.fillStyle = colours.fg;
  context.fillText(text, x, y + size.height / 2);
}
