// A whole recovery with a simulated clock: what fails, what is given up, what is retried.
import { expect, test } from "bun:test";
import { Fault } from "../../src/base/fault.ts";
import type { RecoveryStage, ReportItem, WorkingStage } from "../../src/core/recovery.ts";
import { RecoveryRun, type StageWork } from "../../src/daemon/recovery-run.ts";
import { RecoveryStateMachine } from "../../src/daemon/recovery-state.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";

const NEVER = new Promise<never>(() => undefined);

class Site {
  readonly clock = new SimClock();
  readonly disk: SimDisk;
  readonly stages: RecoveryStage[] = [];
  readonly worked: WorkingStage[] = [];
  readonly reports: (readonly ReportItem[])[] = [];
  readonly said: string[] = [];
  readonly machine: RecoveryStateMachine;
  readonly run: RecoveryRun;

  constructor(changes: Partial<StageWork> = {}, disk = new SimDisk()) {
    this.disk = disk;
    const place = { disk, clock: this.clock, home: "/h", bootId: "boot" };
    this.machine = new RecoveryStateMachine(place, 3, ({ stage }) => void this.stages.push(stage));
    const stage =
      (name: WorkingStage): StageWork[WorkingStage] =>
      async (progress) => {
        this.worked.push(name);
        return changes[name]?.(progress) ?? [item(name)];
      };
    this.run = new RecoveryRun(this.machine, {
      work: {
        DETECTING: stage("DETECTING"),
        INVENTORYING: stage("INVENTORYING"),
        RESTORING: stage("RESTORING"),
        RECONCILING: stage("RECONCILING"),
      },
      clock: this.clock,
      timeoutMs: 30_000,
      report: async (items) => {
        expect(this.machine.getCurrentStage()).not.toBe("LIVE");
        this.reports.push([...items]);
      },
      say: (words) => void this.said.push(words),
    });
  }

  /** Moves the clock in small steps, so that everything that waits gets its turn. */
  async pass(ms: number): Promise<void> {
    await this.clock.settle();
    this.clock.advance(ms);
    await this.clock.settle();
  }
}

function item(name: string): ReportItem {
  return { what: "terminal", id: name, name, fate: "back as it was", reason: "", next: "" };
}

const ALL = ["DETECTING", "INVENTORYING", "RESTORING", "RECONCILING"] as const;

test("RS-1(a) a recovery goes through every stage, and is reported before it is LIVE", async () => {
  const site = new Site();
  expect(await site.run.run()).toEqual({ kind: "live", items: ALL.map(item) });
  expect(site.stages).toEqual([...ALL, "LIVE"]);
  expect(site.worked).toEqual([...ALL]);
  expect(site.reports).toEqual([ALL.map(item)]);
  expect(site.clock.pendingTimers).toBe(0);
});

test("RS-4(a) a resumed recovery inspects everything again, but passes through no stage twice", async () => {
  for (const [index, stage] of ALL.entries()) {
    const before = new Site();
    for (const each of ALL.slice(0, index + 1)) await before.machine.transition(each);
    const site = new Site({}, before.disk.processKill());
    site.machine.resume();
    expect(await site.run.run()).toEqual({ kind: "live", items: ALL.map(item) });
    expect(site.stages).toEqual([...ALL.slice(index + 1), "LIVE"]);
    expect(site.worked).toEqual([...ALL]);
    expect(site.worked).toContain(stage);
  }
});

test.each(["DETECTING", "INVENTORYING", "RESTORING", "RECONCILING"] as const)(
  "RS-6 %s without progress for 30 s fails, and not a moment before",
  async (stage) => {
    const site = new Site({ [stage]: () => NEVER });
    const outcome = site.run.run();
    for (const _ of ALL) await site.clock.settle();
    await site.pass(29_999);
    expect(site.machine.getCurrentStage()).toBe(stage);
    await site.pass(1);
    expect(await outcome).toEqual({ kind: "failed", stage, reason: `${stage} made no progress for 30 s` });
    expect(site.machine.getCurrentStage()).toEndWith("_FAILED");
    expect(site.reports).toEqual([]);
    expect(site.clock.pendingTimers).toBe(0);
  },
);

test("RS-6 progress restarts the 30 s every time", async () => {
  let progress: () => void = () => undefined;
  const done = Promise.withResolvers<readonly ReportItem[]>();
  const site = new Site({
    RESTORING: (heard) => {
      progress = heard;
      return done.promise;
    },
  });
  const outcome = site.run.run();
  for (let i = 0; i < 20; i += 1) {
    await site.pass(29_000);
    progress();
  }
  expect(site.machine.getCurrentStage()).toBe("RESTORING");
  done.resolve([]);
  expect((await outcome).kind).toBe("live");
  progress();
  expect(site.clock.pendingTimers).toBe(0); // Late progress leaves no timer behind.
});

test("RS-6 time in which the whole machine was stopped does not count", async () => {
  const done = Promise.withResolvers<readonly ReportItem[]>();
  const site = new Site({ RESTORING: () => done.promise });
  const outcome = site.run.run();
  await site.pass(20_000);
  site.clock.lag(3_600_000);
  await site.pass(1_000);
  expect(site.machine.getCurrentStage()).toBe("RESTORING");
  done.resolve([]);
  expect((await outcome).kind).toBe("live");
});

