// One segment file of a tape, as its writer uses it.
// U1. A failed write leaves `size` unchanged; what it wrote beyond is cut off at once, or before the next write.
// U2. The descriptor that wrote is the one that syncs: only it is sure to get a write error. It is closed when the
//     segment is retired and neither unsynced nor being synced.
// U3. Bytes left by an earlier process are written again before the sync: if a sync of that process failed, the cache
//     still shows the bytes, and no later sync would write them to disk.
import { isFault } from "../../base/fault.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import { openRetrying, readAll, removeIfThere, writeAll } from "../file/file.ts";
import type { Stretch } from "./segments.ts";

export class Segment implements Stretch {
  readonly start: number;
  readonly path: string;
  size: number;
  private readonly disk: Disk;
  private file: OpenFile | undefined;
  private unsynced: boolean;
  private syncing = false;
  private ragged = false;
  private retired = true;
  private inherited: boolean;

  /** An existing one counts as unsynced: its writer may have been killed before the sync. */
  constructor(disk: Disk, stretch: Stretch) {
    this.disk = disk;
    this.start = stretch.start;
    this.path = stretch.path;
    this.size = stretch.size;
    this.unsynced = stretch.size > 0;
    this.inherited = stretch.size > 0;
  }

  /** Whether it keeps a descriptor only for the next sync. */
  get waiting(): boolean {
    return this.unsynced && this.file !== undefined;
  }

  append(bytes: Uint8Array): void {
    // An empty file with this name may be left from a crash; it is reused, so "create" and not "exclusive".
    this.file ??= openRetrying(this.disk, this.path, "create");
    this.retired = false;
    this.unsynced = true;
    if (this.ragged) this.file.truncate(this.size); // U1
    try {
      writeAll(this.file, bytes, this.size);
      this.size += bytes.length;
    } catch (error) {
      this.cutBack(this.file);
      throw error;
    }
  }

  private cutBack(file: OpenFile): void {
    this.ragged = true;
    try {
      file.truncate(this.size);
      this.ragged = false;
    } catch (error) {
      if (!isFault(error)) throw error; // U1: cut before the next write instead.
    }
  }

  /** Makes durable what was appended before the call. */
  async sync(): Promise<void> {
    if (!this.unsynced) return;
    const file = this.openWrittenAnew();
    this.unsynced = false;
    this.syncing = true;
    try {
      await file.datasync();
    } finally {
      this.syncing = false;
      this.closeIfIdle();
    }
  }

  syncBlocking(): void {
    const file = this.openWrittenAnew();
    this.unsynced = false;
    file.datasyncBlocking();
    this.closeIfIdle();
  }

  /** U3 */
  private openWrittenAnew(): OpenFile {
    this.file ??= openRetrying(this.disk, this.path, "write");
    if (this.inherited) writeAll(this.file, readAll(this.file, 0, this.size), 0);
    this.inherited = false;
    return this.file;
  }

  /** Nothing more will be appended. */
  retire(): void {
    this.retired = true;
    this.closeIfIdle();
  }

  /** Removes the file. Returns false if the disk refuses. */
  drop(): boolean {
    try {
      removeIfThere(this.disk, this.path);
    } catch (error) {
      if (!isFault(error)) throw error;
      return false;
    }
    this.forget();
    return true;
  }

  /** Gives up syncing what is not synced yet. */
  forget(): void {
    this.unsynced = false;
    this.retire();
  }

  private closeIfIdle(): void {
    if (!this.retired || this.unsynced || this.syncing) return; // U2
    const file = this.file;
    this.file = undefined;
    file?.close();
  }
}
