// Directories with durable names: each is made and synced once per process, however many callers need it.
// DD1. When `make` resolves, every level below the home exists with a durable name. This includes levels that already
//      existed: the process that made them may have been killed before the sync.
// DD2. One sync of a directory serves all callers that asked before it began; later callers share the next.
// DD3. After a failed sync the next caller syncs again, as the next process would: one failure, or a disk that was full
//      for a while, must not refuse everything for the rest of this process.
// DD4. A directory that was removed meanwhile is made again.

import { joinPath, levelsOf, parentOf } from "../../base/path.ts";
import type { Disk } from "../../world/disk.ts";

/** More than a daemon uses in a while; beyond that they are synced once more, which costs little. */
const MAX_REMEMBERED = 10_000;

type Syncing = { readonly running: Promise<void>; next: Promise<void> | undefined };

export class DurableDirectories {
  readonly #disk: Disk;
  readonly #home: string;
  readonly #durable = new Set<string>();
  readonly #syncs = new Map<string, Syncing>();

  constructor(disk: Disk, home: string) {
    this.#disk = disk;
    this.#home = joinPath(home, "");
  }

  /** DD1 */
  async make(path: string): Promise<void> {
    if (this.#isThere(path)) return;
    const fresh = levelsOf(path).filter((level) => this.#makeOne(level));
    await Promise.all([...new Set(fresh.map(parentOf))].map((parent) => this.#sync(parent)));
    if (this.#durable.size > MAX_REMEMBERED) this.#durable.clear();
    for (const level of fresh) this.#durable.add(level);
  }

  #isThere(level: string): boolean {
    return this.#durable.has(level) && this.#disk.stat(level) !== undefined; // DD4
  }

  /** Returns whether its name must be made durable. */
  #makeOne(level: string): boolean {
    if (this.#isThere(level)) return false;
    if (this.#disk.stat(level) !== undefined) return level.startsWith(this.#home);
    this.#disk.makeDirectory(level);
    return true;
  }

  /** DD2 */
  #sync(directory: string): Promise<void> {
    const now = this.#syncs.get(directory);
    if (now === undefined) return this.#begin(directory);
    // The caller that began it gets its failure.
    now.next ??= now.running.catch(() => undefined).then(() => this.#begin(directory));
    return now.next;
  }

  #begin(directory: string): Promise<void> {
    // DD3
    const running = this.#disk.syncDirectory(directory).finally(() => {
      if (this.#syncs.get(directory)?.running === running) this.#syncs.delete(directory);
    });
    this.#syncs.set(directory, { running, next: undefined });
    return running;
  }
}
