// The segment files of the write-ahead log: zero-filled once, then reused again and again, because syncing a file that
// does not grow costs a fraction of syncing one that does.
// G1. A segment is reused only after a *durable* frame states that everything in it is in the session logs.
// G2. The last page of a segment is reserved for marks, so that G1 can be met when everything else is full.
import { assert } from "../../base/assert.ts";
import { isFault } from "../../base/fault.ts";
import { parentOf } from "../../base/path.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import { openRetrying, removeIfThere, writeAll } from "../file/file.ts";
import { nextSegmentPath } from "./wal-files.ts";

export type SegmentOptions = {
  readonly segmentBytes: number;
  /** What the disk writes at once; batches are padded with zeros to its next multiple. */
  readonly pageBytes: number;
  /** How much small transactions that share a frame take together (F5 of frame.ts). */
  readonly frameBytes: number;
  readonly maxSegments: number;
};

export type Segment = {
  readonly file: OpenFile;
  gen: number;
  /** Where the next batch goes. */
  at: number;
  /** The highest seq in it. */
  last: number;
};

/** Zeros are written in pieces, so that a large segment does not cost its size in memory. */
const FILL_PIECE = 1 << 20;

export class Segments {
  readonly #disk: Disk;
  readonly #home: string;
  readonly options: SegmentOptions;
  #active: Segment | undefined;
  #sealed: Segment[] = [];
  #free: Segment[] = [];

  constructor(disk: Disk, home: string, options: SegmentOptions) {
    this.#disk = disk;
    this.#home = home;
    this.options = options;
  }

  get active(): Segment {
    assert(this.#active !== undefined, "a started log has an active segment");
    return this.#active;
  }

  get sealedCount(): number {
    return this.#sealed.length;
  }

  /** The lowest `drained` that would free a segment. */
  get nextFreeAt(): number {
    return this.#sealed.reduce((low, segment) => Math.min(low, segment.last), this.#active?.last ?? 0);
  }

  fits(bytes: number): boolean {
    return this.active.at + bytes < this.options.segmentBytes - this.options.pageBytes; // G2: not even its zeros
  }

  /** Reuses a file of an earlier process; nothing in it may still be needed. */
  adopt(path: string): void {
    this.#free.push({ file: openRetrying(this.#disk, path, "write"), gen: 0, at: 0, last: 0 });
  }

  /** G1: `drained` is what a durable frame states. */
  release(drained: number): void {
    this.#free.push(...this.#sealed.filter((segment) => segment.last <= drained));
    this.#sealed = this.#sealed.filter((segment) => segment.last > drained);
  }

  /** Activates a free segment; returns false if none is free and no more may be made. */
  async advance(gen: number): Promise<boolean> {
    const next = this.#free.pop() ?? (await this.#grow());
    if (next === undefined) return false;
    if (this.#active !== undefined) this.#sealed.push(this.#active);
    this.#active = Object.assign(next, { gen, at: 0, last: 0 });
    return true;
  }

  /** For when there is only the active segment, and its last page states that everything in it is drained (G1, G2). */
  startOver(gen: number): void {
    Object.assign(this.active, { gen, at: 0, last: 0 });
  }

  async #grow(): Promise<Segment | undefined> {
    const count = this.#sealed.length + (this.#active === undefined ? 0 : 1);
    if (count >= this.options.maxSegments) return undefined;
    const path = nextSegmentPath(this.#disk, this.#home);
    try {
      return await this.#create(path);
    } catch (error) {
      if (count === 0 || !isFault(error, "ENOSPC", "EDQUOT", "EROFS", "EMFILE", "ENFILE")) throw error;
      // A read-only file system refuses even to remove what it did not create.
      if (error.code !== "EROFS" || this.#disk.stat(path) !== undefined) removeIfThere(this.#disk, path);
      return undefined; // The log continues with the segments it has.
    }
  }

  async #create(path: string): Promise<Segment> {
    const file = openRetrying(this.#disk, path, "exclusive");
    try {
      this.#fill(file);
      await file.sync();
      await this.#disk.syncDirectory(parentOf(path));
    } catch (error) {
      file.close(); // An open file keeps its room, even without a name.
      throw error;
    }
    return { file, gen: 0, at: 0, last: 0 };
  }

  #fill(file: OpenFile): void {
    const { segmentBytes } = this.options;
    const zeros = new Uint8Array(Math.min(segmentBytes, FILL_PIECE));
    for (let at = 0; at < segmentBytes; at += zeros.length) writeAll(file, zeros.subarray(0, segmentBytes - at), at);
  }

  close(): void {
    for (const segment of [...this.#sealed, ...this.#free]) segment.file.close();
    this.#active?.file.close();
    this.#sealed = [];
    this.#free = [];
    this.#active = undefined;
  }
}
