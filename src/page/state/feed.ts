// A value that is fetched again when it may have changed.
// FE1. One fetch at a time. However often it is asked for meanwhile, one more follows, so the last state is seen.
// FE2. Between two fetches there is a pause: a storm of notices costs a few requests a second, not thousands.
// FE3. If a fetch is refused, the last value stays.
import { type Signal, signal } from "@preact/signals";
import type { Refusal, Result } from "../../base/result.ts";

/** FE2. Too short to be noticed by a person. */
const PAUSE_MS = 250;

export class Feed<T> {
  readonly value: Signal<T | undefined> = signal(undefined);
  readonly refusal: Signal<Refusal | undefined> = signal(undefined);
  readonly #read: () => Promise<Result<T>>;
  readonly #after: (ms: number, fn: () => void) => void;
  #state: "idle" | "busy" | "busy, and again" = "idle";

  constructor(read: () => Promise<Result<T>>, after: (ms: number, fn: () => void) => void) {
    this.#read = read;
    this.#after = after;
  }

  refresh(): void {
    if (this.#state !== "idle") this.#state = "busy, and again";
    else void this.#run();
  }

  async #run(): Promise<void> {
    this.#state = "busy";
    const fetched = await this.#read();
    if (fetched.ok) this.value.value = fetched.value;
    this.refusal.value = fetched.ok ? undefined : fetched.error; // FE3
    this.#after(PAUSE_MS, () => {
      const isWanted = this.#state === "busy, and again";
      this.#state = "idle";
      if (isWanted) void this.#run(); // FE1
    });
  }
}
