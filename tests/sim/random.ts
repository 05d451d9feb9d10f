// Chance from a seed (sfc32): the same seed gives the same run on every machine.
import { assert } from "../../src/base/assert.ts";
import type { Random } from "../../src/world/random.ts";

export class SimRandom implements Random {
  readonly seed: number;
  private a: number;
  private b = 0x9e3779b9;
  private c = 0x243f6a88;
  private counter = 1;

  constructor(seed: number) {
    this.seed = seed;
    this.a = seed | 0;
    this.b ^= Math.floor(seed / 2 ** 32) | 0;
    for (let round = 0; round < 12; round += 1) this.next(); // Small seeds are alike until they have been stirred.
  }

  fraction(): number {
    return this.next() / 2 ** 32;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.next() & 0xff);
  }

  /** A whole number in [0, below). */
  int(below: number): number {
    return Math.floor(this.fraction() * below);
  }

  pick<T extends NonNullable<unknown>>(from: readonly T[]): T {
    const chosen = from[this.int(from.length)];
    assert(chosen !== undefined, "there is something to pick from");
    return chosen;
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  private next(): number {
    const sum = (this.a + this.b + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
}
