// Pauses that end early when something happens to what they are about.
import type { Clock } from "../../world/clock.ts";

export class Naps {
  readonly #clock: Clock;
  readonly #asleep = new Map<string, () => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** One at a time for each name. */
  async sleep(name: string, ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(ms, resolve);
      this.#asleep.set(name, () => {
        cancel();
        resolve();
      });
    });
    this.#asleep.delete(name);
  }

  wake(name: string): void {
    this.#asleep.get(name)?.();
  }
}
