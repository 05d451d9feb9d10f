// A program's terminal output as plain text: the lines a person would have seen, without escapes.
// PL1. Within a line the cursor is followed: overwritten or erased text is not kept. A line that was left no longer
//      changes.
// PL2. Drawing on the alternate screen (editors, pagers) is left out: it has no lines.
// PL3. The result contains only characters and newlines, and the length of a line is limited.
// PL4. Text that starts in the middle may start on the alternate screen: if that is left without having been entered,
//      everything before it is discarded.
// PL5. A few bytes must not cost much work or make much text: a sequence says "65,536 blanks here" in eight of them.
//      Moves end at the width of any real window, and what sequences fill or shift is paid from a credit that grows
//      with the bytes that were read. Without credit they do nothing.

const ESC = "\u001b";
/**
 * One of: a control sequence, a string for the terminal, another escape, a control character, text. As in terminals, a
 * string ends at BEL, ST, CAN, SUB, or at an ESC that begins something else, and a broken-off sequence is dropped.
 */
const TOKEN = new RegExp(
  [
    `${ESC}\\[([<=>?!]?)([\\d;:]*)[ -/]*([@-~])`,
    `${ESC}\\[[ -?]*(?:[@-~]|(?=[^ -~]))`,
    `${ESC}[\\]P_^X][^\u0007\u0018\u001a\u009c${ESC}]*(?:[\u0007\u0018\u001a\u009c]|${ESC}\\\\|(?=${ESC}[^\\\\]))`,
    `${ESC}(?:[ -/]+[0-~]|[0-OQ-WYZ\\\\\`a-~]|[ -/]*(?=[^ -~]))`,
    "([\\u0000-\\u001a\\u001c-\\u001f\\u007f-\\u009f])",
    `([^\\u0000-\\u001f\\u007f-\\u009f]+)`,
  ].join("|"),
  "y",
);
/** PL3: a longer unfinished sequence is treated as text, and a longer line is split. */
const MAX_SEQUENCE = 64 << 10;
const MAX_LINE = 64 << 10;
const TAB = 8;
/** PL5. No real window is wider (MAX_SIDE of vt/emulator.ts). */
const MAX_COLUMN = 2000;
/** PL5. A table with columns set by moves, or a command line that is edited, needs a tenth of it. */
const CREDIT_A_BYTE = 16;
const FIRST_CREDIT = 64 << 10;
/** PL5. Shifting a cell costs much less than making one. */
const SHIFTED_FOR_ONE = 16;
const ALTERNATE = ["47", "1047", "1049"];

export class PlainText {
  readonly #decoder = new TextDecoder();
  #rest = "";
  #cells: string[] = [];
  #at = 0;
  #credit = FIRST_CREDIT;
  #alternate = false;
  #lines: string[] = [];
  #forget: (() => void) | undefined;

  /** `forget`: for text that starts in the middle; called if the lines so far must be discarded (PL4). */
  constructor(forget?: () => void) {
    this.#forget = forget;
  }

  /** Returns the lines that these bytes complete. */
  push(bytes: Uint8Array): string[] {
    this.#credit += bytes.length * CREDIT_A_BYTE; // PL5
    const text = this.#rest + this.#decoder.decode(bytes, { stream: true });
    let from = 0;
    while (from < text.length) {
      TOKEN.lastIndex = from;
      const match = TOKEN.exec(text);
      if (match === null && text.length - from < MAX_SEQUENCE) break; // It may continue in the next bytes.
      if (match !== null) this.#take(match);
      from = match === null ? from + 1 : TOKEN.lastIndex;
    }
    this.#rest = text.slice(from);
    return this.#lines.splice(0);
  }

  /** Bytes are missing here: drops the unfinished part. */
  gap(): void {
    this.#rest = "";
  }

  /** The unfinished line; empty if there is none. */
  get last(): string {
    return this.#cells.join("").trimEnd();
  }

  #take([, mark = "", numbers = "", final, control, text]: RegExpExecArray): void {
    if (final !== undefined) this.#sequence(`${mark}${final}`, numbers);
    else if (control !== undefined) this.#control(control);
    else if (text !== undefined && !this.#alternate) for (const character of text) this.#put(character); // PL2
  }

  #put(character: string): void {
    const blanks = this.#at - this.#cells.length;
    if (blanks > 0 && !this.#pays(blanks)) this.#at = this.#cells.length;
    while (this.#cells.length < this.#at) this.#cells.push(" ");
    this.#cells[this.#at] = character; // PL1
    this.#at += 1;
    if (this.#at >= MAX_LINE) this.#newline(); // PL3
  }

  #control(control: string): void {
    if (this.#alternate) return;
    if (control === "\n" || control === "\v" || control === "\f") this.#newline();
    else if (control === "\r") this.#at = 0;
    else if (control === "\b") this.#at = Math.max(0, this.#at - 1);
    else if (control === "\t") this.#move((Math.floor(this.#at / TAB) + 1) * TAB);
  }

  #newline(): void {
    this.#lines.push(this.last);
    this.#cells = [];
    this.#at = 0;
  }

  #sequence(kind: string, numbers: string): void {
    if (kind === "?h" || kind === "?l") {
      if (numbers.split(";").some((mode) => ALTERNATE.includes(mode))) this.#switch(kind === "?h");
      return;
    }
    if (this.#alternate) return;
    const count = Math.max(1, Number.parseInt(numbers, 10) || 1);
    if (kind === "C") this.#move(this.#at + count);
    else if (kind === "D") this.#move(this.#at - count);
    else if (kind === "G" || kind === "`") this.#move(count - 1);
    else if (["H", "f", "B", "E"].includes(kind)) this.#elsewhere();
    else this.#edit(kind, numbers, count);
  }

  #switch(on: boolean): void {
    if (!on && this.#forget !== undefined) {
      this.#forget(); // PL4
      this.#lines = [];
      this.#cells = [];
      this.#at = 0;
    }
    this.#forget = undefined;
    this.#alternate = on;
  }

  /** PL5 */
  #pays(cells: number): boolean {
    if (cells > this.#credit) return false;
    this.#credit -= cells;
    return true;
  }

  #edit(kind: string, numbers: string, count: number): void {
    if (!["K", "P", "X", "@"].includes(kind) || !this.#pays(this.#cells.length / SHIFTED_FOR_ONE)) return;
    if (kind === "K") this.#erase(numbers);
    else if (kind === "P") this.#cells.splice(this.#at, count);
    else if (kind === "X") this.#cells.fill(" ", this.#at, this.#at + count);
    else this.#insert(Math.min(count, MAX_COLUMN));
  }

  /** Behind the last character there is nothing to shift. */
  #insert(blanks: number): void {
    if (this.#at >= this.#cells.length || !this.#pays(blanks)) return;
    this.#cells.splice(this.#at, 0, ...Array<string>(blanks).fill(" "));
    this.#cells.length = Math.min(this.#cells.length, MAX_LINE);
  }

  #erase(numbers: string): void {
    if (numbers === "" || numbers === "0") this.#cells.length = Math.min(this.#cells.length, this.#at);
    else if (numbers === "1") this.#cells.fill(" ", 0, this.#at + 1);
    else this.#cells = [];
  }

  #move(to: number): void {
    const most = Math.max(this.#cells.length, MAX_COLUMN, this.#at);
    this.#at = Math.min(Math.max(0, to), most, MAX_LINE - 1); // PL5
  }

  /** The cursor moved to another line: this one is left as it is (PL1). */
  #elsewhere(): void {
    if (this.last !== "") this.#newline();
    this.#at = 0;
  }
}
