// A value that is fetched again when it may have changed.
// FE1, FE2. One fetch at a time, and no storm of them: RE1 and RE2 of base/refresher.ts.
// FE3. If a fetch is refused, the last value stays.
import { type Signal, signal } from "@preact/signals";
import { Refresher } from "../../base/refresher.ts";
import type { Refusal, Result } from "../../base/result.ts";

export class Feed<T> {
  readonly value: Signal<T | undefined> = signal(undefined);
  readonly refusal: Signal<Refusal | undefined> = signal(undefined);
  readonly #refresher: Refresher;

  constructor(read: () => Promise<Result<T>>, after: (ms: number, fn: () => void) => void) {
    this.#refresher = new Refresher(async () => this.#take(await read()), after); // FE1, FE2
  }

  refresh(): void {
    this.#refresher.refresh();
  }

  #take(fetched: Result<T>): void {
    if (fetched.ok) this.value.value = fetched.value;
    this.refusal.value = fetched.ok ? undefined : fetched.error; // FE3
  }
}
