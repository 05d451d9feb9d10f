// The daemon's clock: what waits, waits as long as before if the wall clock is set, within one life and between two.
import { expect, test } from "bun:test";
import { Fault } from "../../src/base/fault.ts";
import { Timekeeper } from "../../src/daemon/timekeeper.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { SimProcesses } from "../sim/processes.ts";

const DAY = 86_400_000;
const MINUTE = 60_000;

class Site {
  readonly clock = new SimClock();
  readonly disk = new SimDisk();
  readonly processes = new SimProcesses();
  readonly waits: string[] = [];
  readonly said: string[] = [];
  changed = 0;
  times = this.#life();

  #life(): Timekeeper {
    const { disk, clock, processes } = this;
    return new Timekeeper(
      { disk, clock, processes, home: "/h" },
      {
        waits: () => this.waits,
        changed: () => {
          this.changed += 1;
        },
        say: (words) => void this.said.push(words),
      },
    );
  }

  /** The next daemon of this home. */
  async restart(): Promise<void> {
    this.times = this.#life();
    await this.times.begin();
    await this.times.tend();
  }

  /** A time that is waited for from now on. */
  wait(ms: number): string {
    const due = new Date(this.times.now() + ms).toISOString();
    this.waits.push(due);
    return due;
  }
}

async function newSite(): Promise<Site> {
  const site = new Site();
  await site.restart();
  return site;
}

test.each([DAY, -DAY])(
  "TK1 a clock that is set by %d ms moves what waits, and nothing that is decided later",
  async (ms) => {
    const site = await newSite();
    const before = site.wait(10 * MINUTE);
    site.clock.advance(MINUTE);
    site.clock.jump(ms);
    const after = site.wait(10 * MINUTE);
    expect([site.times.left(before), site.times.left(after), site.changed]).toEqual([9 * MINUTE, 10 * MINUTE, 1]);
    site.clock.jump(-ms);
    expect([site.times.left(before), site.times.left(after)]).toEqual([9 * MINUTE, 10 * MINUTE]);
    site.clock.advance(9 * MINUTE);
    expect([site.times.left(before), site.times.left(after)]).toEqual([0, MINUTE]);
  },
);

test("TK2 time asleep counts, and the timers are set again", async () => {
  const site = await newSite();
  const due = site.wait(10 * MINUTE);
  site.clock.sleep(4 * MINUTE);
  expect([site.times.left(due), site.changed, site.said]).toEqual([6 * MINUTE, 1, []]);
  site.clock.sleep(MINUTE);
  site.clock.jump(-DAY);
  expect([site.times.left(due), site.changed, site.said.length]).toEqual([5 * MINUTE, 2, 1]);
});

test.each([DAY, -DAY])(
  "TK3 a clock that is set by %d ms between two lives in one boot moves what waits",
  async (ms) => {
    const site = await newSite();
    const first = site.wait(10 * MINUTE);
    site.clock.jump(-ms);
    const second = site.wait(10 * MINUTE);
    await site.times.tend();
    site.clock.jump(ms / 2);
    await site.restart();
    expect([site.times.left(first), site.times.left(second)]).toEqual([10 * MINUTE, 10 * MINUTE]);
    await site.restart();
    expect([site.times.left(first), site.times.left(second)]).toEqual([10 * MINUTE, 10 * MINUTE]);
  },
);

test("TK3 after a reboot the wall clock counts, and what was moved before stays moved", async () => {
  const site = await newSite();
  const moved = site.wait(10 * MINUTE);
  site.clock.jump(DAY);
  const due = site.wait(10 * MINUTE);
  await site.times.tend();
  site.processes.reboot();
  site.clock.jump(MINUTE);
  await site.restart();
  expect([site.times.left(moved), site.times.left(due)]).toEqual([9 * MINUTE, 9 * MINUTE]);
});

test("TK3 a clock that is behind after a reboot, and is set right later, moves what waits with it", async () => {
  const site = await newSite();
  const due = site.wait(10 * MINUTE);
  await site.times.tend();
  site.processes.reboot();
  site.clock.jump(-400 * DAY);
  await site.restart();
  expect([site.times.left(due), site.said.length]).toEqual([10 * MINUTE, 1]);
  await site.restart();
  site.clock.advance(MINUTE);
  expect(site.times.left(due)).toBe(9 * MINUTE);
  site.clock.jump(400 * DAY);
  expect(site.times.left(due)).toBe(9 * MINUTE);
});

test("TK5 the time is written once a minute while something is decided, and otherwise not", async () => {
  const site = await newSite();
  const onDisk = () => String(site.disk.peek("/h/recovery/clock.json"));
  let [text, writes] = [onDisk(), 0];
  const tend = async (minutes: number, isBusy: boolean) => {
    const before = writes;
    for (let at = 0; at < 30 * minutes; at += 1) {
      site.clock.advance(MINUTE / 30);
      if (isBusy) site.times.now();
      await site.times.tend();
      writes += Number(onDisk() !== text);
      text = onDisk();
    }
    return writes - before;
  };
  expect([await tend(10, true), await tend(10, false), await tend(10, true)]).toEqual([10, 0, 10]);
});

test("TK4 a clock that cannot be read is reported once, and a jump is noticed as soon as it can", async () => {
  const site = await newSite();
  const due = site.wait(10 * MINUTE);
  const { sinceBoot } = site.clock;
  site.clock.sinceBoot = () => {
    throw new Fault({ code: "EMFILE", operation: "sinceBoot", path: "/proc/uptime" });
  };
  site.clock.jump(-DAY);
  expect([site.times.left(due), site.times.left(due), site.said.length]).toEqual([
    DAY + 10 * MINUTE,
    DAY + 10 * MINUTE,
    1,
  ]);
  site.clock.sinceBoot = sinceBoot;
  expect(site.times.left(due)).toBe(10 * MINUTE);
});

test("a correction of less than a second is not reported, and many of them are", async () => {
  const site = await newSite();
  const due = site.wait(10 * MINUTE);
  site.clock.jump(600);
  expect([site.times.left(due), site.said]).toEqual([10 * MINUTE - 600, []]);
  site.clock.jump(600);
  expect([site.times.left(due), site.said.length]).toEqual([10 * MINUTE, 1]);
});
