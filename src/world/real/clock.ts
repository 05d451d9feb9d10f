// The system's time.
import { readFileSync } from "node:fs";
import type { Clock } from "../clock.ts";
import { attempt } from "./attempt.ts";

/** Longer timers would fire at once: they are counted in 31 bits. */
const MAX_TIMER = 2 ** 31 - 1;

export function realClock(): Clock {
  const elapsed = () => performance.now();
  return { now: Date.now, minutesAhead, elapsed, sinceBoot, after, soon: (fn) => void setImmediate(fn) };
}

export function minutesAhead(at: number): number {
  return -new Date(at).getTimezoneOffset();
}

function sinceBoot(): number {
  const seconds = attempt("sinceBoot", "/proc/uptime", () => readFileSync("/proc/uptime", "latin1"));
  return Number.parseFloat(seconds) * 1000;
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
