// Directories with durable names: each is made and synced once per process, however many callers need it.
// DD1. When `make` resolves, every level below the home exists with a durable name. This includes levels that already
//      existed: the process that made them may have been killed before the sync.
// DD2. One sync of a directory serves all callers that asked before it began; later callers share the next.
// DD3. A failed sync is not repeated: it may have lost names that the next one would not write again. Those that were
//      made before it failed are in doubt: the next caller removes such a directory and makes it anew, so that its name
//      is written. If it is not empty, its callers get the failure for the life of the process, with the hint to
//      start another one.
// DD4. A directory that was removed meanwhile is made again.

import { allOf } from "../../base/all-of.ts";
import { Fault, isFault } from "../../base/fault.ts";
import { joinPath, levelsOf, parentOf } from "../../base/path.ts";
import type { Disk } from "../../world/disk.ts";
import { isFailedSync } from "./file.ts";

/** More than a daemon uses in a while; beyond that they are synced once more, which costs little. */
const MAX_REMEMBERED = 10_000;

const RESTART = "Check the health of the disk (dmesg, smartctl), then: holdfast down && holdfast up";

type Syncing = { readonly running: Promise<void>; next: Promise<void> | undefined };

export class DurableDirectories {
  readonly #disk: Disk;
  readonly #home: string;
  readonly #durable = new Set<string>();
  readonly #syncs = new Map<string, Syncing>();
  /** DD3. With the failure. */
  readonly #doubtful = new Map<string, Fault>();

  constructor(disk: Disk, home: string) {
    this.#disk = disk;
    this.#home = joinPath(home, "");
  }

  /** DD1 */
  async make(path: string): Promise<void> {
    if (this.#isThere(path)) return;
    const fresh = levelsOf(path).filter((level) => this.#makeOne(level));
    await allOf([...new Set(fresh.map(parentOf))].map((parent) => this.#named(parent, fresh)));
    if (this.#durable.size > MAX_REMEMBERED) this.#durable.clear();
    for (const level of fresh) this.#durable.add(level);
  }

  /** Makes the names of those that are in `parent` durable. */
  async #named(parent: string, fresh: readonly string[]): Promise<void> {
    try {
      await this.#sync(parent);
    } catch (error) {
      if (isFailedSync(error))
        for (const level of fresh) if (parentOf(level) === parent) this.#doubtful.set(level, error); // DD3
      throw error;
    }
  }

  #isThere(level: string): boolean {
    return this.#durable.has(level) && this.#disk.stat(level) !== undefined; // DD4
  }

  /** Returns whether its name must be made durable. */
  #makeOne(level: string): boolean {
    if (this.#isThere(level)) return false;
    if (this.#doubtful.has(level)) this.#removeDoubtful(level);
    if (this.#disk.stat(level) !== undefined) return level.startsWith(this.#home);
    this.#disk.makeDirectory(level);
    return true;
  }

  /** DD3 */
  #removeDoubtful(level: string): void {
    const failed = this.#doubtful.get(level);
    try {
      this.#disk.removeDirectory(level);
    } catch (error) {
      if (failed !== undefined && isFault(error, "ENOTEMPTY"))
        throw new Fault({ code: failed.code, operation: failed.operation, path: failed.path, hint: RESTART }, failed);
      if (!isFault(error, "ENOENT")) throw error;
    }
    this.#doubtful.delete(level);
  }

  /** DD2 */
  #sync(directory: string): Promise<void> {
    const now = this.#syncs.get(directory);
    if (now === undefined) return this.#begin(directory);
    now.next ??= now.running.then(() => this.#begin(directory)); // DD3: also its failure.
    return now.next;
  }

  #begin(directory: string): Promise<void> {
    const running = this.#disk.syncDirectory(directory).finally(() => {
      if (this.#syncs.get(directory)?.running === running) this.#syncs.delete(directory);
    });
    this.#syncs.set(directory, { running, next: undefined });
    return running;
  }
}
