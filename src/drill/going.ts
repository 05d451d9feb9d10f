// What the actors of a drill share: they continue until they are asked to stop, and wait for facts with a time limit.
import type { Clock } from "../world/clock.ts";
import { pause } from "../world/wait.ts";

/** Between two checks of a fact. Recovery is measured with it, so it is short. */
const LOOK_MS = 3;

export class Going {
  readonly #clock: Clock;
  #on = true;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get on(): boolean {
    return this.#on;
  }

  stop(): void {
    this.#on = false;
  }

  /** Repeats `act`, with pauses of `pauseMs`, until it is asked to stop. */
  async repeat(act: () => Promise<unknown> | unknown, pauseMs: () => number): Promise<void> {
    while (this.#on) {
      await act();
      await pause(this.#clock, pauseMs());
    }
  }
}

/**
 * Repeats `look` until it returns something; undefined if that takes longer than `ms`. `pauseMs`: between two looks.
 */
export async function until<T>(
  clock: Clock,
  ms: number,
  look: () => Promise<T | undefined> | T | undefined,
  pauseMs = LOOK_MS,
): Promise<T | undefined> {
  const deadline = clock.elapsed() + ms;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (clock.elapsed() >= deadline) return undefined;
    await pause(clock, pauseMs);
  }
}
