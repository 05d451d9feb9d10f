// What a program printed, as plain text: what a person would look for. `history` shows the lines as they ended
// (core/terminal/plain-text.ts); this keeps what was overwritten as well, and is made for whole blocks at once.
// PT1. Escape sequences and control characters are left out. What moves the cursor to another line ends the line; what
//      moves it to the right is a space. So a text that a program writes in pieces, at several places of its screen, is
//      not found as a whole.
// PT2. Every line knows where its last byte was, so that the screen of that moment can be shown.
// PT3. A sequence that a block begins in the middle of is text: blocks begin after a line, where that is rare.

export type PlainText = {
  /** Lines, each with a newline behind it. None is empty. */
  readonly bytes: Uint8Array;
  /** Of each line: where it begins in `bytes`, and the number of bytes of the output up to its end. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
};

const NEWLINE = 10;
const RETURN = 13;
const TAB = 9;
const BELL = 7;
const ESCAPE = 27;
const SPACE = 32;
const DELETE = 127;
const BRACKET = 0x5b;
const CURSOR_RIGHT = 0x43;
/** Up, down, next and previous line, a place, a row; erasing the screen, other screens. */
const NEW_LINE = new Set([..."ABEFHfdJhl"].map((letter) => letter.charCodeAt(0)));
/** OSC, DCS, SOS, PM and APC: everything up to their end is theirs. */
const STRINGS = new Set([..."]PX^_"].map((letter) => letter.charCodeAt(0)));
/** A title or a link is shorter. What seems longer was no such sequence. */
const MAX_STRING = 4096;

export function plainText(output: Uint8Array): PlainText {
  const lines = new Lines(output.length);
  for (let at = 0; at < output.length; at += 1) {
    const byte = output[at] ?? 0;
    if (byte >= SPACE && byte !== DELETE) lines.add(byte);
    else if (byte === ESCAPE) {
      const { end, means } = sequence(output, at + 1);
      lines.obey(means, at);
      at = end - 1;
    } else lines.obey(byte, at + 1);
  }
  lines.end(output.length);
  return { bytes: lines.bytes.subarray(0, lines.length), starts: lines.starts, ends: lines.ends };
}

class Lines {
  readonly bytes: Uint8Array;
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  length = 0;
  #start = 0;

  constructor(most: number) {
    this.bytes = new Uint8Array(most + 1);
  }

  add(byte: number): void {
    this.bytes[this.length] = byte;
    this.length += 1;
  }

  /** What a control character, or a sequence that means one, does to the text. */
  obey(control: number, at: number): void {
    if (control === NEWLINE || control === RETURN) this.end(at);
    else if (control === TAB || control === SPACE) this.add(SPACE);
  }

  /** `end`: where it ends in the output. */
  end(end: number): void {
    if (this.length === this.#start) return;
    this.add(NEWLINE);
    this.starts.push(this.#start);
    this.ends.push(end);
    this.#start = this.length;
  }
}

type Sequence = { readonly end: number; readonly means: number };

/** PT1: the sequence after an escape, and what it does to the text. */
function sequence(output: Uint8Array, from: number): Sequence {
  const kind = output[from] ?? 0;
  if (kind === BRACKET) return control(output, from + 1);
  if (STRINGS.has(kind)) return { end: stringEnd(output, from + 1), means: 0 };
  let end = from;
  while (isBetween(output[end], 0x20, 0x2f)) end += 1;
  return { end: isBetween(output[end], 0x30, 0x7e) ? end + 1 : end, means: 0 };
}

function control(output: Uint8Array, from: number): Sequence {
  let end = from;
  while (isBetween(output[end], 0x20, 0x3f)) end += 1;
  const last = output[end] ?? 0;
  if (!isBetween(last, 0x40, 0x7e)) return { end, means: 0 };
  const means = NEW_LINE.has(last) ? NEWLINE : last === CURSOR_RIGHT ? SPACE : 0;
  return { end: end + 1, means };
}

function stringEnd(output: Uint8Array, from: number): number {
  const most = Math.min(output.length, from + MAX_STRING);
  for (let at = from; at < most; at += 1) {
    if (output[at] === BELL) return at + 1;
    if (output[at] === ESCAPE) return output[at + 1] === 0x5c ? at + 2 : at;
  }
  return most === output.length ? most : from;
}

function isBetween(byte: number | undefined, least: number, most: number): boolean {
  return byte !== undefined && byte >= least && byte <= most;
}
