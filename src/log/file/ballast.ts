// Ballast: a file that is given up when the disk is full, so that recovery itself can still write.
// B1. It is made only where there is comfortably room, and never keeps anything else from being written: a failure is an answer.
// B2. It is real bytes, not a hole: a sparse file would hold no space. (On a file system that compresses, zeros hold little; then it helps little.)
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import { openRetrying, removeIfThere, writeAll } from "./file.ts";

export const BALLAST_FILE = "ballast";

/** Whoever has less room than four times the ballast needs the room more than the ballast. */
const COMFORT = 4;

const CHUNK = 1024 * 1024;

/** Whether there is now a ballast of at least `bytes` bytes below `home`. */
export async function keepBallast(disk: Disk, home: string, bytes: number): Promise<boolean> {
  const path = joinPath(home, BALLAST_FILE);
  try {
    const size = disk.stat(path)?.size ?? 0;
    if (size >= bytes) return true;
    if (disk.free(home) < COMFORT * bytes) return false; // B1
    await fill(openRetrying(disk, path, "create"), size, bytes);
    return true;
  } catch (error) {
    if (!isFault(error)) throw error;
    return dropHalf(disk, path); // B1
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

/** Half a ballast would be taken for a whole one by nobody, but it would fill the disk. */
function dropHalf(disk: Disk, path: string): false {
  try {
    removeIfThere(disk, path);
  } catch (error) {
    if (!isFault(error)) throw error;
  }
  return false;
}

/** Whether there was one. Its room is free once the directory is synced: some file systems do not use it again before. */
export async function giveUpBallast(disk: Disk, home: string): Promise<boolean> {
  if (!removeIfThere(disk, joinPath(home, BALLAST_FILE))) return false;
  await disk.syncDirectory(home);
  return true;
}
