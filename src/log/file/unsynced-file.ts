// Unsynced file: whole under its name for running processes; after a power cut it may contain anything.
// U1. Only for content that is worthless by then, because the process it was written for is gone as well.
import type { Disk } from "../../world/disk.ts";
import { openRetrying, removeIfThere, TEMP_ENDING, writeAll } from "./file.ts";

/** Only one writer at a time per path. */
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
