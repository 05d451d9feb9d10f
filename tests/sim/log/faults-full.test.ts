// A full disk: new work is refused with a hint, everything before is kept, nothing refused ever appears, and with room
// it works again.
import { describe, expect, test } from "bun:test";
import { Fault } from "../../../src/base/fault.ts";
import { LogView } from "../../../src/log/inspect.ts";
import { SimDisk } from "../disk.ts";
import type { Call, FaultChoice } from "../faults.ts";
import { amount, sampleOf } from "../fuzz/profile.ts";
import { SimRandom } from "../random.ts";
import { nothing, randomSurvivor, survivors } from "../survive.ts";
import { AWAIT, append, DRAIN, filesOf, homeAfter, IDLE, MID_LIFE } from "./damage-home.ts";
import { HOME, Life, type Memory, SMALL } from "./life.ts";
import { ensure } from "./oracle.ts";

const NOBODY: Memory = { issued: [], acknowledged: 0 };
const ENTRY = { session: "agents/0001", ts: "", event: "asked", data: null };
const WITH_BALLAST = { ...SMALL, ballastBytes: 4096 };

/** What was refused will never be there: from here on the oracle takes it for a broken promise. */
function forgetRefused({ memory }: Life): void {
  memory.issued.length = memory.acknowledged;
}

async function turns(life: Life, count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await life.clock.settle();
}

/** Appends until the disk is full; returns false if it never is. */
async function fill(life: Life): Promise<boolean> {
  for (let i = 0; i < 60; i += 1) {
    const taken = life.append([i % 4, 5], 90);
    await turns(life);
    if (!taken || life.memory.acknowledged < life.memory.issued.length) {
      forgetRefused(life);
      return true;
    }
    if (i % 7 === 6) await life.step(IDLE);
  }
  return false;
}

function expectBlocked(life: Life): void {
  const answer = life.log.append([ENTRY]);
  ensure(!answer.ok && answer.error.code === "log.blocked", `it is blocked, but says ${JSON.stringify(answer)}`);
  ensure(answer.error.hint.includes("full"), `the hint says what to do, not ${answer.error.hint}`);
}

/** The next start with room: everything promised is there, and it writes. */
async function liveAgain(disk: SimDisk, memory: Memory): Promise<void> {
  disk.capacity = Number.POSITIVE_INFINITY;
  const life = await Life.begin(disk, memory);
  await life.perform([append([1, 2], 40), AWAIT, DRAIN]);
  ensure(life.memory.acknowledged === life.memory.issued.length, "the second life can write");
  await Life.begin(disk.powerCut(nothing), life.memory);
}

/** What is left after it, whichever way the process ends. */
async function surviveAnyEnd(disk: SimDisk, memory: Memory, random: SimRandom): Promise<void> {
  await liveAgain(disk.processKill(), memory);
  await liveAgain(disk.powerCut(nothing), memory);
  for (let i = 0; i < 3; i += 1) await liveAgain(disk.powerCut(randomSurvivor(random)), memory);
}

