// The lines of an archive's index that count, and what lists show of them (AI1 of log/session/archive-index.ts).
// AL1. That the index is damaged, or that most of its lines are old, is noticed while it is read; the next round of the
//      archive writes it anew.
import type { HomeWorld } from "../home/held/holder-files.ts";
import { type ArchivedAt, type ArchivedLine, ArchiveIndex } from "../log/session/archive-index.ts";
import type { Json } from "../log/session/entry.ts";
import { eventsPathNow, isArchived } from "../log/session/places.ts";
import { idOf } from "./fold.ts";

/** A shorter index is not worth a rewrite. */
export const MIN_LINES = 100;

export class ArchivedLines {
  readonly index: ArchiveIndex;
  /** AL1. Not known before it was looked at. */
  isWhole: boolean | undefined;
  readonly #place: HomeWorld;
  readonly #isReturning: (id: string) => boolean;

  /** `kind`: the first word of the paths of its sessions. `isReturning`: whether one is just being brought back. */
  constructor(place: HomeWorld, kind: string, isReturning: (id: string) => boolean) {
    this.index = new ArchiveIndex(place, kind);
    this.#place = place;
    this.#isReturning = isReturning;
  }

  /**
   * What lists show of the archived sessions behind this offset in the index, newest or oldest first. It is read as far
   * as it is asked for. One that is being removed is not among them (AG1 of archive-gc.ts).
   */
  rows(behind?: number, newest = true): Generator<{ readonly row: Json; readonly offset: number }> {
    return this.#shown(newest ? this.index.newest(behind) : this.index.oldest(behind));
  }

  /** The rows in which one of these texts is, newest first: for a name, a path or the beginning of an id. */
  *rowsWith(texts: readonly string[]): Generator<Json> {
    const asJson = texts.map((text) => JSON.stringify(text).slice(1, -1));
    for (const { row } of this.#shown(this.index.containing(asJson))) yield row;
  }

  *#shown(lines: Iterable<ArchivedAt>): Generator<{ readonly row: Json; readonly offset: number }> {
    for (const { line, offset } of this.#placed(lines))
      if (line.row !== null && this.lengthOf(line.session) !== undefined) yield { row: line.row, offset }; // AG1
  }

  /** The lines that count (AI1), newest first. */
  *lines(): Generator<ArchivedLine> {
    for (const { line } of this.#placed(this.index.newest())) yield line;
  }

  /** AI1. A session has one line that counts. */
  *#placed(all: Iterable<ArchivedAt>): Generator<{ readonly line: ArchivedLine; readonly offset: number }> {
    const { disk, home } = this.#place;
    const seen = new Set<string>();
    for (const { line, offset } of all) {
      if (line?.log === undefined) this.isWhole = false; // Damaged, or of an older version.
      if (line === undefined || seen.has(line.session)) continue;
      if (!isArchived(disk, home, line.session) && !this.#isReturning(idOf(line.session))) continue;
      const length = this.lengthOf(line.session);
      if (line.log !== undefined && length !== undefined && line.log !== length) continue;
      seen.add(line.session);
      yield { line, offset };
    }
  }

  /** Sessions have left the archive: if most lines no longer count, the index is written anew. */
  collected(): void {
    let all = 0;
    for (const _ of this.index.newest()) all += 1;
    let count = 0;
    for (const _ of this.lines()) count += 1;
    if (all > MIN_LINES && count * 2 < all) this.isWhole = false;
  }

  /** AI1. Undefined if its log is gone (AG1 of archive-gc.ts). */
  lengthOf(session: string): number | undefined {
    const { disk, home } = this.#place;
    return disk.stat(eventsPathNow(disk, home, session))?.size;
  }
}
