// Whether a file gives its bytes back, for what has no checksum of its own: a bad sector says so when it is read.
import { isFault } from "../../base/fault.ts";
import type { Disk } from "../../world/disk.ts";
import { openRetrying, readAll } from "./file.ts";

const BLOCK = 1 << 20;

/** One that is gone meanwhile has nothing to give back. */
export function isReadable(disk: Disk, path: string): boolean {
  try {
    const file = openRetrying(disk, path, "read");
    try {
      for (let at = 0; readAll(file, at, BLOCK).length === BLOCK; at += BLOCK);
    } finally {
      file.close();
    }
    return true;
  } catch (error) {
    if (isFault(error)) return isFault(error, "ENOENT");
    throw error;
  }
}
