// A screen in a window of another size, as text for that window: what does not fit is cut off, never wrapped.
// VP1. The window shows a region of the screen, cell by cell. It contains the cursor, and moves no more than needed for
//      that; what the window has besides the screen is empty.
// VP2. Only what has changed since the last frame is drawn. The window must show nothing before the first one.
// VP3. Modes that change what keys send are passed on, unless the keys are not for the program. The mouse is not: its
//      columns and rows would be the window's.
import type { Size } from "../world/children.ts";
import type { Xterm } from "../world/xterm.ts";
import type { Emulator } from "./emulator.ts";
import { quietModes } from "./modes.ts";
import { rowPart } from "./rows.ts";

const CSI = "\u001b[";
/** A terminal that knows it shows a frame only when it is complete. */
const BEGIN = `${CSI}?2026h${CSI}?25l`;
const END = `${CSI}?2026l`;
/** VP3, by their names in modes.ts. */
const PASSED = /^(?:application-|focus$|bracketed-paste$|blink$|cursor=)/;
const PASSED_OFF = `${CSI}?1l\u001b>${CSI}?1004l${CSI}?2004l${CSI}?12l${CSI}0 q`;

export class Viewport {
  readonly #passesModes: boolean;
  #left = 0;
  #top = 0;
  #window: Size = { cols: 0, rows: 0 };
  #rows: readonly string[] = [];
  #modes = "";
  /** Undoes what the modes have set beyond PASSED_OFF. */
  #undo = "";
  #cursor = "";

  constructor(passesModes = true) {
    this.#passesModes = passesModes;
  }

  /** The text that shows the screen in the window; empty if it does already. */
  frame(emulator: Emulator, window: Size): string {
    const { xterm } = emulator;
    const isSame = window.cols === this.#window.cols && window.rows === this.#window.rows;
    this.#window = window;
    this.#follow(xterm);
    const drawn = `${isSame ? "" : `${CSI}2J`}${this.#changedModes(emulator)}${this.#changedRows(xterm, isSame)}`;
    const cursor = this.#cursorIn(xterm);
    if (drawn === "" && cursor === this.#cursor) return ""; // VP2
    this.#cursor = cursor;
    return `${BEGIN}${drawn}${cursor}${END}`;
  }

  /** VP1 */
  #follow({ cols, rows, active }: Xterm): void {
    this.#left = moved(this.#left, Math.min(active.x, cols - 1), this.#window.cols, cols);
    this.#top = moved(this.#top, active.y, this.#window.rows, rows);
  }

  #changedRows(xterm: Xterm, isSame: boolean): string {
    const before = isSame ? this.#rows : [];
    this.#rows = Array.from({ length: this.#window.rows }, (_, y) => this.#rowAt(xterm, y));
    const changed = [...this.#rows.entries()].filter(([y, row]) => row !== (before[y] ?? ""));
    return changed.map(([y, row]) => `${CSI}${y + 1};1H${CSI}2K${row}`).join("");
  }

  #rowAt(xterm: Xterm, y: number): string {
    const line = this.#top + y < xterm.rows ? xterm.active.lines.get(xterm.active.ybase + this.#top + y) : undefined;
    if (line === undefined) return "";
    return rowPart(line, (link) => xterm.link(link), this.#left, this.#left + this.#window.cols);
  }

  /** VP3, and the title. */
  #changedModes({ xterm, extras }: Emulator): string {
    if (!this.#passesModes) return "";
    const passed = quietModes(xterm).filter(({ name }) => PASSED.test(name));
    const title = xterm.titles.title === "" ? "" : `\u001b]2;${xterm.titles.title}\u001b\\`;
    const modes = `${passed.map(({ set }) => set).join("")}${extras.text}${title}`;
    if (modes === this.#modes) return "";
    const change = `${PASSED_OFF}${this.#undo}${modes}`;
    this.#modes = modes;
    this.#undo = extras.undo;
    return change;
  }

  #cursorIn({ active, cols, modes }: Xterm): string {
    const [x, y] = [Math.min(active.x, cols - 1) - this.#left, active.y - this.#top];
    return `${CSI}${y + 1};${x + 1}H${modes.hidden ? "" : `${CSI}?25h`}`;
  }
}

/** The start of a range of `seen` that contains `at`, as near to `start` as it can be, and within `all`. */
function moved(start: number, at: number, seen: number, all: number): number {
  const near = Math.min(Math.max(start, at - seen + 1), at);
  return Math.max(0, Math.min(near, all - seen));
}
