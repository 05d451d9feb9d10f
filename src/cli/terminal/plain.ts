// A program's terminal output as plain text: the lines a person would have seen, without escapes.
// PL1. Within a line the cursor is followed: overwritten or erased text is not kept. A line that was left no longer
//      changes.
// PL2. Drawing on the alternate screen (editors, pagers) is left out: it has no lines.
// PL3. The result contains only characters and newlines, and the length of a line is limited.
// PL4. Text that starts in the middle may start on the alternate screen: if that is left without having been entered,
//      everything before it is discarded.

const ESC = "\u001b";
/** One of: a control sequence, a string for the terminal, another escape, a control character, text. */
const TOKEN = new RegExp(
  [
    `${ESC}\\[([<=>?!]?)([\\d;:]*)[ -/]*([@-~])`,
    `${ESC}[\\]P_^X][^\u0007${ESC}]*(?:\u0007|${ESC}\\\\)`,
    `${ESC}[ -/]*[0-Z\\\\a-~]`,
    "([\\u0000-\\u001a\\u001c-\\u001f\\u007f-\\u009f])",
    `([^\\u0000-\\u001f\\u007f-\\u009f]+)`,
  ].join("|"),
  "y",
);
/** PL3: a longer unfinished sequence is treated as text, and a longer line is split. */
const MAX_SEQUENCE = 64 << 10;
const MAX_LINE = 64 << 10;
const TAB = 8;
const ALTERNATE = ["47", "1047", "1049"];

export class PlainText {
  readonly #decoder = new TextDecoder();
  #rest = "";
  #cells: string[] = [];
  #at = 0;
  #alternate = false;
  #lines: string[] = [];
  #forget: (() => void) | undefined;

  /** `forget`: for text that starts in the middle; called if the lines so far must be discarded (PL4). */
  constructor(forget?: () => void) {
    this.#forget = forget;
  }

  /** Returns the lines that these bytes complete. */
  push(bytes: Uint8Array): string[] {
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

  #edit(kind: string, numbers: string, count: number): void {
    if (kind === "K") this.#erase(numbers);
    else if (kind === "P") this.#cells.splice(this.#at, count);
    else if (kind === "X") this.#cells.fill(" ", this.#at, this.#at + count);
    else if (kind === "@") this.#cells.splice(this.#at, 0, ...Array<string>(Math.min(count, MAX_LINE)).fill(" "));
  }

  #erase(numbers: string): void {
    if (numbers === "" || numbers === "0") this.#cells.length = Math.min(this.#cells.length, this.#at);
    else if (numbers === "1") this.#cells.fill(" ", 0, this.#at + 1);
    else this.#cells = [];
  }

  #move(to: number): void {
    this.#at = Math.min(Math.max(0, to), MAX_LINE - 1);
  }

  /** The cursor moved to another line: this one is left as it is (PL1). */
  #elsewhere(): void {
    if (this.last !== "") this.#newline();
    this.#at = 0;
  }
}
