// The lines that one session's log does not have yet, contiguous in a reused buffer.

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

  add(line: Uint8Array): void {
    const end = this.#length + line.length;
    if (end >= this.#buffer.length) this.#grow(2 * (end + 1));
    this.#buffer.set(line, this.#length);
    this.#buffer[end] = NEWLINE;
    this.#length = end + 1;
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
