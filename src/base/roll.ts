// A roll: keys in their order, to be read from any place in either direction.
// RO1. A place is a key. It stays valid when that key is removed: reading goes on with the next one.
// RO2. Adding a key that is greater than all others, as new ones are, costs nothing; after any others, the next read
//      sorts.

export class Roll {
  readonly #keys: string[] = [];
  #isSorted = true;

  /** The key must not be on the roll. */
  add(key: string): void {
    const last = this.#keys.at(-1);
    if (last !== undefined && last > key) this.#isSorted = false;
    this.#keys.push(key);
  }

  delete(key: string): void {
    const at = this.#indexOf(key);
    if (this.#keys[at] === key) this.#keys.splice(at, 1);
  }

  /** The keys after this one, or all; `backwards`: those before it, the greatest first. Not to be changed meanwhile. */
  *from(after: string | undefined, backwards = false): Generator<string> {
    const keys = this.#keys;
    this.#sort();
    const found = after === undefined ? keys.length : this.#indexOf(after);
    if (backwards) {
      for (let at = found - 1; at >= 0; at -= 1) yield keys[at] ?? "";
      return;
    }
    const first = after === undefined ? 0 : keys[found] === after ? found + 1 : found; // RO1
    for (let at = first; at < keys.length; at += 1) yield keys[at] ?? "";
  }

  /** Where the key is, or would be. */
  #indexOf(key: string): number {
    this.#sort();
    let [low, high] = [0, this.#keys.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#keys[middle] ?? "") < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** RO2 */
  #sort(): void {
    if (!this.#isSorted) this.#keys.sort();
    this.#isSorted = true;
  }
}
