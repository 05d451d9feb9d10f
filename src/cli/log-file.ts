// Reads the log for people (home/run-log.ts).
// LF1. A power cut may leave NULs where its last lines were: they are not shown.
// LF2. A daemon says why it ends; after that the watchdog adds that it did, and that it starts the next one.

import { logPath } from "../home/run-log.ts";
import { openRetrying, readAll } from "../log/file/file.ts";
import type { Disk } from "../world/disk.ts";

/** Our lines are shorter. */
const LAST_BYTES = 4096;

/** What the watchdog reports of a daemon. */
const NOTED = / watchdog \d+: daemon \(\d+\)(?:: started| is unresponsive)$/;
const ENDED = / watchdog \d+: daemon \((\d+)\): exited \d+$/;

/** The last line; if it is that a daemon has ended, why: the last line of that daemon (LF2). */
export function lastLogLine(disk: Disk, home: string): string | undefined {
  const size = disk.stat(logPath(home))?.size ?? 0;
  const text = readPart(disk, logPath(home), Math.max(0, size - LAST_BYTES), LAST_BYTES);
  const lines = written(text.split("\n")).filter((line) => line.trim() !== "");
  const ended = ENDED.exec(lines.findLast((line) => !NOTED.test(line)) ?? "")?.[1];
  return lines.findLast((line) => line.includes(` daemon ${ended}: `)) ?? lines.at(-1);
}

/** LF1. A line that has nothing else is left out. */
export function written(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const text = line.replaceAll("\0", "");
    return text === "" && line !== "" ? [] : [text];
  });
}

/** `length` bytes at `from` as text; empty beyond the end. */
export function readPart(disk: Disk, path: string, from: number, length: number): string {
  if (disk.stat(path) === undefined) return "";
  const file = openRetrying(disk, path, "read");
  try {
    return new TextDecoder().decode(readAll(file, from, length));
  } finally {
    file.close();
  }
}
