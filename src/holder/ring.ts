// Ring: the last bytes of an output in memory, by absolute offset, while the disk accepts none.
// G1. It has at most `max` bytes: the oldest are dropped first, and `start` moves.
import { assert } from "../base/assert.ts";

export class Ring {
  readonly #max: number;
  #chunks: Uint8Array[] = [];
  #start: number;
  #end: number;

  constructor(start: number, max: number) {
    this.#start = start;
    this.#end = start;
    this.#max = max;
  }

  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#end;
  }

  /** Keeps a copy. */
  push(bytes: Uint8Array): void {
    this.#chunks.push(new Uint8Array(bytes));
    this.#end += bytes.length;
    if (this.#end - this.#start > this.#max) this.dropTo(this.#end - this.#max); // G1
  }

  /** At most `max` bytes at `offset`, which must be within the ring. */
  read(offset: number, max: number): Uint8Array {
    assert(offset >= this.#start && offset <= this.#end, "a ring is read where it has bytes");
    let at = this.#start;
    for (const chunk of this.#chunks) {
      if (offset < at + chunk.length) return chunk.subarray(offset - at, offset - at + max);
      at += chunk.length;
    }
    return new Uint8Array();
  }

  /** Drops everything before `offset`. */
  dropTo(offset: number): void {
    while (this.#start < offset) {
      const first = this.#chunks[0];
      assert(first !== undefined, "a ring drops only what it has");
      const gone = Math.min(first.length, offset - this.#start);
      if (gone === first.length) this.#chunks.shift();
      else this.#chunks[0] = first.subarray(gone);
      this.#start += gone;
    }
  }
}
