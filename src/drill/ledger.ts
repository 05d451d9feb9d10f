// What the drill requested and what was acknowledged: all of the latter must be true at the end.
// G1. An acknowledged command is certain. One that was not acknowledged may have happened or not; both are right.
import type { ListedTerminal } from "../wire/rpc/rpc.ts";
import type { Attached } from "./attached.ts";

/** `doomed`: a request to end it was not acknowledged. */
export type Fate = "runs" | "doomed" | "ended" | "holder killed" | "perhaps removed" | "removed";

export class Entry {
  readonly id: string;
  readonly attached: Attached;
  /** It exists for the whole drill: it is never ended. */
  readonly steady: boolean;
  fate: Fate = "runs";
  /** The last acknowledged name, and those that were requested since (G1). */
  #names: Set<string>;

  constructor(id: string, name: string, attached: Attached, steady: boolean) {
    this.id = id;
    this.attached = attached;
    this.steady = steady;
    this.#names = new Set([name]);
  }

  get name(): string {
    return [...this.#names][0] ?? this.id;
  }

  named(name: string): void {
    this.#names = new Set([name]);
  }

  perhapsNamed(name: string): void {
    this.#names.add(name);
  }

  mayBeCalled(name: string): boolean {
    return this.#names.has(name);
  }
}

export class Ledger {
  readonly entries: Entry[] = [];
  /** Terminals that were requested under this name, without a reply. */
  readonly perhaps = new Set<string>();
  #named = 0;
  #next = Promise.withResolvers<void>();

  /** Resolves at the next acknowledgement. */
  get acknowledgement(): Promise<void> {
    return this.#next.promise;
  }

  acknowledged(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  /** A name that was never used. */
  nextName(): string {
    this.#named += 1;
    return `drill-${this.#named}`;
  }

  with(...fates: readonly Fate[]): Entry[] {
    return this.entries.filter(({ fate }) => fates.includes(fate));
  }

  /** The terminals of which every byte and every line must be right to the end. */
  get running(): Entry[] {
    return this.with("runs");
  }

  entryOf({ id }: Pick<ListedTerminal, "id">): Entry | undefined {
    return this.entries.find((entry) => entry.id === id);
  }
}
