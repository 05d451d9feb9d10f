// Due times: every deadline, backoff, sleep and reminder is a duration, but in events it is a time by the wall clock.
// DT1. If the clock is set, the times that are waited for keep their texts: how far each is moved is kept beside them.
// DT2. The same text may be moved several times: it stays as far away as it was.
// DT3. Only times that are still waited for are kept: there are never more than waits.

/** By text: how much later, by the present clock, it is due. */
export type MovedTimes = ReadonlyMap<string, number>;

/** Milliseconds until `due`; 0 or less if it has come. */
export type Left = (due: string) => number;

export function leftUntil(due: string, now: number, moved: MovedTimes): number {
  return Date.parse(due) + (moved.get(due) ?? 0) - now; // DT1
}

/** The clock was set by `byMs` while these times were waited for. */
export function movedBy(moved: MovedTimes, due: Iterable<string>, byMs: number): MovedTimes {
  const after = new Map<string, number>();
  for (const time of due) {
    const ms = (moved.get(time) ?? 0) + byMs; // DT2
    if (ms !== 0) after.set(time, ms);
  }
  return after; // DT3
}

/** For decisions without a clock that may be set: as the texts say. */
export function leftAt(at: string): Left {
  return (due) => leftUntil(due, Date.parse(at), new Map());
}
