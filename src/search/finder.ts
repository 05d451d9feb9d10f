// Finds lines with all words, the newest first. What may be newest is looked at next: a source's end that is not
// indexed yet, a file of the index, a block that it names, a line in that block. So the first lines are known long
// before the last block is read, and nothing is read that nobody asks for.
// FD1. A line comes after all lines that are newer: a file is looked at no later than its newest line is due.
// FD2. The index only says which blocks to read. What is found is in the source now.
// FD3. A damaged file of the index is reported, and all of its range is read instead, as far as the name says it.
// FD4. Of what is not indexed, the last part of each source is read.
// FD5. What is said or printed once may be in two events, or in one and on a tape: it is found once.

import { Heap } from "../base/heap.ts";
import { timeText } from "../base/time-text.ts";
import { rowsOf, toLower } from "../core/search/filter.ts";
import { linesWith, type Needle, needlesOf } from "../core/search/lines.ts";
import type { FindRequest, FoundHit, GroupBlock } from "../wire/search.ts";
import type { Disk } from "../world/disk.ts";
import { GroupFile } from "./group-file.ts";
import { bySource, type IndexFile, indexPath, keyOf, listIndex } from "./index-files.ts";
import { listSources, runningIn, type Source, textOf } from "./source.ts";
import type { HitKind, SourceText, TextBlock } from "./text-block.ts";

/** FD4. A source has seldom more than a minute's output that is not indexed. */
const MAX_TAIL = 8 << 20;
/** The last one that has a date; files may say anything. */
const MAX_TIME = 8.64e15;
/** Of one block: a word that is in every line. */
const MAX_LINES = 500;

/** FD5 */
const MAX_PRINTED = 10_000;

type Line = { readonly time: number; readonly position: number; readonly hit: FoundHit };
type Known = { readonly source: Source; readonly text: SourceText };
/** `to`: the position where it ends. */
type Item = { readonly at: number; readonly to: number } & (
  | { readonly kind: "file"; readonly file: IndexFile; readonly of: Known }
  | { readonly kind: "range"; readonly from: number; readonly of: Known }
  | { readonly kind: "hit"; readonly hit: FoundHit }
);

const WANTED: Readonly<Record<HitKind, readonly Source["kind"][]>> = {
  terminal: ["terminals"],
  agent: ["agents"],
  prompt: ["agents"],
  run: ["runs", "steps"],
};

/** FD1. Of lines of the same time, those of one source stay together, the later one first. */
function comesFirst(one: Item, other: Item): boolean {
  if (one.at !== other.at) return one.at > other.at;
  const [id, against] = [idOf(one), idOf(other)];
  return id === against ? one.to > other.to : id > against;
}

function idOf(item: Item): string {
  return item.kind === "hit" ? item.hit.id : item.of.source.id;
}

export class Finder {
  readonly #disk: Disk;
  readonly #home: string;
  readonly #needles: readonly Needle[];
  readonly #kinds: ReadonlySet<HitKind>;
  readonly #items = new Heap<Item>(comesFirst);
  readonly #printed = new Set<string>();
  #damaged: string[] = [];

  constructor(place: { readonly disk: Disk; readonly home: string }, { words, kinds, skip }: FindRequest) {
    this.#disk = place.disk;
    this.#home = place.home;
    this.#needles = needlesOf(words);
    this.#kinds = new Set(kinds);
    this.#begin(new Set(skip));
  }

  /** Files of the index that were found to be damaged since the last call. */
  damaged(): readonly string[] {
    const found = this.#damaged;
    this.#damaged = [];
    return found;
  }

  /** Undefined: it has looked at something, and found nothing that is due yet. */
  *lines(): Generator<FoundHit | undefined> {
    for (let item = this.#items.pop(); item !== undefined; item = this.#items.pop()) {
      if (item.kind === "hit")
        yield item.hit; // FD1
      else {
        if (item.kind === "file") this.#lookInto(item.file, item.of);
        else this.#read(item);
        yield undefined;
      }
    }
  }