async function openOn(disk: SimDisk, memory: Memory, options = SMALL): Promise<Life | Fault> {
  try {
    return await Life.begin(disk, memory, options);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

describe("a disk of limited size", () => {
  test("of sampled sizes: what was acknowledged is kept, what was refused never comes back, and with room it continues by itself", async () => {
    const random = new SimRandom(7);
    const sizes = Array.from({ length: 132 }, (_, at) => 2100 + 83 * at);
    let blocked = 0;
    for (const capacity of sampleOf(sizes, 4)) {
      const disk = new SimDisk();
      disk.capacity = capacity;
      const life = await openOn(disk, NOBODY);
      if (life instanceof Fault) {
        expect([life.code, life.hint.includes("full")]).toEqual(["ENOSPC", true]);
        await liveAgain(disk, NOBODY);
        continue;
      }
      if (!(await fill(life))) continue;
      blocked += 1;
      expectBlocked(life);
      expect(disk.fired.some(({ choice }) => choice.kind === "fail" && choice.code === "ENOSPC")).toBe(true);
      await surviveAnyEnd(disk, life.memory, random);
      disk.capacity += 16_384;
      life.clock.advance(1000);
      await turns(life);
      await life.perform([append([1, 6], 90), AWAIT, DRAIN]);
      expect([capacity, life.memory.acknowledged]).toEqual([capacity, life.memory.issued.length]);
      await surviveAnyEnd(disk, life.memory, random);
    }
    expect(blocked).toBeGreaterThan(amount(12, 50));
  });

  test("trying again and again uses up neither descriptors nor room", async () => {
    for (let capacity = 4200; capacity < 12_000; capacity += 400) {
      const disk = new SimDisk();
      disk.capacity = capacity;
      const life = await openOn(disk, NOBODY);
      if (life instanceof Fault || !(await fill(life))) continue;
      const before = { capacity, open: disk.openCount, unused: disk.unused() };
      for (let again = 0; again < 10; again += 1) {
        life.clock.advance(1000);
        if (life.append([1], 90)) await turns(life);
        forgetRefused(life);
      }
      expect({ capacity, open: disk.openCount, unused: disk.unused() }).toEqual(before);
    }
  });

  test("room that a failed attempt took is given back: the disk is not fuller than its files", async () => {
    for (let capacity = 4200; capacity < 12_000; capacity += 400) {
      const disk = new SimDisk();
      disk.capacity = capacity;
      const life = await openOn(disk, NOBODY);
      if (life instanceof Fault || !(await fill(life))) continue;
      const named = Object.values(filesOf(disk)).reduce((sum, hex) => sum + hex.length / 2, 0);
      expect([capacity, disk.capacity - disk.unused()]).toEqual([capacity, named]);
    }
  });
});

/** Every write to a file like `part` takes `bytes` more, then the disk is full; `heal` makes room. */
function fullIn(disk: SimDisk, part: string, bytes: number): { heal(): void } {
  let left = bytes;
  disk.fault = ({ operation, path, length }: Call): FaultChoice | undefined => {
    if (operation !== "write" || !path.includes(part) || length === 0) return undefined;
    const taken = Math.min(left, length);
    left -= taken;
    if (taken === length) return undefined;
    return taken > 0 ? { kind: "short", bytes: taken } : { kind: "fail", code: "ENOSPC" };
  };
  return {
    heal: () => {
      disk.fault = undefined;
    },
  };
}

/** The segment is full after `bytes` bytes of the batch; wiping succeeds, as it does if the bytes are allocated. */
function fullInBatch(disk: SimDisk, bytes: number): void {
  let calls = 0;
  disk.fault = ({ operation, path, length }: Call): FaultChoice | undefined => {
    if (operation !== "write" || !path.endsWith(".wal")) return undefined;
    calls += 1;
    if (calls === 1 && bytes > 0) return { kind: "short", bytes: Math.min(bytes, length - 1) };
    return calls === (bytes > 0 ? 2 : 1) ? { kind: "fail", code: "ENOSPC" } : undefined;
  };
}

describe("ENOSPC in the middle of a line", () => {
  test("of a session's log, at every seventh byte: the log is blocked, the write-ahead log has the rest, nothing is lost or doubled", async () => {
    for (let bytes = 0; bytes < 300; bytes += 7) {
      const life = await Life.begin(new SimDisk(), NOBODY);
      await life.perform([append([1, 2], 30), append([1], 20), AWAIT, DRAIN, append([1, 2], 50), AWAIT]);
      const { heal } = fullIn(life.disk, "events.jsonl", bytes);
      await life.step(IDLE);
      expect(life.disk.fired.length).toBeGreaterThan(0);
      expectBlocked(life);
      expect(new LogView(life.disk, HOME).inspect().findings.filter(({ kind }) => kind === "damage")).toEqual([]);
      await surviveAnyEnd(life.disk, life.memory, new SimRandom(bytes));
      heal();
      life.clock.advance(1000);
      await turns(life);
      await life.perform([append([2], 10), AWAIT, DRAIN]);
      await surviveAnyEnd(life.disk, life.memory, new SimRandom(bytes));
    }
  });

  test("EL-2 of a batch, at every ninth byte: the batch is refused as a whole, wiped, and never comes back", async () => {
    for (let bytes = 0; bytes < 520; bytes += 9) {
      const life = await Life.begin(new SimDisk(), NOBODY);
      await life.perform([append([1, 2], 30), AWAIT]);
      fullInBatch(life.disk, bytes);
      life.append([1, 3], 40);
      life.append([2], 60);
      const answer = life.log.append([ENTRY]);
      await turns(life);
      expect(life.disk.fired.length).toBeGreaterThan(0);
      expect(life.memory.acknowledged).toBe(1);
      forgetRefused(life);
      expectBlocked(life);
      ensure(answer.ok, "it was taken before the disk was full");
      await expect(answer.value.durable).rejects.toMatchObject({ code: "ENOSPC" });
      for (const choose of survivors(life.disk.pending(), 4)) await liveAgain(life.disk.powerCut(choose), life.memory);
      await surviveAnyEnd(life.disk, life.memory, new SimRandom(bytes));
      life.disk.fault = undefined;
      life.clock.advance(1000);
      await life.perform([append([3], 10), append([1], 70), AWAIT]);
      expect(life.log.durable).toBe(4);
      await surviveAnyEnd(life.disk, life.memory, new SimRandom(bytes));
    }
  });
});

describe("recovery on a full disk", () => {
  test("gives up the ballast and comes up with everything", async () => {
    const life = await Life.begin(new SimDisk(), NOBODY, WITH_BALLAST);
    await life.perform(MID_LIFE);
    const disk = life.disk.processKill();
    expect(disk.peek(`${HOME}/ballast`)?.length).toBe(4096);
    disk.capacity = disk.tree.used([]);
    const second = await Life.begin(disk, life.memory, WITH_BALLAST);
    expect(disk.fired.length).toBeGreaterThan(0);
    expect(disk.peek(`${HOME}/ballast`)).toBeUndefined();
    await second.perform([append([1], 10), AWAIT]);
    expect(second.memory.acknowledged).toBe(second.memory.issued.length);
    await Life.begin(disk.powerCut(nothing), second.memory, WITH_BALLAST);
    disk.capacity = Number.POSITIVE_INFINITY;
    await Life.begin(disk.processKill(), second.memory, WITH_BALLAST);
  });

  test("and without ballast fails with a hint, destroys nothing, and comes up once there is room", async () => {
    const { disk, memory } = await homeAfter(MID_LIFE);
    const used = disk.tree.used([]);
    let refused = 0;
    for (let room = 0; room < 3000; room += 50) {
      const full = disk.fork();
      full.capacity = used + room;
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const answer = await openOn(full.processKill(), memory);
        if (!(answer instanceof Fault)) continue;
        refused += 1;
        expect([answer.code, answer.hint.includes("full")]).toEqual(["ENOSPC", true]);
        full.capacity = used + room;
      }
      const later = full.fork();
      const first = await openOn(later, memory);
      if (first instanceof Fault) await surviveAnyEnd(later, memory, new SimRandom(room));
    }
    expect(refused).toBeGreaterThan(10);
  });

  test("repeated failures do not fill the disk with unfinished files", async () => {
    const { disk, memory } = await homeAfter([...MID_LIFE, append([1], 300), append([2], 300), AWAIT]);
    for (let room = 0; room < 1500; room += 50) {
      const full = disk.fork();
      full.capacity = disk.tree.used([]) + room;
      const found: number[] = [];
      for (let attempt = 0; attempt < 5; attempt += 1) {
        if (!((await openOn(full, memory)) instanceof Fault)) break;
        found.push(Object.keys(filesOf(full)).length);
      }
      expect([room, found.at(-1) ?? 0]).toEqual([room, found[0] ?? 0]);
    }
  });
});
