// The log that people read: what watchdog and daemon say, one line each, in `run/watchdog.log`.
import { joinPath, openRetrying, readAll } from "../log/file.ts";
import type { Disk } from "../world/disk.ts";

/** Years of quiet running fit in here; what is older is kept once more, under another name. */
const MOST_BYTES = 8 << 20;
/** A line of ours is shorter. */
const LAST_BYTES = 4096;

export function logPath(home: string): string {
  return joinPath(home, "run/watchdog.log");
}

/** Before somebody begins to write to it: a log that has grown large makes room. */
export function turnOver(disk: Disk, home: string): void {
  const path = logPath(home);
  if ((disk.stat(path)?.size ?? 0) > MOST_BYTES) disk.rename(path, `${path}.1`);
}

export function lastLogLine(disk: Disk, home: string): string | undefined {
  const size = disk.stat(logPath(home))?.size ?? 0;
  const text = readPart(disk, logPath(home), Math.max(0, size - LAST_BYTES), LAST_BYTES);
  return text.trimEnd().split("\n").at(-1) || undefined;
}

/** `length` bytes at `from` as text; what is not there is empty. */
export function readPart(disk: Disk, path: string, from: number, length: number): string {
  if (disk.stat(path) === undefined) return "";
  const file = openRetrying(disk, path, "read");
  try {
    return new TextDecoder().decode(readAll(file, from, length));
  } finally {
    file.close();
  }
}
