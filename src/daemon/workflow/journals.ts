// Which journal each holder of attempts writes (log/file/journal.ts).
// JN1. A journal is only used again when no attempt in it is open by the log any more: until then it may be all that
//      says that the attempt was claimed, or how it ended. If its run is not known, that counts as open as long as the
//      run's directory is there.
// JN2. A holder gets a journal that no living process has locked, and the number of its last use: if another process
//      was quicker, the holder does without (J4 of log/file/journal.ts).
// JN3. Without one, because the disk has no room or fails, steps run all the same: their claims and exits are files.
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import { attemptsOf, type Run } from "../../core/workflow/run.ts";
import { journalPath, journalPaths, type Recorded, recordedIn, restoreFiles } from "../../home/held/journals.ts";
import { JOURNALS } from "../../home/layout.ts";
import { makeDirectories } from "../../log/file/file.ts";
import { isJournalInUse, type JournalUse, makeJournal, readJournal } from "../../log/file/journal.ts";
import type { Disk } from "../../world/disk.ts";
import type { Processes } from "../../world/process.ts";

/** As many as steps run at once; beyond that, JN3. */
const MAX_JOURNALS = 64;

export type JournalPorts = {
  run(id: string): Run | undefined;
  /** Whether all that the log says of a run is known: it was not set aside. */
  isWhole(id: string): boolean;
};

type World = { readonly disk: Disk; readonly home: string; readonly processes: Pick<Processes, "bootId"> };

export class Journals {
  readonly #world: World;
  readonly #ports: JournalPorts;
  readonly #taken = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(world: World, ports: JournalPorts) {
    this.#world = world;
    this.#ports = ports;
  }

  /** For a new holder; undefined if there is none (JN3). */
  take(): Promise<JournalUse | undefined> {
    const taken = this.#turn.then(() => this.#take());
    this.#turn = taken;
    return taken;
  }

  /** Its holder is gone. */
  giveBack({ path }: JournalUse): void {
    this.#taken.delete(path);
  }

  /** JL1 of home/held/journals.ts, for all attempts that are open by the log, or for one. How many files were made. */
  restore(attempt?: string): Promise<number> {
    return restoreFiles(this.#world, (one) => (attempt === undefined ? this.#isOpen(one) : one.attempt === attempt));
  }

  async #take(): Promise<JournalUse | undefined> {
    try {
      const there = journalPaths(this.#world);
      const use = this.#firstFree(there) ?? (await this.#makeOne(there));
      if (use !== undefined) this.#taken.add(use.path);
      return use;
    } catch (error) {
      if (isFault(error)) return undefined; // JN3
      throw error;
    }
  }

  #firstFree(paths: readonly string[]): JournalUse | undefined {
    const { disk } = this.#world;
    for (const path of paths) {
      if (this.#taken.has(path) || isJournalInUse(disk, path)) continue; // JN2
      const contents = readJournal(disk, path);
      if (contents === undefined || recordedIn(contents).some((one) => this.#isOpen(one))) continue; // JN1
      return { path, use: contents.use + 1 };
    }
    return undefined;
  }

  async #makeOne(there: readonly string[]): Promise<JournalUse | undefined> {
    const { disk, home } = this.#world;
    if (there.length >= MAX_JOURNALS) return undefined;
    let number = 1;
    while (there.includes(journalPath(home, number))) number += 1;
    const path = journalPath(home, number);
    for (const parent of makeDirectories(disk, joinPath(home, JOURNALS), home)) await disk.syncDirectory(parent);
    await makeJournal(disk, path);
    return { path, use: 1 };
  }

  /** JN1 */
  #isOpen({ attempt, session }: Recorded): boolean {
    const id = attempt.slice(0, attempt.lastIndexOf("."));
    const run = this.#ports.run(id);
    if (run !== undefined && this.#ports.isWhole(id)) return attemptsOf(run).some((one) => one.id === attempt);
    return this.#world.disk.stat(joinPath(this.#world.home, session)) !== undefined;
  }
}
