// When checkpoints are written, with a clock that only the test moves.
import { expect, test } from "bun:test";
import { Fault } from "../../src/base/fault.ts";
import { type Result, refused } from "../../src/base/result.ts";
import { CheckpointScheduler } from "../../src/daemon/terminal/checkpoint-scheduler.ts";
import type { Saved } from "../../src/log/checkpoint/store.ts";
import { SimClock } from "../sim/clock.ts";
import { sessionOf } from "./checkpoint-sessions.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A writer that takes `tookMs` and returns `answer`. */
class Stage {
  readonly clock = new SimClock();
  readonly said: string[] = [];
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

  /** Moves the clock in small steps, so that what a timer wakes runs before the next timer is due. */
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

test("CS-1(b) a checkpoint is written an interval after a change, and none while nothing changes: the only timer is the one for its age", async () => {
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

test("CS-1(b) a quiet day does not make a checkpoint too old: it is rewritten every six hours", async () => {
  const stage = new Stage().start();
  await stage.pass(25 * HOUR);
  expect(stage.written).toBe(5);
});

test("CS-1(a) triggerNow writes at once; calls during a write share the next one", async () => {
  const stage = new Stage().start();
  const first = stage.scheduler.triggerNow();
  const others = [stage.scheduler.triggerNow(), stage.scheduler.triggerNow()];
  await stage.pass(20);
  for (const saved of await Promise.all([first, ...others])) expect(saved.ok).toBe(true);
  expect(stage.written).toBe(2);
});

test("CS-1(a) after stop no timer is left, and a trigger is refused", async () => {
  const stage = new Stage().start();
  stage.scheduler.stop();
  expect(stage.clock.pendingTimers).toBe(0);
  stage.scheduler.activity(100);
  await stage.pass(2 * MINUTE);
  expect(stage.written).toBe(0);
  expect(await stage.scheduler.triggerNow()).toMatchObject({ ok: false, error: { code: "stopped" } });
});

test("CS-2(a,b) more than 50 activity events trigger a write at once, and the count starts again", async () => {
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

test("CS-2(a) a burst during a write is not lost: it triggers the next one", async () => {
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

test("CS-3(a) a configured interval longer than five minutes is not shortened by a slow disk", async () => {
  const stage = new Stage(10 * MINUTE).start();
  stage.tookMs = 600;
  void stage.scheduler.triggerNow();
  await stage.pass(1_000);
  expect(stage.scheduler.intervalMs).toBe(10 * MINUTE);
});

test("CS-4(a,b) the last checkpoint is written before the end, or given up after 5 s", async () => {
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

test("SM-3(d,g) in safe mode nothing is written, not even at the end; changes are written once it is over", async () => {
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

test("TC-6(c) a newer version's file in the way is reported once, blocks nothing, and is retried", async () => {
  const stage = new Stage().start();
  const whole = stage.answer;
  stage.answer = () => refused("NEWER_VERSION", "checkpoint.json has version 9", "Run the newer holdfast.");
  await stage.pass(5 * MINUTE);
  expect(stage.said).toEqual(["no checkpoint was written: checkpoint.json has version 9. Run the newer holdfast."]);
  stage.answer = whole;
  await stage.pass(2 * MINUTE);
  expect(stage.written).toBe(1);
});

test("a full disk is reported once and retried on a timer, not in a loop", async () => {
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

test("S3 an error that is not a Fault is our bug: it is logged once, and the next one that is due is tried", async () => {
  const stage = new Stage();
  const { state } = stage;
  stage.state = async () => {
    throw new Error("a bug");
  };
  stage.start();
  await stage.pass(3 * MINUTE);
  expect(stage.said).toEqual(["no checkpoint was written: holdfast has a bug: Error: a bug"]);
  expect(stage.written).toBe(0);
  stage.state = state;
  await stage.pass(2 * MINUTE);
  expect(stage.written).toBe(1);
});

test("a clock set forward or back changes no interval", async () => {
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
