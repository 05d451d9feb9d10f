// The journal that a holder was told to use: opened for its first order, and kept until another one is named.
// OJ1. One that cannot be used is not tried again; what is held meanwhile has its claim and exit as files.
import { isFault } from "../base/fault.ts";
import { Journal } from "../log/file/journal.ts";
import type { OrderedJournal as Ordered } from "../wire/holder/orders.ts";
import type { HolderWorld } from "./holder.ts";

export class OrderedJournal {
  readonly #world: HolderWorld;
  #ordered: Ordered | undefined;
  #journal: Journal | undefined;

  constructor(world: HolderWorld) {
    this.#world = world;
  }

  of(ordered: Ordered | undefined): Journal | undefined {
    if (ordered?.path !== this.#ordered?.path || ordered?.use !== this.#ordered?.use) {
      this.#journal?.close();
      this.#ordered = ordered;
      this.#journal = ordered && this.#open(ordered);
    }
    return this.#journal;
  }

  /** OJ1 */
  #open(ordered: Ordered): Journal | undefined {
    try {
      return Journal.open(this.#world, ordered);
    } catch (error) {
      if (isFault(error)) return undefined;
      throw error;
    }
  }
}
