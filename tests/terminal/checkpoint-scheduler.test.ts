// When checkpoints are written, on a clock that only the test moves.
import { expect, test } from "bun:test";
import { Fault } from "../../src/base/fault.ts";
import { type Result, refused } from "../../src/base/result.ts";
import { CheckpointScheduler } from "../../src/daemon/terminal/checkpoint-scheduler.ts";
import type { Saved } from "../../src/log/checkpoint/store.ts";
import { SimClock } from "../sim/clock.ts";
import { sessionOf } from "./checkpoint-sessions.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A writer that takes as long as `tookMs` says, and answers what `answer` says. */
class Stage {
  readonly clock = new SimClock();
  readonly said: string[] = [];
  readonly broken: unknown[] = [];
  readonly scheduler: CheckpointScheduler;
  written = 0;
  tookMs = 5;
  off = false;
  answer: () => Result<Saved> = () => {
    const time = new Date(this.clock.now()).toISOString();
    return { ok: true, value: { path: "/x", seq: 0, time, bytes: 1 } };
  };
  state = async () => [sessionOf(1)];

  constructor(checkpointIntervalMs = MINUTE) {
    this.scheduler = new CheckpointScheduler(
      { checkpointIntervalMs, freshMs: 6 * HOUR },
      {
        clock: this.clock,
        isOff: () => this.off,
        say: (words) => void this.said.push(words),
        onBug: (error) => void this.broken.push(error),
      },
    );
  }

