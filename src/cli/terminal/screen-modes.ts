// Tracks what a program's output has switched on in a terminal, so that it can be switched off when we leave: mouse,
// alternate screen, bracketed paste, cursor, keyboard protocols, the window's colours, titles that it saved.
// MO1. Only what was changed is reset: most resets are harmless, but leaving an alternate screen that was never entered
//      is not.
// MO2. A sequence may be split between chunks; a possible beginning is kept for the next chunk.

/** Modes that are on in a new terminal: autowrap, autorepeat, and a visible cursor. */
const ON_AT_FIRST = new Set([7, 8, 25]);
const ALTERNATE = new Set([47, 1047, 1049]);

/** Longer than any sequence that matters here. */
const LONGEST = 64;

const ESC = "\u001b";
const BELL = "\u0007";
/** The colours of a window's text, background and cursor: `OSC 1x ; colour`, and `OSC 11x`, which resets it. */
const COLOUR = `\\](1[0-2]|11[0-2])(?:;[^?${ESC}${BELL}]*)?(?:${BELL}|(?=${ESC}))`;
const SEQUENCE = new RegExp(`${ESC}(?:\\[([<=>?!]?)([\\d;:]*)([ $'"]?)([@-~])|([=>c])|${COLOUR})`, "g");
const UNFINISHED = new RegExp(`${ESC}(?:\\[[<=>?!]?[\\d;:]*[ $'"]?|\\]1[^${ESC}${BELL}]*${ESC}?|\\])?$`);

/** The window's titles, saved on its own stack: xterm, kitty, VTE, tmux and others have one; the rest ignore it. */
export const PUSH_TITLE = `${ESC}[22;0t`;
export const POP_TITLE = `${ESC}[23;0t`;
/** Terminals keep about ten. */
const MAX_TITLES = 16;

export class ScreenModes {
  readonly #changed = new Set<number>();
  /** Other changes, and the sequence that undoes each. */
  readonly #undo = new Map<string, string>();
  #keyboards = 0;
  /** How many titles the program has pushed on the window's stack. */
  #titles = 0;
  #rest = "";

  /** Output on its way to the terminal. */
  push(bytes: Uint8Array): void {
    const text = this.#rest + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
    for (const match of text.matchAll(SEQUENCE)) this.#take(match);
    const unfinished = UNFINISHED.exec(text.slice(-LONGEST))?.[0];
    this.#rest = unfinished ?? ""; // MO2
  }

  get alternate(): boolean {
    return [...this.#changed].some((mode) => ALTERNATE.has(mode));
  }

  /** The sequences that restore the terminal (MO1). */
  restore(): string {
    const modes = [...this.#changed]
      .sort((a, b) => b - a)
      .map((mode) => `${ESC}[?${mode}${ON_AT_FIRST.has(mode) ? "h" : "l"}`);
    const keyboards = this.#keyboards > 0 ? `${ESC}[<${this.#keyboards}u` : "";
    const titles = POP_TITLE.repeat(this.#titles);
    return [keyboards, ...modes, ...this.#undo.values(), titles, `${ESC}[0m`, `${ESC}(B`, "\u000f"].join("");
  }

  #take([, mark = "", numbers = "", middle = "", final = "", short = "", colour]: RegExpMatchArray): void {
    if (colour !== undefined) this.#colour(colour);
    else if (short === "c") this.#reset();
    else if (short === "=") this.#undo.set("keypad", `${ESC}>`);
    else if (short === ">") this.#undo.delete("keypad");
    else if (mark === "?" && (final === "h" || final === "l") && middle === "") this.#switch(numbers, final === "h");
    else this.#other(`${mark}${middle}${final}`, numbers);
  }

  #colour(which: string): void {
    const [set, isBack] = which.length > 2 ? [which.slice(1), true] : [which, false];
    if (isBack) this.#undo.delete(`colour ${set}`);
    else this.#undo.set(`colour ${set}`, `${ESC}]1${set}${ESC}\\`);
  }

  #switch(numbers: string, on: boolean): void {
    for (const mode of numbers.split(";").map(Number)) {
      if (on === ON_AT_FIRST.has(mode)) this.#changed.delete(mode);
      else this.#changed.add(mode);
    }
  }

  #other(kind: string, numbers: string): void {
    if (kind === "!p") this.#reset();
    else if (kind === ">u") this.#keyboards += 1;
    else if (kind === "<u") this.#keyboards = Math.max(0, this.#keyboards - (Number(numbers) || 1));
    else if (kind === "t" && /^22(?:;|$)/.test(numbers)) this.#titles = Math.min(this.#titles + 1, MAX_TITLES);
    else if (kind === "t" && /^23(?:;|$)/.test(numbers)) this.#titles = Math.max(0, this.#titles - 1);
    else if (kind === ">m" && numbers.startsWith("4")) this.#undo.set("keys", `${ESC}[>4;0m`);
    else if (kind === " q") this.#undo.set("cursor", `${ESC}[0 q`);
    else if (kind === "h" && numbers === "4") this.#undo.set("insert", `${ESC}[4l`);
    else if (kind === "r" && numbers !== "") this.#undo.set("region", `${ESC}7${ESC}[r${ESC}8`);
  }

  #reset(): void {
    this.#changed.clear();
    this.#undo.clear();
    this.#keyboards = 0;
  }
}
