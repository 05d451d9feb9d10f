// What of a home goes into a backup, and when, so that all of it together is one state of the home: that of the moment
// at which its log is held.
// TK1. First everything is read while the home goes on. Nothing of this has to fit together; it only takes the work
//      away from what follows.
// TK2. Then the log is held: nothing is acknowledged meanwhile, so nothing begins and nothing is saved that the log
//      does not know. What has changed is read again; what is gone is left out. The write-ahead log is read first, and
//      the lengths of the sessions' logs after it, so that each entry up to the position is in one or the other.
// TK3. When the log goes on, what was only added to is read: the logs up to the lengths they had, and what programs
//      printed, of whatever later moment: their ends and claims were read before, so no tape is too short for them.
// TK4. Until the end nothing is renamed, trimmed or removed by the daemon, except that an archived session may be
//      brought back: then it is looked for again. If the hold did not last, nothing counts.

import { joinPath } from "../../base/path.ts";
import { ok, type Result } from "../../base/result.ts";
import { listArchived } from "../../log/session/places.ts";
import { anew, readWal } from "../../log/wal/wal-files.ts";
import type { BackupEntry } from "../../wire/backup.ts";
import type { Disk, Stat } from "../../world/disk.ts";
import type { Contents } from "./contents.ts";
import { filesIn, filesOf, type HomeFile, isLog } from "./files.ts";

/** Keeps a home still. All of it is refused once it did not last (TK4). */
export type Hold = {
  /** Nothing is renamed or removed from now on. */
  begin(): Promise<Result<unknown>>;
  /** Resolves when the log is held. */
  hold(): Promise<Result<unknown>>;
  /** The log goes on. Refused if it was not held all the time. */
  release(): Promise<Result<unknown>>;
  end(): Promise<unknown>;
};

export type Taken = { readonly seq: number; readonly lost: number; readonly entries: readonly BackupEntry[] };

const WAL_FILE = "wal/00000001.wal";

/** How many files are looked at before others have their turn. */
const AT_ONCE = 200;

type Place = { readonly disk: Disk; readonly home: string };

export class Taking {
  readonly #place: Place;
  readonly #contents: Contents;
  readonly #others: () => Promise<void>;
  readonly #stamps = new Map<string, string>();
  readonly #seen = new Set<string>();
  #looked = 0;

  constructor(place: Place, contents: Contents, others: () => Promise<void>) {
    this.#place = place;
    this.#contents = contents;
    this.#others = others;
  }

  async run(hold: Hold): Promise<Result<Taken>> {
    const begun = await hold.begin();
    if (!begun.ok) return begun;
    await this.#all(); // TK1
    const held = await hold.hold();
    if (!held.ok) return held;
    const position = await this.#wal();
    const { logs, printed } = await this.#still();
    const released = await hold.release();
    if (!released.ok) return released;
    for (const file of logs) await this.#look(file); // TK3
    for (const path of timesFirst(printed)) await this.#printed(path);
    await hold.end();
    const { entries } = this.#contents;
    for (const path of entries.keys()) if (!this.#seen.has(path)) entries.delete(path);
    return ok({ ...position, entries: [...entries.values()] });
  }

  async #all(): Promise<void> {
    const { disk, home } = this.#place;
    for (const found of filesOf(disk, home)) {
      if (found.kind === "file") await this.#look(found);
      else for (const file of filesIn(disk, home, found.path)) await this.#look(file);
    }
  }

  /** What a recovery would make of the write-ahead log. */
  async #wal(): Promise<Pick<Taken, "seq" | "lost">> {
    const wal = readWal(this.#place.disk, this.#place.home);
    const { gen, end, lost } = wal.view;
    this.#seen.clear();
    if (gen > 0) await this.#contents.put(WAL_FILE, anew(wal));
    return { seq: end, lost: lost.length };
  }

  /** TK2 */
  async #still(): Promise<{ readonly logs: readonly HomeFile[]; readonly printed: readonly string[] }> {
    const { disk, home } = this.#place;
    const archived = listArchived(disk, home).length;
    const [logs, printed]: [HomeFile[], string[]] = [[], []];
    this.#seen.clear();
    this.#seen.add(WAL_FILE);
    for (const found of filesOf(disk, home)) {
      if (found.kind === "printed") printed.push(found.path);
      else if (isLog(found.path)) logs.push(found);
      else await this.#look(found);
    }
    const isSame = listArchived(disk, home).length === archived;
    return isSame ? { logs, printed } : this.#still(); // TK4
  }

  /** Takes a file unless it is as it was; of one that has grown since, no more than it had. */
  async #look({ path, stat }: HomeFile): Promise<void> {
    this.#looked += 1;
    if (this.#looked % AT_ONCE === 0) await this.#others();
    const stamp = stampOf(stat);
    this.#seen.add(path);
    if (this.#stamps.get(path) === stamp) return;
    this.#stamps.set(path, stamp);
    await this.#contents.take(path, isLog(path) ? stat.size : undefined);
  }

  /** If its session was brought back meanwhile, what it had at first counts (TK4). */
  async #printed(directory: string): Promise<void> {
    const { disk, home } = this.#place;
    const isGone = disk.lstat(joinPath(home, directory)) === undefined;
    for (const path of isGone ? this.#contents.entries.keys() : [])
      if (path.startsWith(`${directory}/`)) this.#seen.add(path);
    for (const found of filesIn(disk, home, directory)) await this.#look(found);
  }
}

/** They name bytes of the tape (TK3). */
function timesFirst(directories: readonly string[]): string[] {
  return directories.toSorted((a, b) => Number(a.endsWith("tape")) - Number(b.endsWith("tape")));
}

function stampOf({ id, size, modifiedMs }: Stat): string {
  return `${id} ${size} ${modifiedMs}`;
}
