// The part of a tape that is shown again when somebody attaches, made harmless: what a program asked its terminal long ago must not be
// answered now, since the answer would be typed into the program.
// RP1. Questions, bells, notifications and the clipboard are left out; everything that draws stays as it is. What would erase the
//      window's own history is left out too: most of that is not the program's.
// RP2. A replay that begins in the middle begins at the start of a line: a cut sequence would be shown as text.

const ESC = "\u001b";
const END = `(?:\u0007|${ESC}\\\\)`;
const STRING = `[^\u0007${ESC}]*`;

/** The first group is what stays: whole strings, whose bell is their end. */
const PIECES = new RegExp(
  [
    `(${ESC}\\](?!(?:52|9|99|777);)(?:(?!\\?${END})[^\u0007${ESC}])*${END})`, // a title, a link, a colour …
    `${ESC}\\]${STRING}${END}`, // a question, a notification, the clipboard
    `${ESC}P[+$]q${STRING}${ESC}\\\\`, // what is the setting of …
    `${ESC}\\[[>=?]?[\\d;]*c`, // who are you
    `${ESC}\\[\\??[\\d;]*n`, // where is the cursor, are you well
    `${ESC}\\[\\??[\\d;]*\\$p`, // is this mode on
    `${ESC}\\[>\\d*q`, // which version
    `${ESC}\\[\\?u`, // which keyboard
    `${ESC}\\[(?:1[1-9]|2[01])(?:;\\d+)*t`, // how large is the window
    `${ESC}\\[[01]?x`,
    `${ESC}\\[3J`, // forget what was scrolled away
    `${ESC}Z`,
    "[\u0005\u0007]",
  ].join("|"),
  "g",
);

/** `whole`: it begins where the tape begins. */
export function harmless(bytes: Uint8Array, whole: boolean): Uint8Array {
  const from = whole ? 0 : bytes.indexOf(NEWLINE) + 1; // RP2
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, bytes.length - from).toString("latin1");
  return Buffer.from(
    text.replace(PIECES, (_, kept: string | undefined) => kept ?? ""),
    "latin1",
  ); // RP1
}

const NEWLINE = 10;

/** Gathers output up to an offset, so that it can be drawn at once; what comes behind it is passed through. */
export class Replay {
  readonly #until: number;
  readonly #draw: (bytes: Uint8Array) => void;
  #parts: Uint8Array[] | undefined = [];
  #whole = true;

  constructor(until: number, draw: (bytes: Uint8Array) => void) {
    this.#until = until;
    this.#draw = draw;
  }

  /** What was gathered goes on elsewhere: the beginning of it is not there. */
  cut(): void {
    this.#whole = false;
  }

  push(offset: number, bytes: Uint8Array): void {
    if (this.#parts === undefined) {
      this.#draw(bytes);
      return;
    }
    const old = Math.max(0, Math.min(bytes.length, this.#until - offset));
    this.#parts.push(new Uint8Array(bytes.subarray(0, old)));
    if (offset + bytes.length < this.#until) return;
    this.finish();
    if (old < bytes.length) this.#draw(bytes.subarray(old));
  }

  /** Draws what there is. */
  finish(): void {
    const parts = this.#parts;
    this.#parts = undefined;
    if (parts !== undefined && parts.length > 0) this.#draw(harmless(Buffer.concat(parts), this.#whole));
  }
}
