// Keeps the index: adds what is new, fills what is missing, and removes what is too much or whose source is gone.
// IN1. It may be killed between any two calls: a file of the index is whole or not there, and whatever is missing is
//      found by the next run, from the names alone.
// IN2. The index has at most `maxBytes`; the oldest goes first. What is older than everything in a full index is not
//      indexed again.
// IN3. If a tape lost its end in a power cut and was written on, its last file does not match it, and is made again.
// IN4. It gives way: it rests for as long as it works, one block at a time, and has one group in memory.
//      If the disk is almost full, nothing is added.
// IN5. One indexer at a time: it holds a lock, which a killed one loses.
import { joinPath } from "../base/path.ts";
import { filterOf, toLower } from "../core/search/filter.ts";
import { writeAtomic } from "../log/file/atomic-file.ts";
import { makeDirectories, openRetrying } from "../log/file/file.ts";
import type { GroupBlock, IndexOrder, IndexProgress } from "../wire/search.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import { pause } from "../world/wait.ts";
import { encodeGroup, type Group, GroupFile, MAX_COLUMNS } from "./group-file.ts";
import {
  bySource,
  dropIndexFile,
  gapsIn,
  type IndexFile,
  indexName,
  indexPath,
  keyOf,
  listIndex,
  SEARCH_DIRECTORY,
} from "./index-files.ts";
import { listSources, type Source, textOf } from "./source.ts";
import type { SourceText, TextBlock } from "./text-block.ts";

const LOCK = "lock";
/** A shorter end of a source is left until there is more, or nothing more for a while: searches read it directly. */
const MIN_TAIL = 16 << 10;
const QUIET_MS = 60_000;
/** IN2: the largest file. */
const ROOM = (64 << 13) + (64 << 10);
/** IN4. Room that others need more. */
const MIN_FREE = 256 << 20;
/** IN4 */
const WORK_MS = 5;

type Work = { readonly source: Source; readonly text: SourceText; readonly gaps: readonly Gap[]; changedAt: number };
type Lately = { readonly end: number; readonly changedAt: number; readonly unit: number };
type Said = (progress: IndexProgress) => void;
type Gap = { readonly from: number; readonly to: number };

/** `collect`: frees what is not used any more. */
type IndexerWorld = { readonly disk: Disk; readonly clock: Clock; collect(): void };

export class Indexer {
  readonly #disk: Disk;
  readonly #clock: Clock;
  readonly #collect: () => void;
  readonly #order: IndexOrder;
  readonly #said: Said;
  readonly #files = new Map<string, IndexFile & { readonly size: number }>();
  #damaged: string[] = [];
  #bytes = 0;
  #done = 0;
  #total = 0;
  #worked = 0;

  constructor(world: IndexerWorld, order: IndexOrder, said: Said) {
    this.#disk = world.disk;
    this.#clock = world.clock;
    this.#collect = world.collect;
    this.#order = order;
    this.#said = said;
  }

