// Input: decides which input is accepted. Pure: it numbers and refuses, others write to the child.
// I1. Each writer counts from 1 without gaps: a number already accepted is a repeat, one that skips is refused
//     (holder.ts, H3).
// I2. Input names the generation of the child it is meant for; nothing old reaches a new child.

import type { HolderRefusal, Input } from "../wire/holder/protocol.ts";

/** Each `send` from a shell may be a separate writer. The writer that was silent for the longest time is forgotten. */
const MAX_WRITERS = 1000;

export type InputVerdict =
  | { readonly kind: "new" }
  | { readonly kind: "repeat" }
  | { readonly kind: "refused"; readonly refusal: HolderRefusal };

export class Writers {
  readonly #generation: number;
  /** In the order of their last input. */
  readonly #taken = new Map<string, number>();

  constructor(generation: number) {
    this.#generation = generation;
  }

  take(writer: string, { number, generation }: Pick<Input, "number" | "generation">): InputVerdict {
    if (generation !== this.#generation) return refuse(number, otherGeneration(generation, this.#generation)); // I2
    const last = this.#taken.get(writer) ?? 0;
    if (number <= last && number > 0) return { kind: "repeat" }; // I1
    if (number !== last + 1) return refuse(number, gap(number, last)); // I1
    this.#remember(writer, number);
    return { kind: "new" };
  }

  /** The highest number accepted from each writer. */
  get taken(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#taken);
  }

  #remember(writer: string, number: number): void {
    this.#taken.delete(writer);
    this.#taken.set(writer, number);
    if (this.#taken.size <= MAX_WRITERS) return;
    const [oldest] = this.#taken.keys();
    if (oldest !== undefined) this.#taken.delete(oldest);
  }
}

function refuse(number: number, words: Omit<HolderRefusal, "number">): InputVerdict {
  return { kind: "refused", refusal: { ...words, number } };
}

function otherGeneration(theirs: number, ours: number): Omit<HolderRefusal, "number"> {
  return {
    code: "holder.generation",
    message: `The input was meant for generation ${theirs} of this terminal; this is generation ${ours}.`,
    hint: "Look at the screen as it is now, then type again.",
  };
}

function gap(number: number, last: number): Omit<HolderRefusal, "number"> {
  return {
    code: "holder.gap",
    message: `Input ${number} does not follow ${last}, the last one accepted from this writer.`,
    hint: "Connect again: the welcome contains the last accepted number.",
  };
}
