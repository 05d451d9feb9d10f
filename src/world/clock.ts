// Access to time. Decision code gets the time as an argument. Tests use a simulated clock.

export interface Clock {
  /** Wall-clock milliseconds since the epoch; may jump. For people and records. */
  now(): number;
  /** How many minutes the wall clock here is ahead of UTC at `at`: for texts that people read. */
  minutesAhead(at: number): number;
  /** Monotonic milliseconds; never jumps. For durations and deadlines within one process. */
  elapsed(): number;
  /** Milliseconds since the machine was booted, asleep or not: the same for all processes. Throws a Fault. */
  sinceBoot(): number;
  /** Runs `fn` once after `ms`; returns a function that cancels it. Does not keep the process alive. */
  after(ms: number, fn: () => void): () => void;
  /** Runs `fn` after everything that is already queued. */
  soon(fn: () => void): void;
}
