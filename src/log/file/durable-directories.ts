// Directories whose names are durable: each is made and synced once in the life of a process, however many ask for it.
// DD1. When `make` resolves, every level below the home is there and its name durable. Levels that were there count too: whoever made
//      them may have been killed before the sync.
// DD2. One sync of a directory serves all who asked before it began; whoever comes later waits for the next.
// DD3. A sync that failed is not repeated: whoever needs that directory hears of it for the life of the process.
// DD4. What was removed from under us is made again.

import { joinPath, levelsOf, parentOf } from "../../base/path.ts";
import type { Disk } from "../../world/disk.ts";
import { isFailedSync } from "./file.ts";

/** As many as a daemon uses in a while; beyond it they are synced once more, which costs little. */
const MAX_REMEMBERED = 10_000;

type Syncing = { readonly running: Promise<void>; next: Promise<void> | undefined };

export class DurableDirectories {
  readonly #disk: Disk;
  readonly #home: string;
  readonly #durable = new Set<string>();
  readonly #syncs = new Map<string, Syncing>();
  readonly #failed = new Map<string, unknown>();

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

  /** Whether its name is to be made durable. */
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
    now.next ??= now.running.catch(() => undefined).then(() => this.#begin(directory)); // Who began it hears of its failure.
    return now.next;
  }

  #begin(directory: string): Promise<void> {
    const running = this.#syncOnce(directory).finally(() => {
      if (this.#syncs.get(directory)?.running === running) this.#syncs.delete(directory);
    });
    this.#syncs.set(directory, { running, next: undefined });
    return running;
  }

  async #syncOnce(directory: string): Promise<void> {
    if (this.#failed.has(directory)) throw this.#failed.get(directory); // DD3
    try {
      await this.#disk.syncDirectory(directory);
    } catch (error) {
      if (isFailedSync(error)) this.#failed.set(directory, error);
      throw error;
    }
  }
}
