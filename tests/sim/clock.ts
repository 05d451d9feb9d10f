// A clock that only tests move.
// CL1. Timers run in the order they are due, those due together in the order they were set, and only inside `advance`.
// CL2. `soon` is a real setImmediate: it comes after every promise continuation, however long the chain, which no fixed
//      number of microtasks can promise; and it is fast (900,000 turns a second measured). Order is still fixed:
//      nothing else happens in a test.
import { assert } from "../../src/base/assert.ts";
import type { Clock } from "../../src/world/clock.ts";

type Due = { readonly at: number; readonly fn: () => void };

export class SimClock implements Clock {
  private time = 0;
  private asleep = 0;
  private wallOffset: number;
  private readonly timers = new Set<Due>();

  constructor(wall = Date.UTC(2026, 0, 1)) {
    this.wallOffset = wall;
  }

  /** In whole milliseconds, as the system gives it. */
  /** Machines under test are set to UTC. */
  minutesAhead(): number {
    return 0;
  }

  now(): number {
    return Math.floor(this.wallOffset + this.time);
  }

  elapsed(): number {
    return this.time;
  }

  sinceBoot(): number {
    return this.time + this.asleep;
  }

  after(ms: number, fn: () => void): () => void {
    const timer = { at: this.time + Math.max(0, ms), fn };
    this.timers.add(timer);
    return () => void this.timers.delete(timer);
  }

  soon(fn: () => void): void {
    setImmediate(fn); // CL2
  }

  get pendingTimers(): number {
    return this.timers.size;
  }

  /** When the next timer is due, in `elapsed` time; undefined if none is set. */
  get nextTimer(): number | undefined {
    return this.first()?.at;
  }

  /**
   * Advances time and runs due timers, also those that they set. Promises they wake continue after `advance` has
   * returned.
   */
  advance(ms: number): void {
    assert(ms >= 0, "time goes forward");
    const end = this.time + ms;
    for (let due = this.first(); due !== undefined && due.at <= end; due = this.first()) {
      this.timers.delete(due);
      this.time = Math.max(this.time, due.at);
      due.fn();
    }
    this.time = Math.max(this.time, end);
  }

  /** A call held this thread up: time went on, and no timer could run. */
  lag(ms: number): void {
    this.time += ms;
  }

  /** The wall clock is set (by a person or by NTP); timers and `elapsed` do not notice. */
  jump(ms: number): void {
    this.wallOffset += ms;
  }

  /** The machine is suspended: only timers and `elapsed` stand still. */
  sleep(ms: number): void {
    this.wallOffset += ms;
    this.asleep += ms;
  }

  /** Lets every pending promise and `soon` have its turn. */
  async settle(): Promise<void> {
    await new Promise<void>((done) => setImmediate(done));
  }

  private first(): Due | undefined {
    let first: Due | undefined;
    for (const timer of this.timers) {
      // CL1: a Set keeps the order in which timers were set.
      if (first === undefined || timer.at < first.at) first = timer;
    }
    return first;
  }
}

/** Each look at it is a tenth of a second later; `turns` is called whenever others get a turn. */
export function hurried(turns: () => void): Clock {
  const clock = new SimClock();
  const elapsed = () => {
    clock.advance(100);
    return clock.elapsed();
  };
  const soon = (fn: () => void) => {
    turns();
    clock.soon(fn);
  };
  const sinceBoot = () => clock.sinceBoot();
  const minutesAhead = () => 0;
  return { now: () => clock.now(), minutesAhead, elapsed, sinceBoot, after: (ms, fn) => clock.after(ms, fn), soon };
}
