// The system's time.
import type { Clock } from "../clock.ts";

/** Longer timers would fire at once: they are counted in 31 bits. */
const MAX_TIMER = 2 ** 31 - 1;

export function realClock(): Clock {
  return { now: Date.now, elapsed: () => performance.now(), after, soon: (fn) => void setImmediate(fn) };
}

function after(ms: number, fn: () => void): () => void {
  let left = ms;
  const next = (): Timer => {
    const turn = Math.min(left, MAX_TIMER);
    left -= turn;
    return setTimeout(due, turn).unref();
  };
  const due = (): void => {
    if (left > 0) timer = next();
    else fn();
  };
  let timer = next();
  return () => clearTimeout(timer);
}
