// The lines that one session's log does not have yet, contiguous in a reused buffer.
import type { EncodedLine } from "./entry-encoder.ts";

const NEWLINE = 10;
const NOTHING = new Uint8Array(0);

export class WaitingLines {
  #buffer = NOTHING;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add({ block, start, end }: EncodedLine): void {
    const after = this.#length + end - start + 1;
    if (after > this.#buffer.length) this.#grow(2 * after);
    block.copy(this.#buffer, this.#length, start, end);
    this.#buffer[after - 1] = NEWLINE;
    this.#length = after;
  }

  /** A view. Lines added later are not in it, and do not move it as long as nothing is dropped. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  drop(length: number): void {
    this.#buffer.copyWithin(0, length, this.#length);
    this.#length -= length;
  }

  /** The old buffer stays unchanged for existing views of it. */
  #grow(size: number): void {
    const larger = new Uint8Array(size);
    larger.set(this.bytes());
    this.#buffer = larger;
  }
}
