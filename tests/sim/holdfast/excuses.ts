// What a daemon may do after a call of it failed, until the next one starts: all that is not promised yet.
// EX1. A fault excuses only these, and only in the life that it happened in: nothing acknowledged is lost by it,
//      nothing is ended, and nothing is done twice. Each use is counted and printed, so that none outlives its need.

/** Each is part of "Faults that leave it deaf, wrong or undiagnosed", of which nothing is promised here yet. */
const NOT_PROMISED_YET = {
  exits: "not promised yet: a call that fails once ends no daemon, or its end is diagnosed",
} as const;

export type Excuses = ReadonlyMap<string, number>;

export class Harm {
  readonly #used = new Map<string, number>();
  /** Whether a call of the daemon has failed in this life. */
  isDone = false;

  get used(): Excuses {
    return this.#used;
  }

  /** EX1 */
  excuses(what: keyof typeof NOT_PROMISED_YET): boolean {
    if (this.isDone) count(this.#used, NOT_PROMISED_YET[what]);
    return this.isDone;
  }
}

export function count(counts: Map<string, number>, what: string, more = 1): void {
  counts.set(what, (counts.get(what) ?? 0) + more);
}
