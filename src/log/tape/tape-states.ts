// Where tapes end and when they were last written to, looked up again and again: two calls for each look, no listing.
// TS1. A new segment changes its directory. The system's times are coarse, so a directory that has just changed is
//      listed again by the next look.
// TS2. An empty segment, which a full disk leaves, may still become the last one: then nothing is kept.
import { joinPath } from "../../base/path.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk } from "../../world/disk.ts";
import { endOf, isSegmentName, type Stretch, stretchesOf } from "./segments.ts";

/** Many times the steps in which the system counts time. */
const COARSE_MS = 1_000;
/** Tapes come and go; more than these are hardly ever listed at once. */
const MAX_KEPT = 10_000;

/** `writtenAt` is null if there is nothing on it. */
export type TapeState = { readonly end: number; readonly writtenAt: string | null };
type Kept = { readonly last: Stretch; readonly changedMs: number };

export class TapeStates {
  readonly #disk: Disk;
  readonly #clock: Pick<Clock, "now">;
  readonly #kept = new Map<string, Kept>();

  constructor(disk: Disk, clock: Pick<Clock, "now">) {
    this.#disk = disk;
    this.#clock = clock;
  }

  of(directory: string): TapeState {
    const kept = this.#kept.get(directory);
    const changedMs = this.#disk.stat(directory)?.modifiedMs;
    const isSame = kept !== undefined && kept.changedMs === changedMs; // TS1
    const last = isSame ? kept.last : this.#listed(directory, changedMs);
    const stat = last && this.#disk.stat(last.path);
    if (last === undefined || stat === undefined) return { end: endOf(last ? [last] : []), writtenAt: null };
    return { end: last.start + stat.size, writtenAt: new Date(stat.modifiedMs).toISOString() };
  }

  #listed(directory: string, changedMs: number | undefined): Stretch | undefined {
    const names = this.#disk.list(directory).filter(isSegmentName).sort();
    const last = stretchesOf(this.#disk, directory, names).at(-1);
    const path = joinPath(directory, names.at(-1) ?? ""); // TS2
    const isOld = changedMs !== undefined && this.#clock.now() - changedMs > COARSE_MS; // TS1
    this.#kept.delete(directory);
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    if (last?.path === path && changedMs !== undefined && isOld) this.#kept.set(directory, { last, changedMs });
    return last;
  }
}
