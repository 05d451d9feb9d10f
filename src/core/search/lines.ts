// The lines of a text that have all words.
import { toLower } from "./filter.ts";

/** A word to look for, in lower case. */
export type Needle = Uint8Array;

const NEWLINE = 10;
/** Of a line, around its first word. */
const MAX_SHOWN = 300;
const BEFORE = 60;

export function needlesOf(words: readonly string[]): Needle[] {
  const bytes = words.filter((word) => word !== "").map((word) => toLower(new TextEncoder().encode(word)));
  return bytes.sort((one, other) => other.length - one.length);
}

export type FoundLine = { readonly start: number; readonly text: string };

/** The lines with all needles, the last one first; `most` of them. `lower` is `text` in lower case. */
export function linesWith(text: Uint8Array, lower: Uint8Array, needles: readonly Needle[], most: number): FoundLine[] {
  const found: FoundLine[] = [];
  const [first, ...others] = needles;
  if (first === undefined) return found;
  const whole = Buffer.from(lower.buffer, lower.byteOffset, lower.byteLength);
  for (let end = whole.length; found.length < most && end > 0; ) {
    const at = whole.lastIndexOf(first, end - 1);
    if (at < 0) break;
    const start = whole.lastIndexOf(NEWLINE, at) + 1;
    const newline = whole.indexOf(NEWLINE, at);
    const line = whole.subarray(start, newline < 0 ? whole.length : newline);
    if (others.every((needle) => line.includes(needle)))
      found.push({ start, text: shown(text.subarray(start, start + line.length), line, needles) });
    end = start;
  }
  return found;
}

function shown(line: Uint8Array, lower: Buffer, needles: readonly Needle[]): string {
  const first = Math.min(...needles.map((needle) => lower.indexOf(needle)));
  const from = line.length <= MAX_SHOWN ? 0 : Math.max(0, first - BEFORE);
  const cut = line.subarray(from, from + MAX_SHOWN);
  return new TextDecoder()
    .decode(cut)
    .replace(/^\uFFFD+|\uFFFD+$/gu, "")
    .trim();
}
