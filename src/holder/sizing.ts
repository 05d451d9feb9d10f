// Sizing: whose window a terminal fits. Pure.
// Z1. The last one who typed or came with a window owns the size; windows of others are remembered for when they type.
// Z2. Whoever only looks on never owns it.
import type { HolderSize } from "../wire/holder/protocol.ts";

export class Sizing<Who> {
  #size: HolderSize;
  /** The windows, in the order in which their owners last did something. */
  readonly #windows = new Map<Who, HolderSize>();

  constructor(size: HolderSize) {
    this.#size = size;
  }

  get size(): HolderSize {
    return this.#size;
  }

  /** Someone came with a window. True where the size changed. */
  came(who: Who, size: HolderSize): boolean {
    this.#windows.delete(who);
    this.#windows.set(who, size);
    return this.#follow();
  }

  typed(who: Who): boolean {
    const size = this.#windows.get(who);
    return size !== undefined && this.came(who, size); // Z1
  }

  resized(who: Who, size: HolderSize): boolean {
    this.#windows.set(who, size); // Whoever is in the map already keeps its place (Z1).
    return this.#follow();
  }

  left(who: Who): boolean {
    return this.#windows.delete(who) && this.#follow();
  }

  /** Without any window the size stays as it was. */
  #follow(): boolean {
    const size = [...this.#windows.values()].at(-1) ?? this.#size;
    const changed = size.cols !== this.#size.cols || size.rows !== this.#size.rows;
    this.#size = size;
    return changed;
  }
}
