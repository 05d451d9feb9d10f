// The screen of an earlier moment in the document. Nothing can be typed into it, and nothing that it would answer goes
// anywhere.
// PW1. A screen is drawn whole, by one write after a reset: no frame in between is empty.
// PW2. The letters are as small as the window needs to show all columns, but never too small to be read.
import { effect } from "@preact/signals";
import type { Terminal } from "@xterm/xterm";
import type { PastScreen } from "../../wire/rpc/rpc.ts";
import { openAddress, readChoice } from "../browser.ts";
import { newTerminal } from "./emulator.ts";
import { linkHandler } from "./links.ts";
import { READER } from "./terminal-view.tsx";
import { theme } from "./theme.ts";

const FONT_SIZE = { most: 13, least: 6 };
/** How wide a letter is, for its size; of most fonts with one width. */
const SLIM = 0.61;
const RESET = "\u001bc";

export class PastWindow {
  readonly #place: HTMLElement;
  readonly #stops: (() => void)[] = [];
  #terminal: Terminal | undefined;
  #screen: PastScreen | undefined;
  #isClosed = false;

  constructor(place: HTMLElement) {
    this.#place = place;
    void this.#open();
  }

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    this.#terminal?.dispose();
  }

  /** PW1. The place says which one is drawn, once it is. */
  draw(screen: PastScreen): void {
    this.#screen = screen;
    const terminal = this.#terminal;
    if (terminal === undefined) return;
    const { cols, rows, vt, until } = screen;
    terminal.write(RESET, () => {
      terminal.options.fontSize = fontSize(this.#place.clientWidth, cols);
      terminal.resize(cols, rows);
    });
    terminal.write(vt, () => {
      this.#place.dataset["until"] = String(until);
    });
  }

  async #open(): Promise<void> {
    const links = linkHandler({ show: () => undefined, open: openAddress });
    const terminal = await newTerminal({ disableStdin: true, scrollback: 0, lineHeight: 1.2, linkHandler: links });
    if (this.#isClosed) return terminal.dispose();
    this.#terminal = terminal;
    terminal.options.screenReaderMode = readChoice(READER) === "on";
    terminal.open(this.#place);
    terminal.attachCustomKeyEventHandler(() => false);
    if (terminal.textarea !== undefined) Object.assign(terminal.textarea, { ariaLabel: "Past screen", tabIndex: -1 });
    const observer = new ResizeObserver(() => this.#screen && this.draw(this.#screen));
    observer.observe(this.#place);
    this.#stops.push(
      () => observer.disconnect(),
      effect(() => {
        terminal.options.theme = theme.value;
      }),
    );
  }
}

/** PW2 */
export function fontSize(width: number, cols: number): number {
  return Math.max(FONT_SIZE.least, Math.min(FONT_SIZE.most, Math.floor(width / (cols * SLIM))));
}
