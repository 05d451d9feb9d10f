// Notices the calls of the daemon's disk that fail, so that its status can report them: a disk that refuses everything
// would otherwise be known only to clients whose requests it refuses.
// FW1. Only failures of the disk count (`DISK_FAILS`), and those for lack of descriptors (`NO_DESCRIPTOR`): a missing
//      file is an ordinary answer.
// FW2. A failure is reported until the same call succeeds for the same file; for any file, if the failure concerns them
//      all (`ALL_FILES`). A while after it, any successful write ends it: that file may never be written again.
// FW3. The calls themselves are passed on unchanged.
import { type Fault, isFault } from "../base/fault.ts";
import type { DiskTrouble } from "../wire/rpc/rpc.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk, OpenFile } from "../world/disk.ts";

/** FW1 */
const DISK_FAILS = ["EIO", "EROFS", "ENOSPC", "EDQUOT", "ENXIO", "ENODEV"] as const;
const NO_DESCRIPTOR = ["EMFILE", "ENFILE"] as const;
const ALL_FILES: readonly string[] = ["EROFS", "ENOSPC", "EDQUOT", ...NO_DESCRIPTOR];
/** Calls that succeed on a disk that takes no writes. To open a file for writing is one of them, if it exists. */
const WRITES_NOTHING: readonly string[] = ["open", "read", "list"];
/** FW2: longer than the pause between retries. */
const KEPT_MS = 5_000;

type Failed = { readonly trouble: DiskTrouble; readonly failedAt: number };

export function diskTrouble({ code, operation, path, hint }: Fault, since: string | null = null): DiskTrouble {
  return { code, operation, path, hint, since };
}

export class DiskFaults {
  readonly #clock: Clock;
  #last: Failed | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get trouble(): DiskTrouble | null {
    return this.#last?.trouble ?? null;
  }

  /** The same disk, with its failures noticed. */
  watch(disk: Disk): Disk {
    return {
      open: (path, how) =>
        how === "read"
          ? this.#act("read", path, () => disk.open(path, how))
          : this.#file(this.#act("open", path, () => disk.open(path, how))),
      stat: (path) => disk.stat(path),
      lstat: (path) => disk.lstat(path),
      realPath: (path) => disk.realPath(path),
      list: (path) => this.#act("list", path, () => disk.list(path)),
      makeDirectory: (path) => this.#act("makeDirectory", path, () => disk.makeDirectory(path)),
      rename: (from, to) => this.#act("rename", to, () => disk.rename(from, to)),
      link: (from, to) => this.#act("link", to, () => disk.link(from, to)),
      unlink: (path) => this.#act("unlink", path, () => disk.unlink(path)),
      removeDirectory: (path) => this.#act("removeDirectory", path, () => disk.removeDirectory(path)),
      syncDirectory: (path) => this.#wait("syncDirectory", path, () => disk.syncDirectory(path)),
      free: (path) => disk.free(path),
    };
  }

  #file(file: OpenFile): OpenFile {
    const { path } = file;
    return {
      path,
      size: () => file.size(),
      read: (into, offset) => file.read(into, offset),
      write: (bytes, offset) => this.#act("write", path, () => file.write(bytes, offset)),
      truncate: (length) => this.#act("truncate", path, () => file.truncate(length)),
      datasync: () => this.#wait("datasync", path, () => file.datasync()),
      startSync: () => this.#act("startSync", path, () => file.startSync()),
      datasyncBlocking: () => this.#act("datasync", path, () => file.datasyncBlocking()),
      sync: () => this.#wait("sync", path, () => file.sync()),
      tryLock: () => file.tryLock(),
      close: () => file.close(),
    };
  }

  /** FW3 */
  #act<T>(operation: string, path: string, call: () => T): T {
    try {
      const result = call();
      this.#worked(operation, path);
      return result;
    } catch (error) {
      this.#failed(operation, path, error);
      throw error;
    }
  }

  /** FW3 */
  async #wait(operation: string, path: string, call: () => Promise<void>): Promise<void> {
    try {
      await call();
      this.#worked(operation, path);
    } catch (error) {
      this.#failed(operation, path, error);
      throw error;
    }
  }

  /** FW2 */
  #worked(operation: string, path: string): void {
    if (this.#last === undefined) return;
    const { trouble, failedAt } = this.#last;
    const same = trouble.operation === operation && (trouble.path === path || ALL_FILES.includes(trouble.code));
    const late = !WRITES_NOTHING.includes(operation) && this.#clock.elapsed() - failedAt >= KEPT_MS;
    if (same || late) this.#last = undefined;
  }

  /** FW1. `since` is the time of the first of several. */
  #failed(operation: string, path: string, error: unknown): void {
    if (!isFault(error, ...DISK_FAILS, ...NO_DESCRIPTOR)) return;
    const since = this.#last?.trouble.code === error.code ? this.#last.trouble.since : null;
    const trouble = diskTrouble(error, since ?? new Date(this.#clock.now()).toISOString());
    this.#last = { trouble: { ...trouble, operation, path }, failedAt: this.#clock.elapsed() };
  }
}
