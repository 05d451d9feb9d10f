// Takes the greatest first: a binary heap.
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #isBefore: (one: T, other: T) => boolean;

  constructor(isBefore: (one: T, other: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    for (let parent = (at - 1) >> 1; at > 0 && this.#swapIfBefore(at, parent); parent = (at - 1) >> 1) at = parent;
  }

  pop(): T | undefined {
    const [first] = this.#items;
    const last = this.#items.pop();
    if (this.#items.length > 0 && last !== undefined) {
      this.#items[0] = last;
      this.#sink();
    }
    return first;
  }

  #sink(): void {
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const child = this.#comesBefore(right, left) ? right : left;
      if (!this.#swapIfBefore(child, at)) return;
      at = child;
    }
  }

  #comesBefore(one: number, other: number): boolean {
    const [item, against] = [this.#items[one], this.#items[other]];
    return item !== undefined && against !== undefined && this.#isBefore(item, against);
  }

  #swapIfBefore(one: number, other: number): boolean {
    const [item, against] = [this.#items[one], this.#items[other]];
    if (item === undefined || against === undefined || !this.#isBefore(item, against)) return false;
    this.#items[one] = against;
    this.#items[other] = item;
    return true;
  }
}
