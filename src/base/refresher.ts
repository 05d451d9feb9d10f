// Repeats a piece of work when something may have changed.
// RE1. One at a time. However often it is asked for meanwhile, one more follows, so the last state is seen.
// RE2. Between two there is a pause: a storm of notices costs a few requests a second, not thousands.

/** RE2. Too short to be noticed by a person. */
const PAUSE_MS = 250;

export class Refresher {
  readonly #work: () => Promise<void>;
  readonly #after: (ms: number, fn: () => void) => void;
  #state: "idle" | "busy" | "busy, and again" = "idle";

  constructor(work: () => Promise<void>, after: (ms: number, fn: () => void) => void) {
    this.#work = work;
    this.#after = after;
  }

  refresh(): void {
    if (this.#state !== "idle") this.#state = "busy, and again";
    else void this.#run();
  }

  async #run(): Promise<void> {
    this.#state = "busy";
    await this.#work();
    this.#after(PAUSE_MS, () => {
      const isWanted = this.#state === "busy, and again";
      this.#state = "idle";
      if (isWanted) void this.#run(); // RE1
    });
  }
}
