// The sizes of a terminal by the offset of its tape, in `sizes.jsonl` beside it: a tape can be parsed exactly only if
// the width of the terminal is known at each byte.
// Z1. One line for each change, `{"offset":N,"cols":C,"rows":R}`, the first when the holder starts. A later line
//     overrides earlier ones at its offset or beyond: after a power cut the tape may end before them.
// Z2. A torn or foreign line is skipped.
// Z3. The file is bounded: before it grows too large it is rewritten with the newest lines.
// Z4. Recording never fails for its caller: if the disk refuses a size now, it is written with the next one.
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import { writeAtomic } from "../file/atomic-file.ts";
import { openRetrying, readWhole, writeAll } from "../file/file.ts";

export type SizeAt = { readonly offset: number; readonly cols: number; readonly rows: number };

const FILE = "sizes.jsonl";
/** Z3. A line takes about 40 bytes; dragging a window's corner makes some tens of them. */
const MAX_BYTES = 64 << 10;
const KEPT = 500;
/** The largest possible terminal: the system uses 16 bits. */
const MAX_SIDE = 65_535;

/** Ascending by offset; `directory` is the terminal's. */
export function readSizes(disk: Disk, directory: string): SizeAt[] {
  const bytes = readWhole(disk, joinPath(directory, FILE), 2 * MAX_BYTES);
  return bytes === undefined ? [] : inForce(linesIn(new TextDecoder().decode(bytes)));
}

/** The last one at or before `offset`; else the first one, or what the caller knows. */
export function sizeAt<S>(sizes: readonly SizeAt[], offset: number, otherwise: S): SizeAt | S {
  return sizes.findLast((size) => size.offset <= offset) ?? sizes[0] ?? otherwise;
}

function linesIn(text: string): SizeAt[] {
  const lines = text.split("\n");
  // Z2: text after the last newline is not a whole line.
  return lines.slice(0, -1).flatMap((line) => sizeIn(line) ?? []);
}

/** Z1 */
function inForce(lines: readonly SizeAt[]): SizeAt[] {
  const kept: SizeAt[] = [];
  for (const line of lines) {
    while ((kept.at(-1)?.offset ?? -1) >= line.offset) kept.pop();
    kept.push(line);
  }
  return kept;
}

function sizeIn(line: string): SizeAt | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null) return undefined;
    const { offset, cols, rows } = { offset: -1, cols: 0, rows: 0, ...value };
    const isSide = (side: number) => Number.isSafeInteger(side) && side >= 1 && side <= MAX_SIDE;
    return Number.isSafeInteger(offset) && offset >= 0 && isSide(cols) && isSide(rows)
      ? { offset, cols, rows }
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // Z2
    throw error;
  }
}

/** The holder's writer of the file. */
export class SizeLog {
  readonly #disk: Disk;
  readonly #directory: string;
  #unwritten: SizeAt[] = [];
  #last: Promise<void> = Promise.resolve();

  constructor(disk: Disk, directory: string) {
    this.#disk = disk;
    this.#directory = directory;
  }

  /** Written at once; resolves when it is durable, or could not be made durable (Z4). */
  record(size: SizeAt): Promise<void> {
    this.#unwritten.push(size);
    this.#last = this.#last.then(() => this.#write());
    return this.#last;
  }

  async #write(): Promise<void> {
    const sizes = this.#unwritten.slice(-KEPT);
    if (sizes.length === 0) return;
    this.#unwritten = [];
    try {
      await this.#append(sizes);
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#unwritten = [...sizes, ...this.#unwritten]; // Z4
    }
  }

  async #append(sizes: readonly SizeAt[]): Promise<void> {
    const path = joinPath(this.#directory, FILE);
    const existed = this.#disk.stat(path);
    if ((existed?.size ?? 0) > MAX_BYTES) return this.#writeAnew([...readSizes(this.#disk, this.#directory), ...sizes]);
    const file = openRetrying(this.#disk, path, "create");
    try {
      writeAll(file, Buffer.from(`${startOf(file)}${textOf(sizes)}`), file.size());
      await file.datasync();
    } finally {
      file.close();
    }
    if (existed === undefined) await this.#disk.syncDirectory(this.#directory);
  }

  /** Z3 */
  #writeAnew(sizes: readonly SizeAt[]): Promise<void> {
    return writeAtomic(this.#disk, joinPath(this.#directory, FILE), Buffer.from(textOf(inForce(sizes).slice(-KEPT))));
  }
}

const NEWLINE = 10;

/** Ends a torn line of an earlier process, so that it does not spoil the next one. */
function startOf(file: OpenFile): string {
  const last = new Uint8Array(1);
  const size = file.size();
  return size > 0 && file.read(last, size - 1) === 1 && last[0] !== NEWLINE ? "\n" : "";
}

function textOf(sizes: readonly SizeAt[]): string {
  return sizes.map(({ offset, cols, rows }) => `${JSON.stringify({ offset, cols, rows })}\n`).join("");
}
