// A file of the index: the filters of up to 64 blocks of one source, turned so that a row has the same bit of all of
// them. A word needs some ten rows, so a search reads some ten pages of the file, whatever its size.
//
//   holdfast-search 1 ROWS LENGTH SUM ⏎   ROWS of each filter; LENGTH of the head, and its CRC-32, begun with ROWS
//   {"session":…,"proof":…,"blocks":[[from,to,first,last],…]}   the head
//   page, page, …                         4096 bytes each (the last one fewer), and their CRC-32, begun with the number
//
// GF1. A file is never changed: a longer group is written to a new one.
// GF2. Nothing in it is believed without its sum. Whatever is wrong with it makes it damaged, and it is made again: it
//      has nothing that its source does not have.
// GF3. It says nothing about other sources: with the source, its files go.
import { isFault } from "../base/fault.ts";
import { MAX_ROWS, MIN_ROWS } from "../core/search/filter.ts";
import { openRetrying, readAll } from "../log/file/file.ts";
import { type GroupHead, groupHeadIn } from "../wire/search.ts";
import type { Disk, OpenFile } from "../world/disk.ts";
import { crc32, hex8 } from "../world/hash.ts";

export const MAX_COLUMNS = 64;
const PAGE = 4096;
const SUM_BYTES = 4;
const FIRST_LINE = /^holdfast-search 1 (\d{3,5}) (\d{1,6}) ([0-9a-f]{8})\n/;
const MAX_FIRST_LINE = 48;
/** More than 64 blocks with the longest numbers take. */
const MAX_HEAD = 16 << 10;

/** Each column is the filter of a block. */
export type Group = { readonly head: GroupHead; readonly columns: readonly Uint8Array[] };

export function encodeGroup({ head, columns }: Group): Uint8Array {
  const rows = Math.max(MIN_ROWS, ...columns.map((column) => column.length * 8));
  const json = Buffer.from(JSON.stringify(head));
  const line = `holdfast-search 1 ${rows} ${json.length} ${hex8(crc32(json, rows))}\n`;
  const body = turned(columns, rows);
  const pages: Uint8Array[] = [Buffer.from(line), json];
  for (let at = 0; at < body.length; at += PAGE) {
    const page = body.subarray(at, at + PAGE);
    pages.push(page, sumBytes(crc32(page, at / PAGE)));
  }
  return Buffer.concat(pages);
}

function sumBytes(sum: number): Uint8Array {
  const bytes = new Uint8Array(SUM_BYTES);
  new DataView(bytes.buffer).setUint32(0, sum);
  return bytes;
}

/** Row by row, a bit for each column. A filter with fewer rows is repeated: it means the same (FI3 of filter.ts). */
function turned(columns: readonly Uint8Array[], rows: number): Uint8Array {
  const width = Math.ceil(columns.length / 8);
  const body = new Uint8Array(rows * width);
  for (const [index, column] of columns.entries()) {
    const [byte, mask] = [index >>> 3, 1 << (index & 7)];
    for (let row = 0; row < rows; row += 1) {
      const from = row % (column.length * 8);
      if (((column[from >>> 3] ?? 0) >>> (from & 7)) & 1) {
        const at = row * width + byte;
        body[at] = (body[at] ?? 0) | mask;
      }
    }
  }
  return body;
}

/** An open file of the index. Its methods return undefined if what they need is damaged (GF2). */
export class GroupFile {
  readonly #file: OpenFile;
  readonly #body: number;
  readonly #width: number;
  readonly rows: number;
  readonly head: GroupHead;

  /** Undefined if it is damaged; "gone" if it is not there any more. */
  static open(disk: Disk, path: string): GroupFile | "gone" | undefined {
    let file: OpenFile;
    try {
      file = openRetrying(disk, path, "read");
    } catch (error) {
      if (isFault(error, "ENOENT")) return "gone";
      throw error;
    }
    const found = headIn(file);
    if (found === undefined) file.close();
    return found && new GroupFile(file, found);
  }

  private constructor(file: OpenFile, { rows, head, body }: FoundHead) {
    this.#file = file;
    this.#body = body;
    this.#width = Math.ceil(head.blocks.length / 8);
    this.rows = rows;
    this.head = head;
  }

  /** Which blocks have all of these rows. */
  candidates(rows: readonly number[]): number[] | undefined {
    const left = new Uint8Array(this.#width).fill(0xff);
    const pages = new Map<number, Uint8Array>();
    for (const row of rows) {
      for (let byte = 0; byte < this.#width; byte += 1) {
        const at = row * this.#width + byte;
        const number = Math.floor(at / PAGE);
        const page = pages.get(number) ?? this.#page(number);
        if (page === undefined) return undefined;
        pages.set(number, page);
        left[byte] = (left[byte] ?? 0) & (page[at % PAGE] ?? 0);
      }
      if (left.every((bits) => bits === 0)) return [];
    }
    return this.head.blocks.flatMap((_, index) => (((left[index >>> 3] ?? 0) >>> (index & 7)) & 1 ? [index] : []));
  }

  /** All of it. */
  columns(): Uint8Array[] | undefined {
    const columns = this.head.blocks.map(() => new Uint8Array(this.rows / 8));
    const size = this.rows * this.#width;
    for (let number = 0; number * PAGE < size; number += 1) {
      const page = this.#page(number);
      if (page === undefined) return undefined;
      for (let at = 0; at < page.length; at += 1) this.#spread(columns, number * PAGE + at, page[at] ?? 0);
    }
    return columns;
  }

  #spread(columns: readonly Uint8Array[], at: number, bits: number): void {
    const [row, first] = [Math.floor(at / this.#width), (at % this.#width) * 8];
    for (let bit = 0; bits >>> bit !== 0; bit += 1) {
      const column = columns[first + bit];
      if (column !== undefined && (bits >>> bit) & 1) column[row >>> 3] = (column[row >>> 3] ?? 0) | (1 << (row & 7));
    }
  }

  #page(number: number): Uint8Array | undefined {
    const length = Math.min(PAGE, this.rows * this.#width - number * PAGE);
    const bytes = readAll(this.#file, this.#body + number * (PAGE + SUM_BYTES), length + SUM_BYTES);
    if (bytes.length !== length + SUM_BYTES) return undefined;
    const page = bytes.subarray(0, length);
    const sum = new DataView(bytes.buffer, bytes.byteOffset + length).getUint32(0);
    return crc32(page, number) === sum ? page : undefined; // GF2
  }

  close(): void {
    this.#file.close();
  }
}

type FoundHead = { readonly rows: number; readonly head: GroupHead; readonly body: number };

function headIn(file: OpenFile): FoundHead | undefined {
  const bytes = readAll(file, 0, MAX_FIRST_LINE + MAX_HEAD);
  const line = FIRST_LINE.exec(new TextDecoder("latin1").decode(bytes.subarray(0, MAX_FIRST_LINE)));
  if (line === null) return undefined;
  const [first, rows, length] = [line[0], Number(line[1]), Number(line[2])];
  const json = bytes.subarray(first.length, first.length + length);
  if (json.length !== length || hex8(crc32(json, rows)) !== line[3]) return undefined; // GF2
  if (rows < MIN_ROWS || rows > MAX_ROWS || (rows & (rows - 1)) !== 0) return undefined;
  const head = groupHeadIn(new TextDecoder().decode(json));
  if (head === undefined || head.blocks.length > MAX_COLUMNS) return undefined;
  return { rows, head, body: first.length + length };
}
