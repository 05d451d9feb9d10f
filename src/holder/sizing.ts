// Sizing: which client's window determines a terminal's size. Pure.
// Z1. The last client that typed, or came with a window, owns the size; other windows are remembered for when their
//     clients type.
// Z2. A read-only client never owns it.
// Z3. A client may choose otherwise for all: the smallest columns and rows of all windows, or a size that no window
//     changes.
// Z4. What the program asks its terminal is answered by a window of exactly this size, of several by the one that typed
//     last: any other shows a drawing of the screen, and does not know what the program sees (holder.ts, O6).
import type { HolderSize, HolderSizing } from "../wire/holder/protocol.ts";

export class Sizing<Who> {
  #size: HolderSize;
  #policy: HolderSizing = "latest";
  /** The windows, in the order of their clients' last activity. */
  readonly #windows = new Map<Who, HolderSize>();

  constructor(size: HolderSize) {
    this.#size = size;
  }

  get size(): HolderSize {
    return this.#size;
  }

  get clients(): readonly Who[] {
    return [...this.#windows.keys()];
  }

  /** The client whose window answers what the program asks (Z4). */
  get answerer(): Who | undefined {
    const { cols, rows } = this.#size;
    return this.clients.findLast((who) => {
      const window = this.#windows.get(who);
      return window?.cols === cols && window.rows === rows;
    });
  }

  /** A client came with a window. Returns true if the size changed. */
  came(who: Who, size: HolderSize): boolean {
    this.#windows.delete(who);
    this.#windows.set(who, size);
    return this.#follow();
  }

  /** Z3. Returns true if the size changed. */
  choose(policy: HolderSizing): boolean {
    this.#policy = policy;
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
    const size = this.#wanted([...this.#windows.values()]) ?? this.#size;
    const changed = size.cols !== this.#size.cols || size.rows !== this.#size.rows;
    this.#size = size;
    return changed;
  }

  #wanted(windows: readonly HolderSize[]): HolderSize | undefined {
    if (typeof this.#policy === "object") return this.#policy;
    if (this.#policy === "latest" || windows.length === 0) return windows.at(-1);
    const smallest = (sides: readonly number[]) => Math.min(...sides);
    return { cols: smallest(windows.map(({ cols }) => cols)), rows: smallest(windows.map(({ rows }) => rows)) };
  }
}
