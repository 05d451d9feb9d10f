// Basic file operations on top of the raw disk calls, for everything in `log/`.
// F1. A short read or write is continued, an interrupted one (EINTR) is retried; a write of zero bytes is a Fault.
// F2. No sync is ever repeated, not even after EINTR: the kernel may have dropped the pages, and the second sync would
//     falsely succeed. So nothing here syncs: callers sync themselves and let the Fault through.
// F3. A writer locks its temporary file while it lives; only an unlocked one is stale.
import { assert } from "../../base/assert.ts";
import { Fault, isFault } from "../../base/fault.ts";
import { joinPath, levelsOf, parentOf } from "../../base/path.ts";
import type { Disk, OpenFile, OpenHow } from "../../world/disk.ts";

/** A storm of signals ends long before this; a call that is interrupted for ever should fail visibly. */
const MAX_INTERRUPTIONS = 1000;

export const TEMP_ENDING = ".tmp";

/** Retries `call` if a signal interrupted it. Never for a sync (F2). */
function begunAgain<T>(call: () => T): T {
  for (let interruptions = 0; ; interruptions += 1) {
    try {
      return call();
    } catch (error) {
      if (!isFault(error, "EINTR") || interruptions >= MAX_INTERRUPTIONS) throw error; // F1
    }
  }
}

export function openRetrying(disk: Disk, path: string, how: OpenHow): OpenFile {
  return begunAgain(() => disk.open(path, how));
}

/** Writes all of `bytes` at `offset`, in as many calls as needed. What it wrote before a Fault stays written. */
export function writeAll(file: OpenFile, bytes: Uint8Array, offset: number): void {
  let done = 0;
  while (done < bytes.length) {
    const rest = done === 0 ? bytes : bytes.subarray(done);
    const taken = begunAgain(() => file.write(rest, offset + done));
    if (taken === 0) throw new Fault({ code: "EIO", operation: "write", path: file.path, hint: NOTHING_TAKEN }); // F1
    assert(taken > 0 && taken <= rest.length, "the disk takes no more than it is given");
    done += taken;
  }
}

const NOTHING_TAKEN =
  "The disk wrote no bytes and gave no reason. Check its health (dmesg, smartctl), then start again.";

/** Reads `length` bytes at `offset`; fewer only at the end of the file. */
export function readAll(file: OpenFile, offset: number, length: number): Uint8Array {
  // Not cleared, since only what was read is returned; and not a
  // Buffer, whose `slice` shares memory while an array's copies.
  const bytes = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer);
  let done = 0;
  while (done < length) {
    const rest = bytes.subarray(done);
    const came = begunAgain(() => file.read(rest, offset + done));
    if (came === 0) return bytes.subarray(0, done);
    done += came;
  }
  return bytes;
}

/**
 * Whether a sync ran and failed. One that could not even open
 * its directory, for lack of descriptors, may be retried (F2).
 */
export function isFailedSync(error: unknown): error is Fault {
  return isFault(error) && !isFault(error, "EMFILE", "ENFILE");
}

/** All bytes of a file, or the first `most` of them; undefined if the file is missing. */
export function readWhole(disk: Disk, path: string, most = Number.POSITIVE_INFINITY): Uint8Array | undefined {
  const file = openExisting(disk, path);
  if (file === undefined) return undefined;
  try {
    return readAll(file, 0, Math.min(most, file.size()));
  } finally {
    file.close();
  }
}

const NEWLINE = 10;
const LOOKED_AT = 1 << 20;

/** Where the last line ends that has its newline. */
export function wholeLines(file: OpenFile): number {
  for (let end = file.size(); end > 0; end -= LOOKED_AT) {
    const start = Math.max(0, end - LOOKED_AT);
    const newline = readAll(file, start, end - start).lastIndexOf(NEWLINE);
    if (newline >= 0) return start + newline + 1;
  }
  return 0;
}

/** Undefined if the file is missing. */
export function openExisting(disk: Disk, path: string): OpenFile | undefined {
  try {
    return openRetrying(disk, path, "read");
  } catch (error) {
    if (isFault(error, "ENOENT")) return undefined;
    throw error;
  }
}

/**
 * Makes the missing levels of `path`. Returns the directories whose sync makes those names durable, outermost first; it
 * does not sync them. With `within`, existing levels below it are included: the process that made them may have been
 * killed before the sync, and the page cache is not the disk.
 */
export function makeDirectories(disk: Disk, path: string, within?: string): string[] {
  const parents: string[] = [];
  for (const level of levelsOf(path)) {
    const exists = disk.stat(level) !== undefined;
    if (!exists) disk.makeDirectory(level);
    const doubtful = within !== undefined && level.startsWith(joinPath(within, ""));
    if (!exists || doubtful) parents.push(parentOf(level));
  }
  return parents;
}

/** Removes the temporary files in `directory` that no living writer has locked (F3). Returns how many. */
export function removeStaleTemps(disk: Disk, directory: string, prefix = ""): number {
  let removed = 0;
  for (const name of disk.list(directory)) {
    if (!name.startsWith(prefix) || !name.endsWith(TEMP_ENDING)) continue;
    if (removeIfStale(disk, joinPath(directory, name))) removed += 1;
  }
  return removed;
}

/**
 * Unlinks while holding the lock, so that two processes do not
 * clean up the same file. A file that we may not touch stays.
 */
function removeIfStale(disk: Disk, path: string): boolean {
  let file: OpenFile | undefined;
  try {
    file = openExisting(disk, path);
    return file?.tryLock() === true && removeIfThere(disk, path); // F3
  } catch (error) {
    if (isFault(error, "EACCES", "EPERM", "EISDIR")) return false;
    throw error;
  } finally {
    file?.close();
  }
}

/** Returns false if it was already gone. */
export function removeIfThere(disk: Disk, path: string): boolean {
  try {
    disk.unlink(path);
    return true;
  } catch (error) {
    if (isFault(error, "ENOENT")) return false;
    throw error;
  }
}

/** The names in a directory; none if it is a symbolic link to one, because what is behind it is not ours to remove. */
export function listWithin(disk: Disk, path: string): string[] {
  return disk.lstat(path)?.kind === "directory" ? disk.list(path) : [];
}

/** Removes a directory and everything in it; of a symbolic link, only the link. */
export function removeTree(disk: Disk, path: string): void {
  if (disk.lstat(path)?.kind !== "directory") {
    removeIfThere(disk, path);
    return;
  }
  for (const name of disk.list(path)) removeTree(disk, joinPath(path, name));
  disk.removeDirectory(path);
}
