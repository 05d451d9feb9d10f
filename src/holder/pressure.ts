// Pressure: limits how far a child on pipes is read beyond what the daemon has made safe.
// Q1. Nothing unconsumed is dropped: the limit is well below what the tape keeps.

/** Enough for a turn of the largest agent; after an hour without a daemon there is no more than this to catch up on. */
const LIMIT_BYTES = 4 << 20;

export class Pressure {
  readonly #limit: number;
  #consumed = 0;
  #end = 0;
  #relief: PromiseWithResolvers<void> | undefined;

  /** `kept`: how much the tape keeps. */
  constructor(kept: number) {
    this.#limit = Math.min(LIMIT_BYTES, Math.floor(kept / 2)); // Q1
  }

  get consumed(): number {
    return this.#consumed;
  }

  /** The output is this long now. Returns a promise if the reading must pause. */
  produced(end: number): Promise<void> | undefined {
    this.#end = end;
    if (end - this.#consumed <= this.#limit) return undefined;
    this.#relief ??= Promise.withResolvers();
    return this.#relief.promise;
  }

  /** The daemon has everything before `offset` safely. */
  consume(offset: number): void {
    this.#consumed = Math.max(this.#consumed, Math.min(offset, this.#end));
    if (this.#end - this.#consumed > this.#limit) return;
    this.#relief?.resolve();
    this.#relief = undefined;
  }
}
