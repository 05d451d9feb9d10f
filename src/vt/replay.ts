// The part of a tape that is replayed on attach, made harmless: what a program asked its terminal long ago must not be
// answered now, since the answer would be typed into the program.
// RP1. Queries, bells, notifications and the clipboard are left out; everything that draws stays as it is. Erasing the
//      window's own history is left out too: most of that is not the program's.
// RP2. A replay that starts in the middle starts at the beginning of a line: a cut sequence would be shown as text. If
//      none begins soon, it starts with the next sequence, or behind what may be the rest of one.
// RP3. A known screen is drawn over the tape's bytes up to its offset, and the bytes after it continue from there. If
//      its offset is outside the collected bytes, it is not drawn.
// RP4. What a program sends past tmux to the terminal outside (`ESC P tmux;`, with every ESC doubled) is one piece: cut
//      in the middle it would never end, and nothing after it would be drawn.

const ESC = "\u001b";
/** As in terminals, a string ends also where another sequence begins. */
const END = `(?:\u0007|${ESC}\\\\|(?=${ESC}))`;
const STRING = `[^\u0007${ESC}]*`;

const QUERIES = [
  `${ESC}P[+$]q${STRING}${ESC}\\\\`, // a setting
  `${ESC}\\[[>=?]?[\\d;]*c`, // the identity
  `${ESC}\\[\\??[\\d;]*n`, // the cursor or the status
  `${ESC}\\[\\??[\\d;]*\\$p`, // a mode
  `${ESC}\\[>\\d*q`, // the version
  `${ESC}\\[\\?u`, // the keyboard protocol
  `${ESC}\\[(?:1[1-9]|2[01])(?:;\\d+)*t`, // the window size
  `${ESC}\\[[01]?x`,
  `${ESC}Z`,
  "\u0005",
];
/** A colour, or the clipboard. */
const STRING_QUERY = `${ESC}\\](?:[45]|1\\d|52);${STRING}\\?${END}`;
/** RP4 */
const PAST_TMUX = `${ESC}Ptmux;`;
const INSIDE = `(?:[^${ESC}]|${ESC}${ESC})*`;
const WRAPPED = `(?<wrapped>${PAST_TMUX}${INSIDE}${ESC}\\\\)`;
const WRAPPER_BEGUN = new RegExp(`${ESC}(?:P(?:t|tm|tmu|tmux|tmux;${INSIDE}${ESC}?)?)?$`);
const WRAPPER_END = new RegExp(`^${INSIDE}${ESC}\\\\`);
const ESCAPES = new RegExp(`${ESC}*$`);
/** Longer than any title or colour that is sent past tmux, and than a piece of an image. A longer one is left out. */
const MAX_WRAPPED = 1 << 20;

/** RP4. Output in pieces that end outside of what is sent past tmux: that waits for its end. */
class WholeWrappers {
  /** What may become the beginning of one; within one, the first of two ESCs. */
  #begun = "";
  /** What it has so far; undefined outside of one. */
  #inside: string[] | undefined;
  #length = 0;

  push(piece: string): string {
    const text = this.#begun + piece;
    return this.#inside === undefined ? this.#outside(text) : this.#within(text, this.#inside);
  }

