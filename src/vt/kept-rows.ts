// A cache of unchanged rows: most of a screen, and nearly all of its scrollback.
// K1. A row counts as unchanged only if every word of its line is the same, and if all of it is in its words: joined
//     characters, links and the like are outside of them, and a wrapped row also depends on the next one.
// K2. The cache lives as long as the line. A cached copy is only as long as the line's text.
import type { BufferLine } from "../world/xterm.ts";
import { isAllInWords, ONE_COLUMN, WORDS } from "./cells.ts";
import { type Links, type RowText, rowText } from "./rows.ts";

/**
 * `words` are the line's cells, `bytes` the same memory; `copy`
 * is their old content, without the blank cells at the end.
 */
type Kept = { readonly words: Uint32Array; readonly bytes: Buffer; readonly copy: Buffer; readonly row: RowText };

const rows = new WeakMap<BufferLine, Kept>(); // K2

/** `next` is the row in which it continues, if it does. */
export function keptRow(line: BufferLine, links: Links, next?: BufferLine): RowText {
  if (next !== undefined) return rowText(line, links, next); // K1
  const kept = rows.get(line);
  if (kept !== undefined && isUnchanged(kept, line)) return kept.row;
  const row = rowText(line, links);
  const words = line._data.subarray(0, line.length * WORDS);
  if (isAllInWords(words) && words.byteLength <= BLANKS.length) keep(line, words, row);
  return row;
}

function keep(line: BufferLine, words: Uint32Array, row: RowText): void {
  let end = words.length;
  while (end > 0 && words[end - 3] === ONE_COLUMN && words[end - 2] === 0 && words[end - 1] === 0) end -= WORDS;
  const bytes = Buffer.from(words.buffer, words.byteOffset, words.byteLength);
  // A copy: `subarray` alone would change with the line.
  const copy = Buffer.from(bytes.subarray(0, end * words.BYTES_PER_ELEMENT));
  rows.set(line, { words: line._data, bytes, copy, row });
}

function isUnchanged({ words, bytes, copy }: Kept, line: BufferLine): boolean {
  if (line._data !== words || bytes.length !== line.length * WORDS * words.BYTES_PER_ELEMENT) return false;
  const { length } = copy;
  if (bytes.compare(copy, 0, length, 0, length) !== 0) return false;
  return length === bytes.length || bytes.compare(BLANKS, 0, bytes.length - length, length) === 0;
}

/** Longer than usual lines; longer ones are not cached. */
const MAX_COLUMNS = 2048;
const BLANKS = Buffer.from(
  new Uint32Array(MAX_COLUMNS * WORDS).map((_, at) => (at % WORDS === 0 ? ONE_COLUMN : 0)).buffer,
);
