// The values of a long JSON list, a part of it at a time: they are never in memory all at once.
// JL1. They are those that JSON.parse gives for the whole text, in the same order. The limits of J0 (json.ts) hold for
//      each part.
// JL2. If the text turns out not to be a JSON list, its last part is undefined, and those before it do not count.
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COMMA,
  isList,
  type Json,
  jsonIn,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  stringEnd,
} from "./json.ts";

/** Characters of a part: so many that it costs no more than with all at once, so few that they take little room. */
const PART = 64 << 10;
const PIECE_BYTES = 1 << 20;
const BLANK = /^[ \t\r\n]*/;

export function* listParts(bytes: Uint8Array): Generator<readonly Json[] | undefined> {
  const scan = new ListScan();
  for (const piece of piecesOf(bytes)) {
    scan.add(piece);
    for (let part = scan.next(); part !== "more"; part = scan.next()) {
      yield part;
      if (part === undefined) return;
    }
  }
  if (!scan.isWhole) yield undefined; // JL2
}

class ListScan {
  /** What comes after the part before. */
  #text = "";
  /** All before this was looked at, and is so many levels deep. */
  #at = 0;
  #depth = 0;
  #state: "before" | "first" | "later" | "after" = "before";

  get isWhole(): boolean {
    return this.#state === "after";
  }

  add(piece: string): void {
    this.#text += piece;
    if (this.#depth === 0) this.#text = this.#text.replace(BLANK, "");
    if (this.#state !== "before" || !this.#text.startsWith("[")) return;
    this.#state = "first";
    this.#at = 1;
    this.#depth = 1;
  }

  /** Undefined if this cannot be a JSON list. */
  next(): readonly Json[] | "more" | undefined {
    if (this.#depth === 0) return this.#text.replace(BLANK, "") === "" ? "more" : undefined;
    const end = this.#partEnd();
    if (end === undefined) return "more";
    const [isFirst, isLast] = [this.#state === "first", this.#depth === 0];
    const part = jsonIn(`${isFirst ? "" : "["}${this.#text.slice(0, end)}${isLast ? this.#text[end] : "]"}`);
    this.#text = this.#text.slice(end + 1);
    this.#at = 0;
    this.#state = isLast ? "after" : "later";
    const mayBeEmpty = isFirst && isLast;
    return isList(part) && (part.length > 0 || mayBeEmpty) ? part : undefined;
  }

  /** The position of the comma or bracket that ends this part; undefined if the text ends before. */
  #partEnd(): number | undefined {
    for (; this.#at < this.#text.length; this.#at += 1) {
      const char = this.#text.charCodeAt(this.#at);
      if (char === QUOTE) {
        const end = stringEnd(this.#text, this.#at);
        if (end === this.#text.length) return undefined; // It is looked at again with the next piece.
        this.#at = end;
      }
      this.#depth += levelsOf(char);
      if (this.#depth === 0 || (char === COMMA && this.#depth === 1 && this.#at >= PART)) return this.#at;
    }
    return undefined;
  }
}

function levelsOf(char: number): number {
  if (char === OPEN_LIST || char === OPEN_OBJECT) return 1;
  return char === CLOSE_LIST || char === CLOSE_OBJECT ? -1 : 0;
}

function* piecesOf(bytes: Uint8Array): Generator<string> {
  const decoder = new TextDecoder();
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    yield decoder.decode(bytes.subarray(at, at + PIECE_BYTES), { stream: true });
  yield decoder.decode();
}
