// The door to time. Decisions never ask it; they are told the time. Tests move a clock of their own.

export interface Clock {
  /** Wall-clock milliseconds since the epoch; may jump. For people and records. */
  now(): number;
  /** Monotonic milliseconds; never jumps. For durations and deadlines within one process. */
  elapsed(): number;
  /** Runs `fn` once after `ms`; returns how to call it off. Does not keep the process alive. */
  after(ms: number, fn: () => void): () => void;
  /** Runs `fn` as soon as everything already under way has had its turn. */
  soon(fn: () => void): void;
}
