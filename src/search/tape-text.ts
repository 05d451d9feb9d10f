// What a terminal printed, as blocks of plain text. A block ends after a line if it can.
import { plainText } from "../core/search/plain-text.ts";
import { TapeReader } from "../log/tape/reader.ts";
import { listStretches } from "../log/tape/segments.ts";
import { TapeTimes } from "../log/tape/times.ts";
import type { Disk } from "../world/disk.ts";
import { crc32 } from "../world/hash.ts";
import { BLOCK_BYTES, type Place, type SourceText, type TextBlock } from "./text-block.ts";

const NEWLINE = 10;
const PROOF_BYTES = 256;

export class TapeText implements SourceText {
  readonly unit = 1;
  readonly #disk: Disk;
  readonly #tape: string;
  readonly #reader: TapeReader;
  #times: TapeTimes | undefined;
  #written: readonly { readonly start: number; readonly at: number }[] | undefined;

  constructor(disk: Disk, tape: string) {
    this.#disk = disk;
    this.#tape = tape;
    this.#reader = new TapeReader(disk, tape);
  }

  range() {
    return { start: this.#reader.start, end: this.#reader.end };
  }

  changedAt(): number {
    this.#times ??= new TapeTimes(this.#disk, this.#tape);
    const last = listStretches(this.#disk, this.#tape).at(-1);
    return Math.max((last && this.#disk.stat(last.path)?.modifiedMs) ?? 0, this.#times.last?.time ?? 0);
  }

  block(from: number, until: number): TextBlock | undefined {
    const found = this.#bytes(from, until);
    if (found === undefined) return undefined;
    const { start } = found;
    const isCut = found.bytes.length === BLOCK_BYTES && start + BLOCK_BYTES < until;
    const line = isCut ? found.bytes.lastIndexOf(NEWLINE) + 1 : 0;
    const bytes = line > BLOCK_BYTES / 2 ? found.bytes.subarray(0, line) : found.bytes;
    const { bytes: text, starts, ends } = plainText(bytes);
    const placeOf = (at: number): Place => {
      const position = start + (ends[indexOf(starts, at)] ?? bytes.length);
      return { position, at: this.#timeAt(position - 1), kind: "terminal" };
    };
    const to = start + bytes.length;
    return { from: start, to, first: this.#timeAt(start), last: this.#timeAt(to - 1), text, placeOf };
  }

  name(): null {
    return null;
  }

  after(time: number): number {
    this.#times ??= new TapeTimes(this.#disk, this.#tape);
    const known = this.#times.offsetAt(time);
    if (known !== undefined) return known;
    const isOlder = (path: string) => (this.#disk.stat(path)?.modifiedMs ?? 0) <= time;
    const older = listStretches(this.#disk, this.#tape).findLast(({ path }) => isOlder(path));
    return older === undefined ? 0 : older.start + older.size;
  }

  proof(to: number): number {
    const read = this.#reader.read(Math.max(0, to - PROOF_BYTES), Math.min(to, PROOF_BYTES));
    return read.kind === "bytes" ? crc32(read.bytes) : 0;
  }

  /** As many as a block has, over the borders of segments, and not over a gap. */
  #bytes(from: number, until: number): { readonly start: number; readonly bytes: Uint8Array } | undefined {
    let start = from;
    const pieces: Uint8Array[] = [];
    let length = 0;
    while (length < BLOCK_BYTES && start + length < until) {
      const read = this.#reader.read(start + length, Math.min(BLOCK_BYTES - length, until - start - length));
      if (read.kind === "bytes") {
        pieces.push(read.bytes);
        length += read.bytes.length;
      } else if (read.kind === "end" || length > 0) break;
      else start = read.to;
    }
    return length === 0 ? undefined : { start, bytes: pieces.length === 1 ? (pieces[0] ?? EMPTY) : joined(pieces) };
  }

  /** If the holder wrote down no time, that of the file. */
  #timeAt(offset: number): number {
    this.#times ??= new TapeTimes(this.#disk, this.#tape);
    return this.#times.timeAt(offset) ?? Math.floor(this.#fileTime(offset));
  }

  #fileTime(offset: number): number {
    this.#written ??= listStretches(this.#disk, this.#tape).map(({ start, path }) => {
      return { start, at: this.#disk.stat(path)?.modifiedMs ?? 0 };
    });
    return this.#written.findLast(({ start }) => start <= offset)?.at ?? 0;
  }
}

const EMPTY = new Uint8Array();

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces));
}

/** The last one that is not above `at`; they rise. */
function indexOf(starts: readonly number[], at: number): number {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle;
  }
  return low;
}
