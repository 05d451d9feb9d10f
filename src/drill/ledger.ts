// What the drill asked for and what it was told: everything acknowledged is in here, and must be true at the end.
// G1. An acknowledged command is certain. One that was not acknowledged may have happened or not; both are right, but nothing else is.
import type { ListedTerminal } from "../wire/rpc/rpc.ts";
import type { Attached } from "./attached.ts";

/** `doomed`: somebody tried to end it and was not told whether that was taken. */
export type Fate = "runs" | "doomed" | "ended" | "holder killed" | "perhaps removed" | "removed";

export class Entry {
  readonly id: string;
  readonly attached: Attached;
  /** Stays for the whole drill: nobody ends it. */
  readonly steady: boolean;
  fate: Fate = "runs";
  /** The last acknowledged name, and those that were asked for since (G1). */
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
  /** Terminals that were asked for by this name, without an answer. */
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

  /** Those of which every byte and every line must be right to the end. */
  get running(): Entry[] {
    return this.with("runs");
  }

  entryOf({ id }: Pick<ListedTerminal, "id">): Entry | undefined {
    return this.entries.find((entry) => entry.id === id);
  }
}
