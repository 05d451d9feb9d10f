// The progress of a recovery: persisted before it is published, resumed within a boot, never stopped by the disk.
import { expect, test } from "bun:test";
import { type RecoveryStage, recoveryMachine } from "../../src/core/recovery.ts";
import { RecoveryStateMachine, type StageChange } from "../../src/daemon/recovery-state.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { everyCrash } from "../sim/every-crash.ts";
import { nothing } from "../sim/survive.ts";

const HOME = "/h";
const PATH = `${HOME}/recovery/recovery-state.json`;
const WAY: readonly RecoveryStage[] = ["DETECTING", "INVENTORYING", "RESTORING", "RECONCILING", "LIVE"];

function stateMachine(disk: SimDisk, bootId = "boot-1", publish: (change: StageChange) => void = () => undefined) {
  return new RecoveryStateMachine({ disk, clock: new SimClock(), home: HOME, bootId }, 3, publish);
}

function onDisk(disk: SimDisk): Readonly<Record<string, unknown>> {
  return JSON.parse(new TextDecoder().decode(disk.peek(PATH))) as Record<string, unknown>;
}

async function go(machine: RecoveryStateMachine, ...stages: readonly RecoveryStage[]): Promise<void> {
  for (const stage of stages) expect(await machine.transition(stage)).toEqual({ ok: true, value: stage });
}

test("RS-3(a,b) each stage is durable before it is published, with previous, new, time and attempt", async () => {
  const disk = new SimDisk();
  const changes: StageChange[] = [];
  const machine = stateMachine(disk, "boot-1", (change) => {
    changes.push(change);
    expect(onDisk(disk.powerCut(nothing))).toMatchObject({ stage: change.stage, attemptCount: 1, bootId: "boot-1" });
  });
  await go(machine, ...WAY);
  const timestamp = "2026-01-01T00:00:00.000Z";
  const previous: readonly RecoveryStage[] = ["CRASHED", ...WAY];
  expect(changes).toEqual(
    WAY.map((stage, n) => ({ previous: previous[n] ?? "LIVE", stage, timestamp, attemptCount: 1 })),
  );
  expect(onDisk(disk)).toEqual({ stage: "LIVE", timestamp, attemptCount: 1, lastError: null, bootId: "boot-1" });
});

test("RS-2(b) an illegal transition is refused with both stages and the legal ones; nothing is written or published", async () => {
  for (const from of ["CRASHED", ...WAY] satisfies RecoveryStage[]) {
    const disk = new SimDisk();
    const machine = stateMachine(disk);
    const there = WAY.indexOf(from);
    await go(machine, ...WAY.slice(0, there + 1));
    const calls = disk.calls;
    for (const to of recoveryMachine.states.filter((stage) => recoveryMachine.table[from][stage] === undefined)) {
      const refused = await machine.transition(to);
      expect(refused.ok).toBe(false);
      if (!refused.ok) {
        expect(refused.error.message).toContain(`"${to}" is illegal in ${from}`);
        expect(refused.error.hint).toContain(`Legal in ${from}:`);
      }
    }
    expect({ stage: machine.getCurrentStage(), calls: disk.calls }).toEqual({ stage: from, calls });
  }
});

test("RS-4(a,b) a crash at any moment resumes at the last persisted stage, within the boot", async () => {
  const survived = await everyCrash<number>({
    start: new SimDisk(),
    nothingPromised: 0,
    live: async (disk, promised) => {
      const machine = stateMachine(disk);
      for (const [n, stage] of WAY.slice(0, -1).entries()) {
        await machine.transition(stage);
        promised(n + 1);
      }
    },
    check: async (disk, memory) => {
      const stages: readonly RecoveryStage[] = ["CRASHED", ...WAY];
      const resumed = stateMachine(disk).resume();
      expect(stages.slice(memory, memory + 2)).toContain(resumed); // What was promised, or what was about to be.
      expect(stateMachine(disk, "boot-2").resume()).toBe("CRASHED");
      const again = stateMachine(disk);
      again.resume();
      await go(again, ...WAY.slice(WAY.indexOf(resumed) + 1)); // A second life.
      expect(onDisk(disk)).toMatchObject({ stage: "LIVE" });
    },
  });
  expect(survived).toBeGreaterThan(100);
});

