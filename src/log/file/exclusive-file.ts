// Exclusive file: created once, whole, by one of many concurrent writers.
// X1. The file is never seen half written under its name: the bytes are synced under a temporary name and then linked,
//     and the link fails if the name exists. A full disk therefore leaves no name behind.
// X2. When `createExclusive` resolves with true, bytes and name are durable; with false, the file already existed.
// X3. `createUnsynced` does the same for running processes alone: after a power cut there may be nothing, or an empty
//     file. Something else has to say then what it said.
import { isFault } from "../../base/fault.ts";
import { parentOf } from "../../base/path.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import { openRetrying, removeIfThere, TEMP_ENDING, writeAll } from "./file.ts";

/** `who` distinguishes concurrent writers; a leftover with the same `who` belongs to this writer. */
export async function createExclusive(disk: Disk, path: string, bytes: Uint8Array, who: string): Promise<boolean> {
  if (disk.stat(path) !== undefined) return false;
  const temp = `${path}.${who}${TEMP_ENDING}`;
  try {
    await writeSynced(disk, temp, bytes);
    if (!linkIfFree(disk, temp, path)) return false; // X1
  } finally {
    removeIfThere(disk, temp);
  }
  await disk.syncDirectory(parentOf(path)); // X2
  return true;
}

/** X3 */
export function createUnsynced(disk: Disk, path: string, bytes: Uint8Array, who: string): boolean {
  const temp = `${path}.${who}${TEMP_ENDING}`;
  const file = openAnew(disk, temp);
  try {
    writeAll(file, bytes, 0);
    return linkIfFree(disk, temp, path);
  } finally {
    file.close();
    removeIfThere(disk, temp);
  }
}

function openAnew(disk: Disk, temp: string): OpenFile {
  try {
    return openRetrying(disk, temp, "exclusive");
  } catch (error) {
    if (!isFault(error, "EEXIST")) throw error;
    removeIfThere(disk, temp);
    return openRetrying(disk, temp, "exclusive");
  }
}

async function writeSynced(disk: Disk, temp: string, bytes: Uint8Array): Promise<void> {
  removeIfThere(disk, temp);
  const file = openRetrying(disk, temp, "exclusive");
  try {
    writeAll(file, bytes, 0);
    await file.sync();
  } finally {
    file.close();
  }
}

function linkIfFree(disk: Disk, temp: string, path: string): boolean {
  try {
    disk.link(temp, path);
    return true;
  } catch (error) {
    if (isFault(error, "EEXIST")) return false;
    throw error;
  }
}
