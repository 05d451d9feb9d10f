// Pressure: a child on pipes is not read further than a limit beyond what the daemon has made safe.
// Q1. Nothing that was not consumed is dropped: the limit is well below what the tape keeps.

/** A turn of the largest agent fits in; a daemon that is down for an hour finds no more than this to catch up on. */
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

  /** The output is this long now. A promise where the reading has to stop. */
  produced(end: number): Promise<void> | undefined {
    this.#end = end;
    if (end - this.#consumed <= this.#limit) return undefined;
    this.#relief ??= Promise.withResolvers();
    return this.#relief.promise;
  }

  /** Everything before `offset` is safe with the daemon. */
  consume(offset: number): void {
    this.#consumed = Math.max(this.#consumed, Math.min(offset, this.#end));
    if (this.#end - this.#consumed > this.#limit) return;
    this.#relief?.resolve();
    this.#relief = undefined;
  }
}
