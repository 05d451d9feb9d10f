// Atomic file: replaces a file as a whole or not at all (EL-4, TC-2, TC-4).
// A1. At every moment the target has its old or its new content, never a mixture: the bytes are synced under a
//     temporary name before the rename.
// A2. When `writeAtomic` resolves, the new bytes are durable under the target's name.
// A3. Two writers never share a temporary file: its name contains the checksum of its bytes, it is created exclusively,
//     and it stays locked while its writer lives, so that cleaning up can tell a stale one from one in use (file.ts,
//     F3).
// A4. A failure before the rename leaves the target untouched and no temporary file. If the directory's sync fails, a
//     power cut may bring back the old bytes; the Fault tells the caller, and nothing is retried.
import { Fault, isFault } from "../../base/fault.ts";
import { baseName, joinPath, parentOf } from "../../base/path.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import { crc32, hex8 } from "../../world/hash.ts";
import { openRetrying, removeIfThere, removeStaleTemps, TEMP_ENDING, writeAll } from "./file.ts";

export type AtomicOptions = {
  /** A checksum of the bytes, if the caller already has one (A3). */
  readonly tag?: string;
  /** Runs when the bytes are synced and the target is still the old one; an exception cancels the write. */
  readonly beforeCommit?: (synced: OpenFile) => Promise<void> | void;
  /**
   * Another directory in which `beforeCommit` made names: synced together
   * with the target's, which is cheaper than one after the other.
   */
  readonly alsoSync?: string;
};

type Fill = (temp: OpenFile) => Promise<void> | void;
type Replacing = AtomicOptions & { readonly tag: string; readonly mustBeNew?: boolean };

/** When a second name cannot be made: not supported, not allowed, too many, or another file system. */
export const NO_LINKS = ["EPERM", "EOPNOTSUPP", "ENOTSUP", "ENOSYS", "EMLINK", "EXDEV"] as const;

/** More concurrent writers of the same bytes to the same target than this are a bug. */
const MAX_TEMPS = 100;

/** Another process can clean up our file only between creating and locking it; this often in a row is not chance. */
const MAX_ATTEMPTS = 10;

export function writeAtomic(disk: Disk, path: string, bytes: Uint8Array, options: AtomicOptions = {}): Promise<void> {
  const tag = options.tag ?? hex8(crc32(bytes));
  return writeAtomicBy(disk, path, (temp) => writeAll(temp, bytes, 0), { ...options, tag });
}

/** The same for a file that is written in pieces. With `mustBeNew`, a target that exists is a Fault EEXIST. */
export async function writeAtomicBy(disk: Disk, path: string, fill: Fill, options: Replacing): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    if (await replace(disk, path, fill, options)) break;
    if (attempt === MAX_ATTEMPTS) throw new Fault({ code: "EBUSY", operation: "replace", path });
  }
  const directories = new Set([parentOf(path), options.alsoSync ?? parentOf(path)]);
  await Promise.all([...directories].map((directory) => disk.syncDirectory(directory))); // A2
}

/** Returns false if another process cleaned up the temporary file: then nothing has happened. */
async function replace(disk: Disk, path: string, fill: Fill, options: Replacing): Promise<boolean> {
  removeStaleTemps(disk, parentOf(path), `${baseName(path)}.`);
  const temp = makeTemp(disk, path, options.tag);
  try {
    await fill(temp);
    await temp.sync(); // A1
    await options.beforeCommit?.(temp);
    return (options.mustBeNew === true ? linkIfThere : renameIfThere)(disk, temp.path, path);
  } catch (error) {
    removeBestEffort(disk, temp.path); // A4
    throw error;
  } finally {
    temp.close();
  }
}

function makeTemp(disk: Disk, path: string, tag: string): OpenFile {
  for (let number = 0; number < MAX_TEMPS; number += 1) {
    const file = openIfNew(disk, joinPath(parentOf(path), `${baseName(path)}.${tag}-${number}${TEMP_ENDING}`));
    if (file !== undefined && isLocked(disk, file)) return file; // A3
  }
  throw new Fault({ code: "EBUSY", operation: "make a temporary file for", path });
}

/** If the lock is taken, another process is cleaning up: it will remove the file, and we use another name. */
function isLocked(disk: Disk, file: OpenFile): boolean {
  try {
    if (file.tryLock()) return true;
  } catch (error) {
    removeBestEffort(disk, file.path); // A4
    file.close();
    throw error;
  }
  file.close();
  return false;
}

function openIfNew(disk: Disk, path: string): OpenFile | undefined {
  try {
    return openRetrying(disk, path, "exclusive");
  } catch (error) {
    if (isFault(error, "EEXIST")) return undefined;
    throw error;
  }
}

function renameIfThere(disk: Disk, from: string, to: string): boolean {
  try {
    disk.rename(from, to);
    return true;
  } catch (error) {
    if (isFault(error, "ENOENT")) return false;
    throw error;
  }
}

/** As a rename that replaces nothing. Without links, what comes between the look and the rename is replaced. */
function linkIfThere(disk: Disk, from: string, to: string): boolean {
  try {
    disk.link(from, to);
  } catch (error) {
    if (isFault(error, "ENOENT")) return false;
    if (!isFault(error, ...NO_LINKS)) throw error;
    if (disk.lstat(to) !== undefined) throw new Fault({ code: "EEXIST", operation: "make", path: to }, error);
    return renameIfThere(disk, from, to);
  }
  removeIfThere(disk, from);
  return true;
}

/** The original failure is the one to report; the next write removes a leftover temporary file. */
function removeBestEffort(disk: Disk, path: string): void {
  try {
    removeIfThere(disk, path);
  } catch (error) {
    if (!isFault(error)) throw error;
  }
}
