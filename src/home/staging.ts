// A home that is being made, beside its place, under another name.
// SG1. It takes its name in one step when all of it is durable: under that name there is a whole home or none. What a
//      killed process left beside it is removed by the next one that makes a home there.
// SG2. One process makes it, and has its lock until it takes its name.
import { isFault } from "../base/fault.ts";
import { baseName, joinPath, parentOf } from "../base/path.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { makeDirectories, openRetrying, removeTree } from "../log/file/file.ts";
import type { Disk, OpenFile } from "../world/disk.ts";

/** SG2 */
const STAGING_LOCK = "restoring.lock";
/** Open files that are synced together: the disk shares the work. */
const AT_ONCE = 64;

/** `mark`: a file that is in it from the moment at which only its name is missing, if it has no lock any more. */
type Wish = { readonly home: string; readonly ending: string; readonly mark: string };

export class Staging {
  readonly #disk: Disk;
  readonly #home: string;
  readonly #lock: OpenFile;
  readonly #directories = new Set<string>();
  #open: OpenFile[] = [];
  /** Where it is made. */
  readonly path: string;

  /** The name of the lock is durable before there is anything else. */
  static async begin(disk: Disk, { home, ending, mark }: Wish): Promise<Result<Staging>> {
    const path = joinPath(parentOf(home), `${baseName(home)}.${ending}`);
    if (!disk.makeDirectory(path) && disk.list(path).length > 0) {
      if (!isLeftover(disk, path, mark)) return refused("backup.busy", `${path} is in use, or not ours.`, WAIT);
      removeTree(disk, path);
      disk.makeDirectory(path);
    }
    const lock = openRetrying(disk, joinPath(path, STAGING_LOCK), "create");
    if (!lock.tryLock()) {
      lock.close();
      return refused("backup.busy", `Another process makes ${path}.`, "Wait until it has ended.");
    }
    await disk.syncDirectory(path);
    return ok(new Staging(disk, { home, path, lock }));
  }

  private constructor(disk: Disk, { home, path, lock }: { home: string; path: string; lock: OpenFile }) {
    this.#disk = disk;
    this.#home = home;
    this.#lock = lock;
    this.path = path;
    this.#directories.add(path);
  }

  /** A new file at this path below the home; it is closed, and durable, by `settle`. */
  async create(path: string): Promise<OpenFile> {
    if (this.#open.length >= AT_ONCE) await this.#sync();
    const whole = joinPath(this.path, path);
    this.#makeDirectory(parentOf(whole));
    const file = openRetrying(this.#disk, whole, "exclusive");
    this.#open.push(file);
    return file;
  }

  /** Everything that was created is durable. */
  async settle(): Promise<void> {
    await this.#sync();
    const directories = [...this.#directories];
    for (let at = 0; at < directories.length; at += AT_ONCE)
      await Promise.all(directories.slice(at, at + AT_ONCE).map((directory) => this.#disk.syncDirectory(directory)));
  }

  /** SG1. Nothing is at its place any more, or an empty directory. */
  async takeName(): Promise<void> {
    this.#disk.unlink(joinPath(this.path, STAGING_LOCK));
    await this.#disk.syncDirectory(this.path);
    this.#disk.rename(this.path, this.#home);
    await this.#disk.syncDirectory(parentOf(this.#home));
  }

  /** The original failure is the one to report; the next process removes what is left. */
  removeBestEffort(): void {
    try {
      for (const file of this.#open.splice(0)) file.close();
      removeTree(this.#disk, this.path);
    } catch (error) {
      if (!isFault(error)) throw error;
    }
  }

  close(): void {
    this.#lock.close();
  }

  #makeDirectory(path: string): void {
    if (this.#directories.has(path)) return;
    makeDirectories(this.#disk, path);
    for (let at = path; !this.#directories.has(at); at = parentOf(at)) this.#directories.add(at);
  }

  async #sync(): Promise<void> {
    const files = this.#open.splice(0);
    try {
      await Promise.all(files.map((file) => file.sync()));
    } finally {
      for (const file of files) file.close();
    }
  }
}

/** Whether its lock is there and free, or it is whole and only waits for its name. */
function isLeftover(disk: Disk, staging: string, mark: string): boolean {
  const path = joinPath(staging, STAGING_LOCK);
  if (disk.lstat(path)?.kind !== "file") return disk.lstat(joinPath(staging, mark)) !== undefined;
  const left = openRetrying(disk, path, "read");
  const isFree = left.tryLock();
  left.close();
  return isFree;
}

const WAIT = "Wait for the other process, or move it.";
