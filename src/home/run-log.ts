// The log that people read, `run/watchdog.log`: watchdog, daemon,
// web host and the stderr of watched programs all append to it.
// RL1. It is bounded: when it is too large, its end is copied beside it and it is truncated; its writers need not know.
//      What is written at that very moment is lost; nothing depends on it.
// RL2. If the disk refuses the copy, there is no copy: a log must not fill a disk.

import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { openRetrying, readAll, removeIfThere, writeAll } from "../log/file/file.ts";
import type { Disk, OpenFile } from "../world/disk.ts";
import { RUN_LOG } from "./layout.ts";

/** Enough for years of quiet running. */
export const MAX_LOG_BYTES = 8 << 20;
const PART_BYTES = 256 << 10;

export function logPath(home: string): string {
  return joinPath(home, RUN_LOG);
}

/** RL1 */
export function turnOver(disk: Disk, home: string): void {
  const path = logPath(home);
  if ((disk.stat(path)?.size ?? 0) <= MAX_LOG_BYTES) return;
  const log = openRetrying(disk, path, "write");
  try {
    copyEnd(disk, log, `${path}.1`);
  } catch (error) {
    if (!isFault(error)) throw error;
    removeIfThere(disk, `${path}.1.tmp`); // RL2
  } finally {
    log.truncate(0);
    log.close();
  }
}

function copyEnd(disk: Disk, log: OpenFile, path: string): void {
  const from = Math.max(0, log.size() - MAX_LOG_BYTES);
  const copy = openRetrying(disk, `${path}.tmp`, "create");
  try {
    let length = 0;
    for (let part = readAll(log, from, PART_BYTES); part.length > 0 && length < MAX_LOG_BYTES; ) {
      writeAll(copy, part, length);
      length += part.length;
      part = readAll(log, from + length, PART_BYTES);
    }
    copy.truncate(length); // An earlier attempt may have left more.
  } finally {
    copy.close();
  }
  disk.rename(`${path}.tmp`, path);
}
