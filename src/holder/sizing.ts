// Sizing: which client's window determines a terminal's size. Pure.
// Z1. The last client that typed, or came with a window, owns the size; other windows are remembered for when their
//     clients type.
// Z2. A read-only client never owns it.
import type { HolderSize } from "../wire/holder/protocol.ts";

export class Sizing<Who> {
  #size: HolderSize;
  /** The windows, in the order of their clients' last activity. */
  readonly #windows = new Map<Who, HolderSize>();

  constructor(size: HolderSize) {
    this.#size = size;
  }

  get size(): HolderSize {
    return this.#size;
  }

  /** A client came with a window. Returns true if the size changed. */
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
    this.#windows.set(who, size); // A client that is already in the map keeps its place (Z1).
    return this.#follow();
  }

  left(who: Who): boolean {
    return this.#windows.delete(who) && this.#follow();
  }

  /** Without any window the size does not change. */
  #follow(): boolean {
    const size = [...this.#windows.values()].at(-1) ?? this.#size;
    const changed = size.cols !== this.#size.cols || size.rows !== this.#size.rows;
    this.#size = size;
    return changed;
  }
}
