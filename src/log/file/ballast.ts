// Ballast: a file that is removed when the disk is full, so that recovery itself can still write.
// B1. It is made only if there is plenty of room, and never prevents other writes: a failure is a result, not an error.
// B2. It has real bytes, not a hole: a sparse file would reserve no space. (On a compressing file system zeros reserve
//     little.)
// B3. One that is larger than wanted is cut: the room belongs to the user who asked for less.
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import { openRetrying, removeIfThere, writeAll } from "./file.ts";

export const BALLAST_FILE = "ballast";

/** With less room than four times the ballast, the room is needed more than the ballast. */
const COMFORT = 4;

const CHUNK = 1024 * 1024;

/** Returns whether there is now a ballast of `bytes` bytes below `home`. */
export async function keepBallast(disk: Disk, home: string, bytes: number): Promise<boolean> {
  const path = joinPath(home, BALLAST_FILE);
  try {
    const size = disk.stat(path)?.size ?? 0;
    if (size > bytes) cut(disk, path, bytes); // B3
    if (size >= bytes) return true;
    if (disk.free(home) < COMFORT * bytes) return false; // B1
    await fill(openRetrying(disk, path, "create"), size, bytes);
    return true;
  } catch (error) {
    if (!isFault(error)) throw error;
    return dropHalf(disk, path); // B1
  }
}

function cut(disk: Disk, path: string, bytes: number): void {
  if (bytes === 0) return void removeIfThere(disk, path);
  const file = openRetrying(disk, path, "write");
  try {
    file.truncate(bytes);
  } finally {
    file.close();
  }
}

async function fill(file: OpenFile, from: number, to: number): Promise<void> {
  try {
    const zeros = new Uint8Array(Math.min(CHUNK, to - from));
    for (let at = from; at < to; at += zeros.length) writeAll(file, zeros.subarray(0, to - at), at); // B2
    await file.sync();
  } finally {
    file.close();
  }
}

/** Half a ballast would not count as one, but it would fill the disk. */
function dropHalf(disk: Disk, path: string): false {
  try {
    removeIfThere(disk, path);
  } catch (error) {
    if (!isFault(error)) throw error;
  }
  return false;
}

/** Between two looks. */
const LOOK_EVERY_MS = 30_000;

/** Makes the ballast again once there is room for it. */
export class BallastKeeper {
  readonly #place: { readonly disk: Disk; readonly clock: Clock; readonly home: string };
  readonly #bytes: number;
  #next = 0;

  constructor(place: { readonly disk: Disk; readonly clock: Clock; readonly home: string }, bytes: number) {
    this.#place = place;
    this.#bytes = bytes;
  }

  /** Cheap enough for every heartbeat. */
  async tend(): Promise<void> {
    const { disk, clock, home } = this.#place;
    if (clock.elapsed() < this.#next) return;
    this.#next = clock.elapsed() + LOOK_EVERY_MS;
    await keepBallast(disk, home, this.#bytes);
  }
}

/** Returns whether there was one. Syncs the directory, because some file systems do not reuse the room before that. */
export async function giveUpBallast(disk: Disk, home: string): Promise<boolean> {
  if (!removeIfThere(disk, joinPath(home, BALLAST_FILE))) return false;
  await disk.syncDirectory(home);
  return true;
}
