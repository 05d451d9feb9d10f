// Key frames: a terminal's screen at offsets of its tape about a megabyte apart, in `keyframes/<16 digits>.vt` beside
// the tape, so that the screen of any earlier moment is found without parsing all that came before.
// KF1. A file is believed only if its own checksum is right, and the tape has the same bytes before its offset as when
//      it was made: a power cut may have taken them from the tape, and other bytes may have come there since.
// KF2. They are made in passing, when a tape is parsed for another reason. One that cannot be written or read, or would
//      be very large, is left out: that costs time and nothing else. So nothing is synced.
// KF3. What the tape drops goes from here too, when the next one is written.
import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { SCROLLBACK_BYTES, type ScreenSnapshot } from "../core/terminal/screen.ts";
import { openRetrying, readWhole, removeIfThere, writeAll } from "../log/file/file.ts";
import type { TapeReader } from "../log/tape/reader.ts";
import type { Disk } from "../world/disk.ts";
import { crc32, hex8 } from "../world/hash.ts";
import type { Emulator } from "./emulator.ts";
import { serialized } from "./serialize.ts";

/** What is needed of a snapshot to continue from it. */
export type KeyFrame = Pick<ScreenSnapshot, "offset" | "cols" | "rows" | "vt" | "exact">;

/** Parsed in a tenth of a second; a key frame of a usual window takes a hundredth of it on disk. */
export const APART_BYTES = 1 << 20;
/** KF2 */
const MAX_BYTES = 256 << 10;
/** KF1 */
const PROOF_BYTES = 256;

const NAME = /^(\d{16})\.vt$/;
const HEAD = /^holdfast-keyframe (\d+) (\d+) ([01]) ([0-9a-f]{8}) ([0-9a-f]{8})\n/;

export class KeyFrames {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #tape: TapeReader;
  /** Ascending. */
  #offsets: readonly number[];

  /** `directory` is the terminal's. */
  constructor(disk: Disk, directory: string, tape: TapeReader) {
    this.#disk = disk;
    this.#directory = joinPath(directory, "keyframes");
    this.#tape = tape;
    const names = tolerating(() => disk.list(this.#directory)) ?? [];
    this.#offsets = names
      .flatMap((name) => NAME.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
  }

  /** The last one at or before `offset` that can be believed. */
  before(offset: number): KeyFrame | undefined {
    for (const at of this.#offsets.filter((one) => one <= offset).reverse()) {
      const found = tolerating(() => this.#read(at));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Writes one, unless another is near. */
  keep(emulator: Emulator, exact: boolean): void {
    const { offset } = emulator;
    if (offset < APART_BYTES || this.#offsets.some((one) => Math.abs(one - offset) < APART_BYTES)) return;
    tolerating(() => this.#write(emulator, exact));
    tolerating(() => this.#dropBefore(this.#tape.start));
  }

  #write(emulator: Emulator, exact: boolean): void {
    const { offset, size } = emulator;
    const proof = this.#proof(offset);
    const vt = Buffer.from(serialized(emulator, SCROLLBACK_BYTES).vt);
    this.#offsets = [...this.#offsets, offset].sort((a, b) => a - b); // Not tried again, whatever becomes of it.
    if (proof === undefined || vt.length > MAX_BYTES) return;
    const head = `holdfast-keyframe ${size.cols} ${size.rows} ${Number(exact)} ${proof}`;
    const bytes = Buffer.concat([Buffer.from(`${head} ${sumOf(head, vt)}\n`), vt]);
    if (this.#disk.stat(this.#directory) === undefined) this.#disk.makeDirectory(this.#directory);
    const file = openRetrying(this.#disk, this.#path(offset), "create");
    try {
      file.truncate(0);
      writeAll(file, bytes, 0);
    } finally {
      file.close();
    }
  }

  #read(offset: number): KeyFrame | undefined {
    const bytes = Buffer.from(readWhole(this.#disk, this.#path(offset), 2 * MAX_BYTES) ?? []);
    const [head = "", cols, rows, exact, proof = "", sum] = HEAD.exec(bytes.subarray(0, 200).toString("latin1")) ?? [];
    const vt = bytes.subarray(head.length);
    if (sum === undefined || sumOf(head.slice(0, -sum.length - 2), vt) !== sum) return undefined;
    if (this.#proof(offset) !== proof) return undefined; // KF1
    return { offset, cols: Number(cols), rows: Number(rows), exact: exact === "1", vt: vt.toString() };
  }

  /** A checksum of the tape's bytes before `offset`; undefined if one of them is missing. */
  #proof(offset: number): string | undefined {
    let sum = 0;
    for (let at = Math.max(0, offset - PROOF_BYTES); at < offset; ) {
      const found = this.#tape.read(at, offset - at);
      if (found.kind !== "bytes") return undefined;
      sum = crc32(found.bytes, sum);
      at += found.bytes.length;
    }
    return hex8(sum);
  }

  /** KF3 */
  #dropBefore(start: number): void {
    for (const offset of this.#offsets.filter((one) => one < start)) removeIfThere(this.#disk, this.#path(offset));
    this.#offsets = this.#offsets.filter((one) => one >= start);
  }

  #path(offset: number): string {
    return joinPath(this.#directory, `${String(offset).padStart(16, "0")}.vt`);
  }
}

function sumOf(head: string, vt: Uint8Array): string {
  return hex8(crc32(vt, crc32(head)));
}

/** KF2 */
function tolerating<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}
