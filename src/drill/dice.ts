// Randomness from a seed (mulberry32): the same seed gives the same plan of kills, names and pauses; only the timing
// differs.

const WHOLE = 2 ** 32;

export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed ^ Math.floor(seed / WHOLE)) >>> 0;
    this.#next(); // Small seeds give similar first values.
  }

  /** Separate dice for each actor, so that one actor's throws do not change another's. */
  another(): Dice {
    return new Dice(this.#next());
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + Math.floor((this.#next() / WHOLE) * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.#next() / WHOLE < probability;
  }

  pick<T>(from: readonly T[]): T | undefined {
    return from[this.between(0, from.length - 1)];
  }

  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }
}