  start(): this {
    this.scheduler.start({ write: () => this.#write() }, () => this.state());
    return this;
  }

  async #write(): Promise<Result<Saved>> {
    await new Promise<void>((done) => this.clock.after(this.tookMs, done));
    const answer = this.answer();
    if (answer.ok) this.written += 1;
    return answer;
  }

  /** Moves the clock in small steps, so that what timers wake has its turn before the next one is due. */
  async pass(ms: number): Promise<void> {
    const end = this.clock.elapsed() + ms;
    while (this.clock.elapsed() < end) {
      await this.clock.settle();
      const next = Math.min(this.clock.nextTimer ?? end, end);
      this.clock.advance(Math.max(0, next - this.clock.elapsed()));
      await this.clock.settle();
    }
  }
}

test("CS-1(b) a checkpoint comes an interval after a change, and none while nothing changes: no timer but the one for its age", async () => {
  const stage = new Stage().start();
  await stage.pass(MINUTE - 1);
  expect(stage.written).toBe(0);
  await stage.pass(10);
  expect(stage.written).toBe(1);
  expect(stage.clock.nextTimer).toBeGreaterThan(5 * HOUR); // Idle costs nothing.
  stage.scheduler.changed();
  stage.scheduler.changed();
  await stage.pass(MINUTE + 10);
  expect(stage.written).toBe(2);
});

test("CS-1(b) a quiet day does not make a true checkpoint too old: it is written anew every six hours", async () => {
  const stage = new Stage().start();
  await stage.pass(25 * HOUR);
  expect(stage.written).toBe(5);
});

test("CS-1(a) triggerNow writes at once; who asks while one is under way gets the next, and one serves all of them", async () => {
  const stage = new Stage().start();
  const first = stage.scheduler.triggerNow();
  const others = [stage.scheduler.triggerNow(), stage.scheduler.triggerNow()];
  await stage.pass(20);
  for (const saved of await Promise.all([first, ...others])) expect(saved.ok).toBe(true);
  expect(stage.written).toBe(2);
});

test("CS-1(a) stop ends it: no timer is left, and a trigger is refused", async () => {
  const stage = new Stage().start();
  stage.scheduler.stop();
  expect(stage.clock.pendingTimers).toBe(0);
  stage.scheduler.activity(100);
  await stage.pass(2 * MINUTE);
  expect(stage.written).toBe(0);
  expect(await stage.scheduler.triggerNow()).toMatchObject({ ok: false, error: { code: "stopped" } });
});

test("CS-2(a,b) more than 50 activity events: now, and the count starts again", async () => {
  const stage = new Stage().start();
  for (let event = 0; event < 50; event += 1) stage.scheduler.activity();
  await stage.pass(1_000);
  expect(stage.written).toBe(0);
  stage.scheduler.activity();
  await stage.pass(1_000);
  expect(stage.written).toBe(1);
  stage.scheduler.activity(50);
  await stage.pass(1_000);
  expect(stage.written).toBe(1);
  stage.scheduler.activity();
  await stage.pass(1_000);
  expect(stage.written).toBe(2);
});

test("CS-2(a) a burst during a write is not lost: it makes the next one", async () => {
  const stage = new Stage().start();
  stage.tookMs = 100;
  stage.scheduler.activity(51);
  await stage.pass(50);
  stage.scheduler.activity(51);
  await stage.pass(300);
  expect(stage.written).toBe(2);
});

test("CS-3(a,b) a write over 500 ms doubles the interval, to five minutes at most; one under 100 ms restores it", async () => {
  const stage = new Stage().start();
  const intervals: number[] = [];
  const round = async (tookMs: number) => {
    stage.tookMs = tookMs;
    const done = stage.scheduler.triggerNow();
    await stage.pass(tookMs + 1);
    await done;
    intervals.push(stage.scheduler.intervalMs / MINUTE);
  };
  for (const tookMs of [501, 500, 501, 501, 501, 100, 99]) await round(tookMs);
  expect(intervals).toEqual([2, 2, 4, 5, 5, 5, 1]);
});

test("CS-3(a) an interval that was chosen longer than five minutes is not shortened by a slow disk", async () => {
  const stage = new Stage(10 * MINUTE).start();
  stage.tookMs = 600;
  void stage.scheduler.triggerNow();
  await stage.pass(1_000);
  expect(stage.scheduler.intervalMs).toBe(10 * MINUTE);
});

test("CS-4(a,b) the last one is written before the end, or given up after 5 s", async () => {
  const stage = new Stage().start();
  const finished = stage.scheduler.finish();
  await stage.pass(100);
  await finished;
  expect(stage.written).toBe(1);
  expect(stage.clock.pendingTimers).toBe(0);
  const slow = new Stage().start();
  slow.tookMs = HOUR;
  let over = false;
  void slow.scheduler.finish().then(() => {
    over = true;
  });
  await slow.pass(4_900);
  expect(over).toBe(false);
  await slow.pass(200);
  expect(over).toBe(true);
  expect(slow.said.join()).toContain("given up after 5 s");
});

test("SM-3(d,g) in safe mode nothing is written, not even the last one; what changed is written once it is over", async () => {
  const stage = new Stage().start();
  stage.off = true;
  stage.scheduler.activity(100);
  await stage.pass(5 * MINUTE);
  expect(await stage.scheduler.triggerNow()).toMatchObject({ ok: false, error: { code: "safe-mode" } });
  expect(stage.written).toBe(0);
  stage.off = false;
  await stage.pass(2 * MINUTE);
  expect(stage.written).toBe(1);
  stage.off = true;
  await stage.scheduler.finish();
  expect(stage.written).toBe(1);
});

test("TC-6(c) a newer version in the way is said once, stops nobody, and is tried again", async () => {
  const stage = new Stage().start();
  const whole = stage.answer;
  stage.answer = () => refused("NEWER_VERSION", "checkpoint.json has version 9", "Run the newer holdfast.");
  await stage.pass(5 * MINUTE);
  expect(stage.said).toEqual(["no checkpoint was written: checkpoint.json has version 9. Run the newer holdfast."]);
  stage.answer = whole;
  await stage.pass(2 * MINUTE);
  expect(stage.written).toBe(1);
});

test("a disk without room is said once and asked again by time, not in a loop", async () => {
  const stage = new Stage().start();
  const whole = stage.answer;
  let asked = 0;
  stage.answer = () => {
    asked += 1;
    throw new Fault({ code: "ENOSPC", operation: "write", path: "/x" });
  };
  stage.scheduler.activity(60);
  await stage.pass(3 * MINUTE);
  expect(asked).toBeLessThanOrEqual(4);
  expect(stage.said).toHaveLength(1);
  expect(stage.said[0]).toContain("The disk is full");
  stage.answer = whole;
  await stage.pass(2 * MINUTE);
  expect(stage.written).toBe(1);
});

test("what is no Fault is a bug of ours and is not swallowed", async () => {
  const stage = new Stage();
  stage.state = async () => {
    throw new Error("a bug");
  };
  stage.start();
  await stage.pass(2 * MINUTE);
  expect(String(stage.broken[0])).toContain("a bug");
});

test("a clock that is set forward or back changes no interval", async () => {
  const stage = new Stage().start();
  stage.clock.jump(-48 * HOUR);
  await stage.pass(MINUTE + 10);
  expect(stage.written).toBe(1);
  stage.scheduler.changed();
  stage.clock.jump(96 * HOUR);
  await stage.pass(MINUTE - 100);
  expect(stage.written).toBe(1);
  await stage.pass(200);
  expect(stage.written).toBe(2);
});
