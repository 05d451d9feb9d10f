// Brings what agents have changed in worktrees and clones into `carried/` of the home, as bundles of git
// (core/agent/carried-work.ts).
// CR1. Only if something of the agent has changed since, and at most twice a minute for each; now and then also
//      without, because people work there, too. The last round before a home is handed over waits for nothing.
// CR2. A bundle takes its place whole, with one rename. What could not be made leaves the one before, and is named.
// CR3. The git directory of ours is a cache below `fleet/`: one that has become large is made anew.
// CR4. Making a bundle may take minutes: other files are shipped meanwhile.
import { isFault } from "../base/fault.ts";
import { baseName, joinPath, parentOf } from "../base/path.ts";
import { knownCommits, knownWords, madeWork, makeWords } from "../core/agent/carried-work.ts";
import { FLEET_WORKS } from "../home/layout.ts";
import {
  type CarriedEntry,
  type CarriedIndex,
  carriedPath,
  type Outside,
  type OutsideWork,
  workKey,
} from "../home/outside-files.ts";
import { isDone, type RunWorld, run, wordsOf } from "../home/run-program.ts";
import { makeDirectories, removeTree } from "../log/file/file.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";

export type CarryWorkPorts = RunWorld & {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly home: string;
  readonly maxBytes: number;
  /** Called with a Fault of this disk; the next round tries again. */
  say(words: string): void;
};

const BUNDLE = "bundle";
const EVERY_MS = 30_000;
/** CR1 */
const ANYWAY_MS = 600_000;
/** CR3. In rounds that made something. */
const MAX_MADE = 200;

type Last = { readonly at: number; readonly stamp: string; readonly made: number };
type Entries = CarriedIndex;

export class WorkCarrier {
  readonly #ports: CarryWorkPorts;
  readonly #last = new Map<string, Last>();
  readonly #entries: Record<string, CarriedEntry> = {};
  #running: Promise<void> | undefined;

  constructor(ports: CarryWorkPorts) {
    this.#ports = ports;
  }

  /** What was carried since the start of this program, by path below `carried/`. */
  get entries(): Entries {
    return this.#entries;
  }

  get isBusy(): boolean {
    return this.#running !== undefined;
  }

  /** `known`: what was carried before. `isLast`: resolves when all of it is done (CR1); otherwise at once (CR4). */
  async round(outside: Outside, known: Entries, isLast: boolean): Promise<void> {
    if (this.#running !== undefined && !isLast) return;
    const running = this.#after(this.#running, () => this.#round(outside, known, isLast));
    this.#running = running;
    const done = running.finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    if (isLast) await done;
  }

  async #after(before: Promise<void> | undefined, work: () => Promise<void>): Promise<void> {
    await before;
    try {
      await work();
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#ports.say(`${error.message}. ${error.hint}`);
    }
  }

  async #round({ works }: Outside, known: Entries, isLast: boolean): Promise<void> {
    this.#forget(works);
    for (const work of works) if (isLast || this.#isDue(work)) await this.#carry(work, known);
  }

  /** CR1 */
  #isDue({ session, stamp }: OutsideWork): boolean {
    const last = this.#last.get(session);
    if (last === undefined) return true;
    const ago = this.#ports.clock.elapsed() - last.at;
    return ago >= (stamp === last.stamp ? ANYWAY_MS : EVERY_MS);
  }

  #forget(works: readonly OutsideWork[]): void {
    const { disk, home } = this.#ports;
    const known = new Set(works.map(({ session }) => baseName(session)));
    const parent = joinPath(home, FLEET_WORKS);
    for (const id of disk.list(parent)) if (!known.has(id)) removeTree(disk, joinPath(parent, id));
    for (const session of [...this.#last.keys()].filter((one) => !known.has(baseName(one)))) {
      this.#last.delete(session);
      delete this.#entries[workKey(session)];
    }
  }

  async #carry(work: OutsideWork, known: Entries): Promise<void> {
    const { clock, disk } = this.#ports;
    const { session, stamp, path } = work;
    const made = this.#last.get(session)?.made ?? 0;
    if (disk.lstat(path)?.kind !== "directory") return; // It is not made yet, or gone: what was shipped stays.
    const directory = this.#directory(session, made);
    const key = workKey(session);
    const at = new Date(clock.now()).toISOString();
    const found = await this.#make(work, directory);
    const before = this.#entries[key] ?? known[key];
    const left = typeof found === "string" ? found : found.left;
    const isMade = disk.lstat(joinPath(directory, BUNDLE)) !== undefined; // Perhaps by a round that was killed.
    if (isMade) {
      const bytes = this.#put(joinPath(directory, BUNDLE), carriedPath(this.#ports.home, key));
      this.#entries[key] = { at, bytes, ...(left !== undefined && { left }) };
    } else if (typeof found === "string" || found.kind === "unmade") {
      this.#entries[key] = { at: before?.at ?? at, bytes: before?.bytes ?? 0, ...(left !== undefined && { left }) };
    } else if (found.kind === "same" && before === undefined) removeTree(disk, directory); // It is lost: next time.
    this.#last.set(session, { at: clock.elapsed(), stamp, made: isMade ? made + 1 : made });
  }

  /** CR3 */
  #directory(session: string, made: number): string {
    const { disk, home } = this.#ports;
    const directory = joinPath(home, `${FLEET_WORKS}/${baseName(session)}`);
    if (made > 0 && made % MAX_MADE === 0) removeTree(disk, directory);
    makeDirectories(disk, directory);
    return directory;
  }

  /** Returns what came of it, or why nothing did. */
  async #make({ path, repository, isClone }: OutsideWork, directory: string) {
    const { self, maxBytes } = this.#ports;
    const { HOME = "/" } = self.environment();
    try {
      const known = await run(this.#ports, knownWords(repository), { HOME });
      const ignored = joinPath(HOME, ".config/git/ignore");
      const words = makeWords({ path, isClone }, { directory, maxBytes, ignored });
      const said = await run(this.#ports, words, { HOME }, `${knownCommits(isDone(known) ? known.out : "")}\n`);
      const made = isDone(said) ? madeWork(said.out) : undefined;
      return made ?? wordsOf(said);
    } catch (error) {
      if (isFault(error)) return error.message;
      throw error;
    }
  }

  /** CR2. Returns how long it is. */
  #put(from: string, to: string): number {
    const { disk } = this.#ports;
    makeDirectories(disk, parentOf(to));
    if (disk.lstat(from)?.kind !== "file") return 0;
    disk.rename(from, to);
    return disk.stat(to)?.size ?? 0;
  }
}