const REFUSED = new Fault({ code: "EMFILE", operation: "open", path: "/h/claim.json" });

test("RS-5(a) a fault that passes is waited for: the stage is tried again by itself", async () => {
  let failures = 2;
  const site = new Site({
    RESTORING: async () => {
      if (failures-- > 0) throw REFUSED;
      return [];
    },
  });
  const outcome = site.run.run();
  for (let at = 0; at < 2; at += 1) await site.pass(200);
  expect((await outcome).kind).toBe("live");
  expect(site.stages).toEqual([...ALL, "LIVE"]);
  expect(site.said).toEqual(Array(2).fill(`RESTORING failed and is tried again: ${REFUSED.message}`));
  expect(site.clock.pendingTimers).toBe(0);
});

test("RS-5(a) a fault that lasts fails its stage within ten seconds", async () => {
  const site = new Site({ RESTORING: () => Promise.reject(REFUSED) });
  const outcome = site.run.run();
  for (let ms = 0; ms < 10_000; ms += 100) await site.pass(100);
  expect(site.machine.getCurrentStage()).toBe("RESTORATION_FAILED");
  expect(await outcome).toEqual({ kind: "failed", stage: "RESTORING", reason: REFUSED.message });
  expect(site.clock.pendingTimers).toBe(0);
});

test("RS-5(a) a stage that throws fails with its reason; a retry returns to that stage only", async () => {
  let failures = 1;
  const site = new Site({
    RESTORING: async () => {
      if (failures-- > 0) throw new Error("the socket is gone");
      return [];
    },
  });
  expect(await site.run.run()).toEqual({ kind: "failed", stage: "RESTORING", reason: "the socket is gone" });
  expect(site.machine.lastError).toBe("the socket is gone");
  expect(await site.run.retry()).toMatchObject({ ok: true, value: { kind: "live" } });
  expect(site.stages.slice(2)).toEqual(["RESTORING", "RESTORATION_FAILED", "RESTORING", "RECONCILING", "LIVE"]);
  expect(site.worked).toEqual(["DETECTING", "INVENTORYING", "RESTORING", "RESTORING", "RECONCILING"]);
});

test("RS-5(b) after three attempts a retry is refused, with a next step", async () => {
  const site = new Site({ DETECTING: () => Promise.reject(new Error("no")) });
  expect((await site.run.run()).kind).toBe("failed");
  for (const _ of [2, 3]) expect(await site.run.retry()).toMatchObject({ ok: true, value: { kind: "failed" } });
  const refused = await site.run.retry();
  expect(refused).toMatchObject({ ok: false, error: { code: "recovery.attempts" } });
  expect(site.worked.length).toBe(3);
});

test("RS-5(a) a stage that failed before the crash waits for the operator, and is not reported live", async () => {
  const before = new Site({ INVENTORYING: () => Promise.reject(new Error("why")) });
  await before.run.run();
  const site = new Site({}, before.disk.processKill());
  site.machine.resume();
  expect(await site.run.run()).toEqual({ kind: "failed", stage: "INVENTORYING", reason: "why" });
  expect(site.worked).toEqual([]);
  expect(await site.run.retry()).toMatchObject({ ok: true, value: { kind: "live" } });
  expect(site.worked).toEqual([...ALL]);
});

test("a retry without a failure changes nothing", async () => {
  const site = new Site();
  await site.run.run();
  expect(await site.run.retry()).toMatchObject({ ok: true, value: { kind: "live" } });
  expect(site.worked).toEqual([...ALL]);
});

test("Y4 a recovery that failed before the daemon started only inspects; RESTORING waits for the operator, and nothing is inspected twice", async () => {
  const before = new Site({ RESTORING: async () => Promise.reject(new Error("no")) });
  expect(await before.run.run()).toMatchObject({ kind: "failed", stage: "RESTORING" });
  const site = new Site({}, before.disk.processKill());
  site.machine.resume();
  expect(await site.run.run()).toEqual({ kind: "failed", stage: "RESTORING", reason: "no" });
  expect(site.worked).toEqual(["DETECTING", "INVENTORYING"]);
  expect(site.machine.getCurrentStage()).toBe("RESTORATION_FAILED");
  expect(await site.run.retry()).toEqual({ ok: true, value: { kind: "live", items: ALL.map(item) } });
  expect(site.worked).toEqual([...ALL]);
});

test("RS-5(a) Y5 a stage that took long before it failed is tried again as well", async () => {
  const slow = Promise.withResolvers<void>();
  let failures = 1;
  const site = new Site({
    RESTORING: async () => {
      if (failures-- <= 0) return [];
      await slow.promise;
      throw REFUSED;
    },
  });
  const outcome = site.run.run();
  await site.pass(20_000);
  slow.resolve();
  await site.pass(200);
  expect((await outcome).kind).toBe("live");
  expect(site.said).toEqual([`RESTORING failed and is tried again: ${REFUSED.message}`]);
});