  /** Returns when there is nothing to do. */
  async run(): Promise<void> {
    const { home } = this.#order;
    makeDirectories(this.#disk, joinPath(home, SEARCH_DIRECTORY));
    const lock = openRetrying(this.#disk, indexPath(home, LOCK), "create");
    try {
      if (lock.tryLock()) await this.#all(); // IN5
    } finally {
      lock.close();
    }
  }

  async #all(): Promise<void> {
    this.#worked = this.#clock.elapsed();
    const sources = listSources(this.#disk, this.#order.home, new Set(this.#order.skip));
    this.#tidy(sources);
    this.#makeRoom(0, Number.POSITIVE_INFINITY); // IN2: the limit may be smaller now.
    if (this.#order.check > 0) for (const file of [...this.#files.values()]) await this.#check(file);
    if (this.#disk.free(this.#order.home) < MIN_FREE) return; // IN4
    const work = await this.#plan(sources);
    for (const one of work) await this.#fill(one);
    this.#say();
  }

  /** Removes what is of no use, and counts the rest. */
  #tidy(sources: readonly Source[]): void {
    const { home } = this.#order;
    const { files, useless } = listIndex(this.#disk, home);
    const known = new Set(sources.map(keyOf));
    const gone = files.filter((file) => !known.has(keyOf(file))).map(({ name }) => name);
    for (const name of [...useless, ...gone]) if (name !== LOCK) dropIndexFile(this.#disk, home, name);
    for (const file of files.filter((one) => known.has(keyOf(one)))) this.#keep(file);
  }

  #keep(file: IndexFile): void {
    const size = this.#disk.stat(indexPath(this.#order.home, file.name))?.size ?? 0;
    this.#files.set(file.name, { ...file, size });
    this.#bytes += size;
  }

  #drop({ name }: Pick<IndexFile, "name">): void {
    this.#bytes -= this.#files.get(name)?.size ?? 0;
    this.#files.delete(name);
    dropIndexFile(this.#disk, this.#order.home, name);
  }

  async #check(file: IndexFile): Promise<void> {
    if (this.#group(file) === undefined) this.#dropDamaged(file);
    await this.#rest();
  }

  #dropDamaged(file: IndexFile): void {
    if (!this.#files.has(file.name)) return;
    this.#damaged.push(file.name);
    this.#drop(file);
  }

  /** Undefined if it is damaged, or gone. */
  #group({ name }: IndexFile): Group | undefined {
    const file = GroupFile.open(this.#disk, indexPath(this.#order.home, name));
    if (file === undefined || file === "gone") return undefined;
    const columns = file.columns();
    file.close();
    return columns && { head: file.head, columns };
  }

  /** The newest first. */
  async #plan(sources: readonly Source[]): Promise<Work[]> {
    const work: Work[] = [];
    const indexed = bySource([...this.#files.values()]);
    for (const source of sources) {
      const files = indexed.get(keyOf(source)) ?? [];
      if (source.isOver && files.length > 0 && this.#order.check === 0) continue;
      const one = this.#look(source, files);
      if (one.gaps.length > 0) work.push(one);
      this.#total += one.gaps.reduce((sum, { from, to }) => sum + to - from, 0) / one.text.unit;
      await this.#rest();
    }
    return work.sort((one, other) => other.changedAt - one.changedAt);
  }

  #look(source: Source, files: IndexFile[]): Work {
    const text = textOf(this.#disk, this.#order.home, source);
    const range = text.range();
    const changedAt = text.changedAt();
    while (gapsIn(files, range).length > 0 || (files.at(-1)?.to ?? 0) > range.end) {
      const last = files.at(-1);
      if (last === undefined || (last.to <= range.end && this.#matches(last, text))) break;
      this.#drop(last); // IN3
      files.pop();
    }
    for (const file of files.filter(({ to }) => to <= range.start)) this.#drop(file);
    const oldest = this.#isFull() ? this.#oldest() : undefined;
    const horizon = oldest === undefined ? 0 : text.after(oldest.last); // IN2
    const gaps = gapsIn(files, { ...range, start: Math.max(range.start, horizon) });
    return {
      source,
      text,
      gaps: gaps.filter((gap) => this.#isDue(source, gap, { end: range.end, changedAt, unit: text.unit })),
      changedAt,
    };
  }

  /** IN3 */
  #matches(file: IndexFile, text: SourceText): boolean {
    const group = GroupFile.open(this.#disk, indexPath(this.#order.home, file.name));
    if (group === undefined) this.#dropDamaged(file);
    if (group === undefined || group === "gone") return false;
    group.close();
    return group.head.proof === text.proof(file.to);
  }

  #isDue({ kind, isOver }: Source, { from, to }: Gap, { end, changedAt, unit }: Lately): boolean {
    if (isOver || to < end || this.#clock.now() - changedAt > QUIET_MS) return true;
    return (kind === "terminals" || kind === "steps") && (to - from) / unit >= MIN_TAIL;
  }

  async #fill({ source, text, gaps }: Work): Promise<void> {
    for (const { from, to } of gaps) {
      let group = this.#before(source, from);
      for (let at = from; at < to; ) {
        const block = text.block(at, to);
        if (block === undefined) break;
        group = withBlock(group, block);
        this.#done += (block.to - at) / text.unit;
        at = block.to;
        await this.#rest();
        if (group.blocks.length < MAX_COLUMNS && at < to) continue;
        await this.#write(source, text, group);
        group = EMPTY;
      }
      if (group.blocks.length > (group.old?.count ?? 0)) await this.#write(source, text, group);
    }
  }

  /** The group that a new block goes on with. */
  #before(source: Source, from: number): Growing {
    const file = [...this.#files.values()].find((one) => keyOf(one) === keyOf(source) && one.to === from);
    const group = file && this.#group(file);
    if (file === undefined || group === undefined || group.columns.length >= MAX_COLUMNS) return EMPTY;
    return { blocks: group.head.blocks, columns: group.columns, old: { file, count: group.columns.length } };
  }

  async #write({ kind, id, session }: Source, text: SourceText, { blocks, columns, old }: Growing): Promise<void> {
    const [from, to] = [blocks[0]?.[0] ?? 0, blocks.at(-1)?.[1] ?? 0];
    const last = Math.max(...blocks.map(([, , , time]) => time));
    const bytes = encodeGroup({ head: { session, proof: text.proof(to), blocks }, columns });
    const file = { kind, id, from, to, last };
    if (!this.#makeRoom(bytes.length, last)) return; // IN2
    const name = indexName(file);
    await writeAtomic(this.#disk, indexPath(this.#order.home, name), bytes); // IN1
    this.#keep({ ...file, name });
    if (old !== undefined && old.file.name !== name) this.#drop(old.file);
    this.#collect(); // IN4: the engine would wait until there are hundreds of megabytes of blocks.
    this.#say();
  }

  /** IN2 */
  #makeRoom(size: number, last: number): boolean {
    while (this.#bytes + size > this.#order.maxBytes) {
      const oldest = this.#oldest();
      if (oldest === undefined || oldest.last >= last) return false;
      this.#drop(oldest);
    }
    return true;
  }

  #isFull(): boolean {
    return this.#bytes + ROOM > this.#order.maxBytes;
  }

  #oldest(): IndexFile | undefined {
    let found: IndexFile | undefined;
    for (const file of this.#files.values()) if (found === undefined || file.last < found.last) found = file;
    return found;
  }

  /** IN4 */
  async #rest(): Promise<void> {
    const took = this.#clock.elapsed() - this.#worked;
    if (took < WORK_MS) return;
    await pause(this.#clock, took);
    this.#worked = this.#clock.elapsed();
  }

  #say(): void {
    this.#said({
      done: Math.floor(Math.min(this.#done, this.#total)),
      total: Math.ceil(this.#total),
      damaged: this.#damaged,
    });
    this.#damaged = [];
  }
}

type Growing = {
  readonly blocks: readonly GroupBlock[];
  readonly columns: readonly Uint8Array[];
  /** What it replaces. */
  readonly old?: { readonly file: IndexFile; readonly count: number };
};
const EMPTY: Growing = { blocks: [], columns: [] };

function withBlock(group: Growing, { from, to, first, last, text }: TextBlock): Growing {
  const columns = [...group.columns, filterOf(toLower(text))];
  return { ...group, blocks: [...group.blocks, [from, to, Math.floor(first), Math.floor(last)]], columns };
}
