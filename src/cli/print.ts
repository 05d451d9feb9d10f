// How text reaches a person: messages on stderr, data on stdout.
// T1. Everything passes through `visible` or `visibleLine` (base/visible.ts), even if the output is not a terminal: a
//     pager may show it later.
// T2. On a terminal a line of data takes one row, and a message is broken between words; elsewhere nothing is changed.
import { localTimes } from "../base/local-time.ts";
import type { Refusal } from "../base/result.ts";
import { visible, visibleLine } from "../base/visible.ts";
import type { Console, Output } from "../world/console.ts";
import { foldedFor } from "./fold.ts";

/** Cuts a line to one row, using `widthOf` for its characters; a cut is marked. */
export function fit(line: string, columns: number, widthOf: (text: string) => number): string {
  if (widthOf(line) <= columns) return line;
  let width = 0;
  let kept = "";
  for (const character of line) {
    width += widthOf(character);
    if (width >= columns) break; // One cell is reserved for the mark.
    kept += character;
  }
  return `${kept}…`;
}

/** All of a line, in rows of so many columns. */
export function wrapped(line: string, columns: number, widthOf: (text: string) => number): string[] {
  const rows: string[] = [];
  let [row, width] = ["", 0];
  for (const character of line) {
    const cells = widthOf(character);
    if (width + cells > columns) {
      rows.push(row);
      [row, width] = ["", 0];
    }
    row += character;
    width += cells;
  }
  return [...rows, row];
}

/** Large enough that the calls cost nothing, small enough to see the first lines at once. */
const BLOCK = 1 << 16;

/** Prints lines in blocks. Lines that were added but not flushed are not printed. */
export class Printer {
  readonly #out: Output;
  #lines: string[] = [];
  #length = 0;

  constructor(out: Output) {
    this.#out = out;
  }

  async add(text: string): Promise<void> {
    this.#lines.push(text);
    this.#length += text.length;
    if (this.#length >= BLOCK) await this.flush();
  }

  async flush(): Promise<void> {
    const text = this.#lines.join("");
    this.#lines = [];
    this.#length = 0;
    if (text !== "") await this.#out.write(text);
  }
}

/** Data for a program: one JSON value. */
export async function printJson(console: Console, value: unknown): Promise<void> {
  await console.out.write(`${visibleLine(JSON.stringify(value))}\n`);
}

/** The same for one list, whose rows come a page at a time. */
export class JsonList {
  readonly #out: Output;
  #isOpen = false;

  constructor({ out }: Pick<Console, "out">) {
    this.#out = out;
  }

  async add(rows: readonly unknown[]): Promise<void> {
    const text = rows.map((row) => visibleLine(JSON.stringify(row))).join(",");
    if (text === "") return;
    await this.#out.write(`${this.#isOpen ? "," : "["}${text}`);
    this.#isOpen = true;
  }

  async end(): Promise<void> {
    await this.#out.write(this.#isOpen ? "]\n" : "[]\n");
  }
}

/** A message for a person, never data. */
export async function say(console: Console, text: string): Promise<void> {
  const words = visible(`holdfast: ${localTimes(console, text)}\n`);
  await console.err.write(foldedFor(console.err, console.widthOf, words));
}

export async function printRefusal(console: Console, refusal: Refusal, json: boolean): Promise<void> {
  const { code, message, hint } = refusal;
  if (json) return console.err.write(`${visibleLine(JSON.stringify({ code, message, hint }))}\n`);
  await say(console, `${message}\n  → ${hint}`);
}

/** "1 entry", "2 entries". */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

const UNITS = ["B", "KB", "MB", "GB", "TB"] as const;

export function sizeText(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** step;
  return `${step === 0 ? value : value.toFixed(1)} ${UNITS[step]}`;
}
