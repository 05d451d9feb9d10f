// Tape: a terminal's bytes by absolute offset, in bounded segment files. It has one writer and any number of readers.
// T1. An offset never changes its meaning within one life of the writer: a failed write does not move `end`, and its
//     partial bytes are cut off before the next one.
// T2. Bytes whose `append` returned are durable once a later call of `sync` resolves: bytes, new names and their
//     directories. The first sync also covers what an earlier process left in the page cache.
// T3. A hole is a gap, never silently joined: after `skip` the next bytes begin a new segment.
// T4. Only whole segments are dropped, the oldest first, and never the one being written.
// T5. A failed sync is not repeated: the tape stays broken for this life.
import { assert } from "../../base/assert.ts";
import { Fault } from "../../base/fault.ts";
import { parentOf } from "../../base/path.ts";
import type { Disk } from "../../world/disk.ts";
import { isFailedSync, makeDirectories } from "../file/file.ts";
import { Segment } from "./segment.ts";
import { endOf, listStretches, readFrom, segmentPath, type TapeRead } from "./segments.ts";

export type TapeLimits = {
  /** A new segment begins if this would be exceeded; a single larger append gets its own. */
  readonly segmentBytes: number;
  readonly maxBytes: number;
};

/** Segments that wait for a sync keep one descriptor each; a flood between two syncs must not use them all up. */
const MAX_WAITING_SEGMENTS = 32;

export class Tape {
  private readonly disk: Disk;
  private readonly directory: string;
  private readonly limits: TapeLimits & { readonly home?: string };
  private segments: Segment[];
  private tapeEnd: number;
  /** Directories with names that are not durable yet. */
  private unsyncedDirectories = new Set<string>();
  private made = false;
  private running: Promise<void> | undefined;
  private queued: Promise<void> | undefined;
  private broken: Fault | undefined;
  private closed = false;

  /** Its directory is made with the first segment. `home`: so are missing ones below it, and made durable by `sync`. */
  static open(disk: Disk, directory: string, limits: TapeLimits & { readonly home?: string }): Tape {
    return new Tape(disk, directory, limits);
  }

  private constructor(disk: Disk, directory: string, limits: TapeLimits & { readonly home?: string }) {
    this.disk = disk;
    this.directory = directory;
    this.limits = limits;
    const isThere = disk.stat(directory) !== undefined;
    const found = isThere ? listStretches(disk, directory) : [];
    if (isThere) this.makeDirectory(); // T2
    this.tapeEnd = endOf(found);
    this.segments = found.map((stretch) => new Segment(disk, stretch)); // T2
  }

  get start(): number {
    return this.segments[0]?.start ?? this.tapeEnd;
  }

  get end(): number {
    return this.tapeEnd;
  }

  /** Where the last segment begins. */
  get lastSegment(): number {
    return this.segments.at(-1)?.start ?? this.tapeEnd;
  }

  /** Writes at the end, not yet durable. Returns the offset of the first byte. */
  append(bytes: Uint8Array): number {
    assert(!this.closed, "a closed tape is not written");
    if (this.broken !== undefined) throw this.broken; // T5
    const offset = this.tapeEnd;
    if (bytes.length === 0) return offset;
    const segment = this.segmentFor(bytes.length);
    const isNew = segment.size === 0;
    segment.append(bytes); // T1
    // Not when the segment was planned: a sync may run before its file can be created.
    if (isNew) this.unsyncedDirectories.add(this.directory); // T2
    this.tapeEnd += bytes.length;
    this.dropOldest();
    return offset;
  }

  /** Leaves out `length` bytes: they are lost, and the tape shows a gap (T3). */
  skip(length: number): void {
    assert(Number.isSafeInteger(length) && length >= 0, "a gap has a length");
    this.tapeEnd += length;
  }

  read(offset: number, max: number): TapeRead {
    if (offset >= this.tapeEnd) return { kind: "end", end: this.tapeEnd };
    const stretches = this.segments.filter((segment) => segment.size > 0);
    if (offset >= endOf(stretches)) return { kind: "gap", from: offset, to: this.tapeEnd }; // T3
    const found = readFrom(this.disk, stretches, offset, max);
    if (found === undefined) throw new Fault({ code: "ENOENT", operation: "read", path: this.directory });
    return found;
  }

  /** One sync at a time; concurrent callers share the next one. */
  sync(): Promise<void> {
    if (this.queued !== undefined) return this.queued;
    if (this.running === undefined) return this.beginSync();
    this.queued = this.running.then(() => this.beginSync());
    return this.queued;
  }

  /** What was not synced stays in the page cache. */
  close(): void {
    this.closed = true;
    for (const segment of this.segments) segment.forget();
  }

  private makeDirectory(): void {
    const { disk, directory, limits } = this;
    for (const one of [...makeDirectories(disk, directory, limits.home), parentOf(directory), directory])
      this.unsyncedDirectories.add(one);
    this.made = true;
  }

  private segmentFor(length: number): Segment {
    const last = this.segments.at(-1);
    const room = last === undefined || last.size === 0 || last.size + length <= this.limits.segmentBytes;
    if (last !== undefined && room && last.start + last.size === this.tapeEnd) return last;
    this.limitWaiting();
    if (!this.made) this.makeDirectory();
    const segment = new Segment(this.disk, {
      start: this.tapeEnd,
      size: 0,
      path: segmentPath(this.directory, this.tapeEnd),
    });
    if (last !== undefined) this.retire(last);
    this.segments.push(segment);
    return segment;
  }

  /**
   * Forgets a segment without bytes and removes its file: otherwise
   * retries on a full disk would fill it with empty files.
   */
  private retire(segment: Segment): void {
    segment.retire();
    if (segment.size > 0) return;
    if (!segment.drop()) segment.forget(); // On disk it is ignored.
    this.segments = this.segments.filter((other) => other !== segment);
  }

  /** The append has already succeeded: if a segment cannot be removed now, the next append tries again. */
  private dropOldest(): void {
    let total = this.segments.reduce((sum, segment) => sum + segment.size, 0);
    while (total > this.limits.maxBytes && this.segments.length > 1) {
      const oldest = this.segments[0]; // T4
      if (oldest === undefined || !oldest.drop()) return;
      this.segments = this.segments.slice(1);
      total -= oldest.size;
    }
  }

  private limitWaiting(): void {
    const waiting = this.segments.filter((segment) => segment.waiting);
    if (waiting.length < MAX_WAITING_SEGMENTS) return;
    try {
      waiting[0]?.syncBlocking();
    } catch (error) {
      throw this.breakBy(error);
    }
  }

  private beginSync(): Promise<void> {
    this.queued = undefined;
    this.running = this.syncAll().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async syncAll(): Promise<void> {
    if (this.broken !== undefined) throw this.broken; // T5
    const directories = [...this.unsyncedDirectories];
    this.unsyncedDirectories.clear();
    try {
      for (const segment of [...this.segments]) await segment.sync();
      for (const directory of directories) await this.disk.syncDirectory(directory);
    } catch (error) {
      for (const directory of directories) this.unsyncedDirectories.add(directory);
      throw this.breakBy(error);
    }
  }

  private breakBy(error: unknown): unknown {
    if (isFailedSync(error)) this.broken = error; // T5
    return error;
  }
}
