// The small files of the host, below the home's run/ directory.
// Nothing in them needs to survive a power cut, so nothing is synced.
// F1. A file is replaced as a whole: a reader sees the old one or the new one.
// F2. One host for each home: the lock is the system's and ends with its owner, however that dies.
import { Fault, isFault } from "../base/fault.ts";
import type { Disk, OpenFile, OpenHow } from "../world/disk.ts";
import type { ProcessIdentity } from "../world/process.ts";

/** None of our files comes near it. */
const MAX_BYTES = 1 << 20;

/** The bytes of a small file; undefined if there is none. */
export function readSmall(disk: Disk, path: string): Uint8Array | undefined {
  const file = openIfThere(disk, path, "read");
  if (file === undefined) return undefined;
  try {
    const bytes = new Uint8Array(Math.min(file.size(), MAX_BYTES));
    let done = 0;
    for (let came = -1; came !== 0 && done < bytes.length; done += came) came = file.read(bytes.subarray(done), done);
    return bytes.subarray(0, done);
  } finally {
    file.close();
  }
}

export function readText(disk: Disk, path: string): string | undefined {
  const bytes = readSmall(disk, path);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes).trim();
}

function openIfThere(disk: Disk, path: string, how: OpenHow): OpenFile | undefined {
  try {
    return disk.open(path, how);
  } catch (error) {
    if (isFault(error, "ENOENT")) return undefined;
    throw error;
  }
}

/**
 * F1. The temporary name is always the same: with F2 there is one writer, and a dead one's file is simply overwritten.
 */
export function replaceSmall(disk: Disk, path: string, text: string): void {
  const temp = `${path}.tmp`;
  const file = disk.open(temp, "create");
  try {
    write(file, Buffer.from(text));
  } finally {
    file.close();
  }
  disk.rename(temp, path);
}

function write(file: OpenFile, bytes: Uint8Array): void {
  file.truncate(0);
  let done = 0;
  while (done < bytes.length) {
    const taken = file.write(bytes.subarray(done), done);
    if (taken === 0) throw new Fault({ code: "EIO", operation: "write", path: file.path });
    done += taken;
  }
}

/** Returns undefined if another host has the lock. It is held as long as the process lives. */
export function takeLock(disk: Disk, path: string, owner: ProcessIdentity): OpenFile | undefined {
  const file = disk.open(path, "create");
  if (!file.tryLock()) {
    file.close();
    return undefined; // F2
  }
  write(file, Buffer.from(`${JSON.stringify(owner)}\n`));
  return file;
}
