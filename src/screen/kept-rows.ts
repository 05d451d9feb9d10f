// Rows that were made before and have not changed: most of a screen, and nearly all that lies behind it.
// K1. A row is taken for unchanged only where every word of its line is the one it was made of, and where all of it is in its words:
//     joined characters, links and the like stand beside them, and a row that goes on in the next one depends on that one too.
// K2. Whoever throws a line away throws its row away. What is kept of a line is as long as its text.
import type { BufferLine } from "../world/xterm.ts";
import { isAllInWords, ONE_COLUMN, WORDS } from "./cells.ts";
import { type Links, type RowText, rowText } from "./rows.ts";

/** `words` is what the line has its cells in, `bytes` the same memory; `copy` is what it was, without the blank cells at its end. */
type Kept = { readonly words: Uint32Array; readonly bytes: Buffer; readonly copy: Buffer; readonly row: RowText };

const rows = new WeakMap<BufferLine, Kept>(); // K2

/** `next` is the row in which it goes on, where it does. */
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
  const copy = Buffer.from(bytes.subarray(0, end * words.BYTES_PER_ELEMENT)); // A copy: `subarray` alone would change with the line.
  rows.set(line, { words: line._data, bytes, copy, row });
}

function isUnchanged({ words, bytes, copy }: Kept, line: BufferLine): boolean {
  if (line._data !== words || bytes.length !== line.length * WORDS * words.BYTES_PER_ELEMENT) return false;
  const { length } = copy;
  if (bytes.compare(copy, 0, length, 0, length) !== 0) return false;
  return length === bytes.length || bytes.compare(BLANKS, 0, bytes.length - length, length) === 0;
}

/** Longer than any line is; what is longer is made anew each time. */
const MAX_COLUMNS = 2048;
const BLANKS = Buffer.from(
  new Uint32Array(MAX_COLUMNS * WORDS).map((_, at) => (at % WORDS === 0 ? ONE_COLUMN : 0)).buffer,
);
