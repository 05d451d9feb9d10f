// What a daemon may do after a call of it failed, until the next one starts: all that is not promised yet.
// EX1. A fault excuses only these, and only in the life that it happened in: nothing acknowledged is lost by it,
//      nothing is ended, and nothing is done twice. Each use is counted and printed, so that none outlives its need.
// EX2. A full disk excuses only an end and a missing report.

/** Each is part of "Faults that leave it deaf, wrong or undiagnosed", of which nothing is promised here yet. */
const NOT_PROMISED_YET = {
  exits: "not promised yet: a call that fails once ends no daemon, or its end is diagnosed",
} as const;

export type Excuses = ReadonlyMap<string, number>;

export class Harm {
  readonly #used = new Map<string, number>();
  /** Whether a call of the daemon has failed in this life, and whether the disk was full in it. */
  isDone = false;
  foundNoRoom = false;

  get used(): Excuses {
    return this.#used;
  }

  /** EX1 */
  excuses(what: keyof typeof NOT_PROMISED_YET): boolean {
    const isExcused = this.isDone || (this.foundNoRoom && ["exits", "unreported"].includes(what)); // EX2
    if (isExcused) count(this.#used, NOT_PROMISED_YET[what]);
    return isExcused;
  }
}

export function count(counts: Map<string, number>, what: string, more = 1): void {
  counts.set(what, (counts.get(what) ?? 0) + more);
}
