// Holds the write-ahead log between two batches: what is appended meanwhile waits, and is acknowledged afterwards.
// GT1. When `hold` resolves, nothing is being written, and nothing will be before `open`.

export class Gate {
  #held: { readonly reached: PromiseWithResolvers<void>; readonly opened: PromiseWithResolvers<void> } | undefined;

  /** `isRunning`: whether a batch may be on its way; then `pass` is called before the next one, or `idle`. */
  hold(isRunning: boolean): Promise<void> {
    this.#held ??= { reached: Promise.withResolvers<void>(), opened: Promise.withResolvers<void>() };
    if (!isRunning) this.idle();
    return this.#held.reached.promise;
  }

  open(): void {
    this.#held?.reached.resolve();
    this.#held?.opened.resolve();
    this.#held = undefined;
  }

  /** Nothing is being written. */
  idle(): void {
    this.#held?.reached.resolve();
  }

  get isHeld(): boolean {
    return this.#held !== undefined;
  }

  /** Resolves when the next batch may be written. */
  async pass(): Promise<void> {
    for (let held = this.#held; held !== undefined; held = this.#held) {
      held.reached.resolve();
      await held.opened.promise;
    }
  }
}
