// Whether all bytes of a file can be read, for files without a checksum: a bad sector fails when it is read.
import { isFault } from "../../base/fault.ts";
import type { Disk } from "../../world/disk.ts";
import { openRetrying, readAll } from "./file.ts";

const BLOCK = 1 << 20;

/** A file that is gone by now has nothing to lose. */
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
