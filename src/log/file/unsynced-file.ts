// Unsynced file: whole under its name for whoever lives now; after a power cut it may be anything.
// U1. Only for what is worthless by then, because the process that it was written for is gone as well.
import type { Disk } from "../../world/disk.ts";
import { openRetrying, removeIfThere, TEMP_ENDING, writeAll } from "./file.ts";

/** One writer for a path at a time. */
export function writeUnsynced(disk: Disk, path: string, bytes: Uint8Array): void {
  const temp = `${path}${TEMP_ENDING}`;
  removeIfThere(disk, temp);
  const file = openRetrying(disk, temp, "exclusive");
  try {
    writeAll(file, bytes, 0);
  } finally {
    file.close();
  }
  disk.rename(temp, path);
}
