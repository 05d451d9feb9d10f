// Bounded waiting: pauses, and promises with a time limit.
import type { Clock } from "./clock.ts";

export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((done) => void clock.after(ms, done));
}

/** The value of the promise, or undefined if it takes too long. */
export async function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const cancel = clock.after(ms, () => late.resolve(undefined));
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    cancel();
  }
}

/**
 * Pauses that grow: short at first, longer if it takes its time. That time begins with the first pause: what is
 * repeated may itself take long, and is tried again all the same.
 */
export class Pauses {
  readonly #clock: Clock;
  readonly #mostMs: number;
  readonly #allMs: number;
  #until: number | undefined;
  #ms: number;

  constructor(clock: Clock, limits: { readonly firstMs: number; readonly mostMs: number; readonly allMs: number }) {
    this.#clock = clock;
    this.#ms = limits.firstMs;
    this.#mostMs = limits.mostMs;
    this.#allMs = limits.allMs;
  }

  /** There is progress: the full time starts again. */
  extend(): void {
    this.#until = this.#clock.elapsed() + this.#allMs;
  }

  /** Returns false when the time is over. */
  async next(): Promise<boolean> {
    this.#until ??= this.#clock.elapsed() + this.#allMs;
    if (this.#clock.elapsed() >= this.#until) return false;
    await pause(this.#clock, this.#ms);
    this.#ms = Math.min(2 * this.#ms, this.#mostMs);
    return true;
  }
}