test("RS-2(a) LIVE is not a recovery stage: the next start begins from the start", async () => {
  const disk = new SimDisk();
  await go(stateMachine(disk), ...WAY);
  expect(stateMachine(disk).resume()).toBe("CRASHED");
});

test("RS-4(c) crashes are not attempts: however often it is resumed, the count stays", async () => {
  const disk = new SimDisk();
  await go(stateMachine(disk), "DETECTING");
  for (let crash = 0; crash < 10; crash += 1) {
    const machine = stateMachine(disk.processKill());
    expect([machine.resume(), machine.attemptCount]).toEqual(["DETECTING", 1]);
  }
});

test("RS-5(b) three attempts per stage and no more, even if the daemon crashes in between", async () => {
  const disk = new SimDisk();
  let machine = stateMachine(disk);
  await go(machine, "DETECTING", "INVENTORYING", "RESTORING");
  for (const attempt of [1, 2, 3]) {
    expect(machine.attemptCount).toBe(attempt);
    await machine.transition("RESTORATION_FAILED", `why ${attempt}`);
    expect(onDisk(disk)).toMatchObject({
      stage: "RESTORATION_FAILED",
      attemptCount: attempt,
      lastError: `why ${attempt}`,
    });
    machine = stateMachine(disk);
    expect([machine.resume(), machine.attemptCount, machine.lastError]).toEqual([
      "RESTORATION_FAILED",
      attempt,
      `why ${attempt}`,
    ]);
    if (attempt < 3) await go(machine, "RESTORING");
  }
  expect(await machine.transition("RESTORING")).toMatchObject({
    ok: false,
    error: { code: "recovery.attempts", message: "RESTORING was tried 3 times." },
  });
  expect(machine.getCurrentStage()).toBe("RESTORATION_FAILED");
});

test("RS-5(b) the next stage begins at its first attempt", async () => {
  const machine = stateMachine(new SimDisk());
  await go(machine, "DETECTING", "DETECTION_FAILED", "DETECTING");
  expect(machine.attemptCount).toBe(2);
  await go(machine, "INVENTORYING");
  expect(machine.attemptCount).toBe(1);
});

test("RS-2(a) reset: the next start begins from the start, with all its attempts", async () => {
  const disk = new SimDisk();
  const machine = stateMachine(disk);
  await go(machine, "DETECTING", "DETECTION_FAILED", "DETECTING", "DETECTION_FAILED");
  await machine.reset();
  const next = stateMachine(disk.powerCut(nothing));
  expect([next.resume(), next.attemptCount, next.lastError]).toEqual(["CRASHED", 1, null]);
});

test.each(["ENOSPC", "EIO", "EROFS", "EMFILE"])(
  "RS-3(b) a disk that fails with %s from any call on does not stop a recovery",
  async (code) => {
    let count = 1;
    for (let index = 1; index <= count; index += 1) {
      const disk = new SimDisk();
      disk.fault = (call) => (call.index >= index ? { kind: "fail", code } : undefined);
      const published: string[] = [];
      const machine = stateMachine(disk, "boot-1", ({ stage }) => void published.push(stage));
      machine.resume();
      await go(machine, ...WAY);
      expect(published).toEqual([...WAY]);
      count = Math.max(count, Math.min(disk.calls, 60));
    }
  },
);

test.each(["", "{", "[]", '{"stage":"NOWHERE","attemptCount":1,"bootId":"boot-1"}', '{"stage":"LIVE"}'])(
  "RS-2(a) a file with the content %j is ignored",
  (text) => {
    const disk = new SimDisk();
    disk.plant(PATH, Buffer.from(text));
    expect(stateMachine(disk).resume()).toBe("CRASHED");
  },
);
