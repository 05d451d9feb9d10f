// Bytes that arrive in pieces and are taken from the front, for readers of lines and frames.
// BQ1. Each byte is moved a few times and searched once, however small the pieces are: a sender of single bytes costs
//      no more than others.
// BQ2. A view stays valid: what it shows is never written again.

const EMPTY = new Uint8Array(0);
/** A byte order mark is a character like others. */
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

export class ByteQueue {
  #store: Uint8Array = EMPTY;
  #from = 0;
  #to = 0;
  /** Before this there is none of what `find` looks for. */
  #searched = 0;

  get length(): number {
    return this.#to - this.#from;
  }

  /** Copies the bytes: the caller may use its buffer again. */
  push(bytes: Uint8Array): void {
    if (this.#to + bytes.length > this.#store.length) this.#grow(bytes.length);
    this.#store.set(bytes, this.#to);
    this.#to += bytes.length;
  }

  /** All that is waiting (BQ2). */
  view(): Uint8Array {
    return this.#store.subarray(this.#from, this.#to);
  }

  /** The first bytes as text. */
  text(count: number): string {
    return UTF8.decode(this.#store.subarray(this.#from, this.#from + count));
  }

  drop(count: number): void {
    this.#from += count;
    this.#searched = Math.max(this.#searched, this.#from);
    if (this.#from === this.#to) this.#restart(EMPTY);
  }

  /** Where the first of this byte is; -1 if there is none. Every call looks for the same byte (BQ1). */
  find(byte: number): number {
    const at = this.#store.subarray(0, this.#to).indexOf(byte, this.#searched);
    this.#searched = at < 0 ? this.#to : at;
    return at < 0 ? -1 : at - this.#from;
  }

  /** BQ1: if something is waiting, as much room again. */
  #grow(more: number): void {
    const waiting = this.view();
    const searched = this.#searched - this.#from;
    this.#restart(new Uint8Array(waiting.length === 0 ? more : 2 * (waiting.length + more)));
    this.#store.set(waiting);
    this.#to = waiting.length;
    this.#searched = searched;
  }

  #restart(store: Uint8Array): void {
    this.#store = store;
    this.#from = 0;
    this.#to = 0;
    this.#searched = 0;
  }
}