  end(): string {
    const rest = [...(this.#inside ?? []), this.#begun].join("");
    [this.#begun, this.#inside, this.#length] = ["", undefined, 0];
    return rest;
  }

  #outside(text: string): string {
    this.#begun = WRAPPER_BEGUN.exec(text)?.[0] ?? "";
    const before = text.slice(0, text.length - this.#begun.length);
    if (this.#begun.startsWith(PAST_TMUX)) this.#hold(this.#begun, []);
    return before;
  }

  #within(text: string, inside: string[]): string {
    const end = WRAPPER_END.exec(text)?.[0];
    if (end === undefined) {
      this.#hold(text, inside);
      return "";
    }
    const wrapped = this.#length > MAX_WRAPPED ? "" : [...inside, end].join("");
    [this.#begun, this.#inside, this.#length] = ["", undefined, 0];
    return wrapped + this.#outside(text.slice(end.length));
  }

  #hold(text: string, inside: string[]): void {
    this.#begun = (ESCAPES.exec(text)?.[0].length ?? 0) % 2 === 1 ? ESC : "";
    const held = text.slice(0, text.length - this.#begun.length);
    this.#length += held.length;
    if (this.#length <= MAX_WRAPPED) inside.push(held);
    this.#inside = inside;
  }
}

const LIVE_QUERY = new RegExp([WRAPPED, STRING_QUERY, ...QUERIES].join("|"), "g");
const BEGUN = new RegExp(`${ESC}(?:\\[[>=?]?[\\d;]*\\$?|\\]${STRING}${ESC}?|P[+$]?q?${STRING}${ESC}?)?$`);
/** Longer than any query. */
const LONGEST = 256;

type Groups = { readonly wrapped?: string; readonly kept?: string };

/** RP4. The wrapped sequences without what `clean` leaves out of them. */
function rewrapped(wrapped: string, clean: (text: string) => string): string {
  const inside = wrapped.slice(PAST_TMUX.length, -2).replaceAll(`${ESC}${ESC}`, ESC);
  const kept = clean(inside);
  if (kept === inside) return wrapped;
  return kept === "" ? "" : `${PAST_TMUX}${kept.replaceAll(ESC, `${ESC}${ESC}`)}${ESC}\\`;
}

function withoutLive(text: string): string {
  return text.replace(LIVE_QUERY, (...match) => {
    const { wrapped }: Groups = match.at(-1);
    return wrapped === undefined ? "" : rewrapped(wrapped, withoutLive);
  });
}

/** Live output for a window that is not the one that answers: queries are left out, all else is as it was. */
export class WithoutQueries {
  #rest = "";
  readonly #wrappers = new WholeWrappers();

  /** A sequence that may continue in the next piece waits for it. */
  push(bytes: Uint8Array): Uint8Array {
    const text = this.#rest + this.#wrappers.push(textOf(bytes));
    this.#rest = BEGUN.exec(text.slice(-LONGEST))?.[0] ?? "";
    return bytesOf(withoutLive(text.slice(0, text.length - this.#rest.length)));
  }

  /** What waits, for when our window answers again. */
  end(): Uint8Array {
    const rest = bytesOf(this.#rest + this.#wrappers.end());
    this.#rest = "";
    return rest;
  }
}

/** `kept`: whole strings, which a bell terminates. */
const PIECES = new RegExp(
  [
    WRAPPED,
    `(?<kept>${ESC}\\](?!(?:52|9|99|777);)(?:(?!\\?${END})[^\u0007${ESC}])*${END})`, // a title, a link, a colour …
    `${ESC}\\]${STRING}${END}`, // a query, a notification, the clipboard
    ...QUERIES,
    `${ESC}\\[3J`, // erase the scrollback
    "\u0007",
  ].join("|"),
  "g",
);

/** `whole`: it starts at the beginning of the tape. */
export function harmless(bytes: Uint8Array, whole: boolean): Uint8Array {
  const from = whole ? 0 : beginning(bytes); // RP2
  return bytesOf(withoutHarm(textOf(bytes.subarray(from))));
}

/** RP1 */
function withoutHarm(text: string): string {
  return text.replace(PIECES, (...match) => {
    const { wrapped, kept = "" }: Groups = match.at(-1);
    return wrapped === undefined ? kept : rewrapped(wrapped, withoutHarm);
  });
}

/** A sequence or a string at the end that may go on. */
const UNFINISHED = new RegExp(`${ESC}(?:\\[[0-?]*[ -/]*|\\]${STRING}${ESC}?|[PX^_][^${ESC}]*${ESC}?|[ -/]*)?$`);
/** Longer than any title, and than the image of a whole screen. A longer string is left out. */
const MAX_UNFINISHED = 8 << 20;
const STRING_ENDS = new RegExp(`[\u0007${ESC}]`);

/** The same for bytes that come in pieces: a sequence may be cut in two anywhere. */
export class HarmlessStream {
  #whole: boolean;
  #rest = "";
  readonly #wrappers = new WholeWrappers();
  /** Within a string that is left out. */
  #skipping = false;

  constructor(whole: boolean) {
    this.#whole = whole;
  }

  push(bytes: Uint8Array): Uint8Array {
    const text = this.#rest + this.#afterSkipped(this.#wrappers.push(textOf(bytes)));
    this.#rest = UNFINISHED.exec(text)?.[0] ?? "";
    const ready = bytesOf(text.slice(0, text.length - this.#rest.length));
    if (this.#rest.length > MAX_UNFINISHED) [this.#rest, this.#skipping] = ["", true];
    const shown = harmless(ready, this.#whole);
    if (ready.length > 0) this.#whole = true;
    return shown;
  }

  #afterSkipped(text: string): string {
    if (!this.#skipping) return text;
    const end = text.search(STRING_ENDS);
    this.#skipping = end < 0;
    return end < 0 ? "" : text.slice(end);
  }
}

const NEWLINE = 10;
const ESC_BYTE = 0x1b;
/** RP2. Longer lines are not skipped: one alone may be all that is there. */
const MAX_SKIPPED = 16 << 10;
/** The rest of a character, or of a control sequence. */
const REST = /^[\u0080-\u00bf]*(?:[\d;:<=>?]+[ -/]*[@-~])?/;

function beginning(bytes: Uint8Array): number {
  const start = bytes.subarray(0, MAX_SKIPPED);
  const newline = start.indexOf(NEWLINE);
  if (newline >= 0) return newline + 1;
  const sequence = start.indexOf(ESC_BYTE);
  if (sequence >= 0) return sequence;
  return REST.exec(textOf(start))?.[0].length ?? 0;
}

/** As many as a call takes arguments, everywhere. */
const MAX_CODES = 8 << 10;

/** One character for each byte. Of the platform's decoders, none does this: their Latin-1 is Windows-1252. */
function textOf(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += MAX_CODES)
    text += Reflect.apply(String.fromCharCode, undefined, bytes.subarray(at, at + MAX_CODES));
  return text;
}

function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** What is drawn when the tape has reached `offset`, over what was drawn before. */
export type Overlay = { readonly offset: number; text(hasHistory: boolean): string };

/** Collects output up to an offset, so that it can be drawn at once; later output is passed through. */
export class Replay {
  readonly #until: number;
  readonly #draw: (bytes: Uint8Array) => void;
  #parts: Uint8Array[] | undefined = [];
  #start: number | undefined;
  #whole = true;
  #overlay: Overlay | undefined;

  constructor(until: number, draw: (bytes: Uint8Array) => void) {
    this.#until = until;
    this.#draw = draw;
  }

  /** The replay starts in the middle (RP2). */
  cut(): void {
    this.#whole = false;
  }

  over(overlay: Overlay): void {
    this.#overlay = overlay;
  }

  /** Bytes are missing after the collected ones, so the overlay no longer fits (RP3). */
  lacks(): void {
    this.#whole = false;
    this.#overlay = undefined;
  }

  push(offset: number, bytes: Uint8Array): void {
    if (this.#parts === undefined) {
      this.#draw(bytes);
      return;
    }
    this.#start ??= offset;
    const old = Math.max(0, Math.min(bytes.length, this.#until - offset));
    this.#parts.push(new Uint8Array(bytes.subarray(0, old)));
    if (offset + bytes.length < this.#until) return;
    this.finish();
    if (old < bytes.length) this.#draw(bytes.subarray(old));
  }

  /** Draws what has been collected. */
  finish(): void {
    if (this.#parts === undefined) return;
    const bytes = joined(this.#parts);
    this.#parts = undefined;
    const start = this.#start ?? this.#overlay?.offset ?? 0;
    const before = (this.#overlay?.offset ?? -1) - start;
    if (before < 0 || before > bytes.length) this.#overlay = undefined; // RP3
    const split = this.#overlay === undefined ? bytes.length : before;
    if (split > 0) this.#draw(harmless(bytes.subarray(0, split), this.#whole));
    if (this.#overlay !== undefined) this.#draw(new TextEncoder().encode(this.#overlay.text(split > 0)));
    if (split < bytes.length) this.#draw(harmless(bytes.subarray(split), true));
  }
}