  #begin(skip: ReadonlySet<string>): void {
    const indexed = bySource(listIndex(this.#disk, this.#home).files);
    const wanted = new Set([...this.#kinds].flatMap((kind) => WANTED[kind]));
    for (const source of listSources(this.#disk, this.#home, skip)) {
      if (wanted.size > 0 && !wanted.has(source.kind)) continue;
      const files = indexed.get(keyOf(source)) ?? [];
      const of = { source, text: textOf(this.#disk, this.#home, source) };
      for (const file of files) this.#items.push({ kind: "file", at: file.last, to: file.to, file, of });
      if (!source.isOver || files.length === 0) this.#pushTail(of, files);
      for (const text of runningIn(this.#disk, this.#home, source)) this.#pushTail({ source, text }, []);
    }
  }

  /** FD4 */
  #pushTail(of: Known, files: readonly IndexFile[]): void {
    const { start, end } = of.text.range();
    const indexed = files.at(-1)?.to ?? start;
    const from = Math.max(indexed > end ? start : indexed, start, end - MAX_TAIL * of.text.unit);
    if (from < end) this.#items.push({ kind: "range", at: of.text.changedAt(), from, to: end, of });
  }

  #lookInto(file: IndexFile, of: Known): void {
    const group = GroupFile.open(this.#disk, indexPath(this.#home, file.name));
    const blocks = group === "gone" || group === undefined ? undefined : this.#blocksIn(group);
    for (const block of blocks ?? []) this.#pushRange(block, of);
    if (blocks !== undefined) return;
    if (group !== "gone") this.#damaged.push(file.name);
    this.#pushRange([file.from, file.to, 0, file.last], of); // FD3
  }

  /** Undefined if it is damaged. */
  #blocksIn(group: GroupFile): GroupBlock[] | undefined {
    const rows = this.#needles.flatMap((needle) => rowsOf(needle, group.rows));
    const found = group.candidates(rows);
    group.close();
    return found?.flatMap((index) => group.head.blocks.slice(index, index + 1));
  }

  #pushRange([from, to, , last]: GroupBlock, of: Known): void {
    this.#items.push({ kind: "range", at: last, from, to, of });
  }

  /** FD2. One block; what is left of the range is looked at next. */
  #read({ from, to, of, at }: Extract<Item, { readonly kind: "range" }>): void {
    const block = of.text.block(from, to);
    if (block === undefined) return;
    if (block.to < to) this.#items.push({ kind: "range", at, from: block.to, to, of });
    for (const { time, position, hit } of this.#hits(block, of))
      this.#items.push({ kind: "hit", at: Math.min(time, at), to: position, hit });
  }

  #hits(block: TextBlock, { source: { id }, text: of }: Known): Line[] {
    const found = linesWith(block.text, toLower(block.text.slice()), this.#needles, MAX_LINES);
    const seen = new Set<string>();
    const name = found.length > 0 ? of.name() : null;
    return found.flatMap(({ start, text }) => {
      const { position, at, kind, seq = position, attempt } = block.placeOf(start);
      const isSame = kind !== "terminal" && (seen.has(text) || this.#isKnown(id, attempt, text));
      seen.add(text);
      if (isSame || (this.#kinds.size > 0 && !this.#kinds.has(kind))) return [];
      const when = timeText(Math.min(at, MAX_TIME));
      const hit = { kind, id, position: seq, at: when, text, name, ...(attempt !== undefined && { attempt }) };
      return [{ time: at, position, hit }];
    });
  }

  /** FD5 */
  #isKnown(id: string, attempt: number | undefined, text: string): boolean {
    if (attempt === undefined) return false;
    const key = `${id}.${attempt} ${text}`;
    if (this.#printed.has(key)) return true;
    if (this.#printed.size >= MAX_PRINTED) this.#printed.clear();
    this.#printed.add(key);
    return false;
  }
}
