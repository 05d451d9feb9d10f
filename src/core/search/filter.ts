// Which blocks of text may contain a word: a bit for each three, and each four, bytes in a row that a block has (a
// Bloom filter with one hash). The index has these instead of the text.
// FI1. Upper and lower case of ASCII letters are the same; other letters are compared as they are.
// FI2. A block without one of a word's bits does not contain it. One that has all of them may: it is read.
// FI3. A filter of half as many bits has the same meaning with half of the row's number: a short text needs few.

/** As many bits as rows: a power of two (FI3). At 64 KB of usual output, a quarter of them are set. */
export const MAX_ROWS = 1 << 16;
export const MIN_ROWS = 1 << 9;
/** How many bits are set in each byte. */
const BITS = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll("0", "").length);
/** Rows for each bit that is set, about; those in one of so many bytes are counted. */
const ROOM = 6;
const SAMPLED = 4;

/** FI1. In place. */
export function toLower(bytes: Uint8Array): Uint8Array {
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 65 && byte <= 90) bytes[at] = byte + 32;
  }
  return bytes;
}

/** Of three or four bytes, as one number. Three are told from four: no text has the first byte zero. */
function rowOf(bytes: number): number {
  return Math.imul(bytes, 0x9e3779b1) >>> 16;
}

/** The filter of a text in lower case, with as few rows as it needs. */
export function filterOf(lower: Uint8Array): Uint8Array {
  const bits = new Uint8Array(MAX_ROWS / 8);
  let four = ((lower[0] ?? 0) << 8) | (lower[1] ?? 0);
  for (let at = 2; at < lower.length; at += 1) {
    four = (four << 8) | (lower[at] ?? 0);
    const short = rowOf(four & 0xffffff);
    const long = rowOf(four);
    bits[short >>> 3] = (bits[short >>> 3] ?? 0) | (1 << (short & 7));
    bits[long >>> 3] = (bits[long >>> 3] ?? 0) | (1 << (long & 7));
  }
  let count = 0;
  for (let at = 0; at < bits.length; at += SAMPLED) count += BITS[bits[at] ?? 0] ?? 0;
  let rows = MIN_ROWS;
  while (rows < MAX_ROWS && rows < count * SAMPLED * ROOM) rows *= 2;
  return folded(bits, rows);
}

/** FI3. The filter as one of `rows` rows, which are no more than it has. */
export function folded(bits: Uint8Array, rows: number): Uint8Array {
  const size = rows / 8;
  const small = bits.slice(0, size);
  for (let at = size; at < bits.length; at += 1) small[at % size] = (small[at % size] ?? 0) | (bits[at] ?? 0);
  return small;
}

/** The rows that a text with this word has, in a filter of `rows` rows; none for a word of one or two bytes. */
export function rowsOf(word: Uint8Array, rows: number): number[] {
  const [short, long]: [number[], number[]] = [[], []];
  let four = ((word[0] ?? 0) << 8) | (word[1] ?? 0);
  for (let at = 2; at < word.length; at += 1) {
    four = (four << 8) | (word[at] ?? 0);
    short.push(rowOf(four & 0xffffff));
    if (at > 2) long.push(rowOf(four));
  }
  return [...new Set([...long, ...short].map((row) => row & (rows - 1)))]; // Fewer blocks have four in a row.
}
