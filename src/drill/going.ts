// What the actors of a drill have in common: they go on until they are told to stop, and wait for facts with a bound.
import type { Clock } from "../world/clock.ts";
import { pause } from "../world/wait.ts";

/** Between two looks at a fact. Recovery is measured with it, so it is short. */
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

  /** Does `act` again and again, with pauses of so many milliseconds, until it is to stop. */
  async repeat(act: () => Promise<unknown> | unknown, pauseMs: () => number): Promise<void> {
    while (this.#on) {
      await act();
      await pause(this.#clock, pauseMs());
    }
  }
}

/** Looks until something is there; undefined where it takes longer than `ms`. */
export async function until<T>(
  clock: Clock,
  ms: number,
  look: () => Promise<T | undefined> | T | undefined,
): Promise<T | undefined> {
  const deadline = clock.elapsed() + ms;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (clock.elapsed() >= deadline) return undefined;
    await pause(clock, LOOK_MS);
  }
}
