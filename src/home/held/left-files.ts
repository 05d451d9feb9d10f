// What a holder and the daemon leave in the directory of a held program, for garbage collection.
// LF1. Only names that are ours are listed: files of other programs stay, and so does a directory that holds some.
// LF2. Contents come before their directory, and nothing behind a symbolic link is listed.
import { joinPath } from "../../base/path.ts";
import { listWithin } from "../../log/file/file.ts";
import { isSegmentName } from "../../log/tape/segments.ts";
import { isTimesName } from "../../log/tape/time-log.ts";
import type { Disk } from "../../world/disk.ts";

/** The directories, and the names in them that are ours. A program on pipes has all three tapes (holder/output.ts). */
const DIRECTORIES: Readonly<Record<string, (name: string) => boolean>> = {
  keyframes: (name) => /^\d{16}\.vt$/.test(name),
  times: isTimesName,
  tape: isSegmentName,
  "stderr-tape": isSegmentName,
  "input-tape": isSegmentName,
};

/** Records of all generations, sizes and a step's values; also the temporary files of those, if a crash left any. */
const RECORD = /^(?:(?:holder|claim|exit)(?:-\d+)?\.json|sizes\.jsonl|file-\d+)(?:(?:\.[\w-]+)?\.tmp)?$/;

/** A directory that holds files of other programs stays, and is not worth a mention. */
export function isRemovable(disk: Disk, path: string): boolean {
  return disk.lstat(path)?.kind !== "directory" || disk.list(path).length === 0;
}

/** What its program printed, what it was sent on pipes, and what was made of that. */
export function tapeFiles(disk: Disk, directory: string): string[] {
  const names = listWithin(disk, directory);
  return Object.entries(DIRECTORIES).flatMap(([name, isOurs]) => {
    const inside = joinPath(directory, name);
    if (!names.includes(name) || disk.lstat(inside)?.kind !== "directory") return []; // LF2
    const files = disk.list(inside).filter(isOurs); // LF1
    return [...files.map((file) => joinPath(inside, file)), inside];
  });
}

export function recordFiles(disk: Disk, directory: string): string[] {
  const names = listWithin(disk, directory).filter((name) => RECORD.test(name)); // LF1
  return names.map((name) => joinPath(directory, name));
}
