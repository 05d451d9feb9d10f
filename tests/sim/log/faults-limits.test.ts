// Limits that pass: too many open files, a file system that became read-only, and more entries than the disk keeps up
// with.
import { describe, expect, test } from "bun:test";
import { SimDisk } from "../disk.ts";
import type { Call, FaultChoice } from "../faults.ts";
import { nothing } from "../survive.ts";
import { AWAIT, append, DRAIN, filesOf, homeAfter, IDLE, MID_LIFE } from "./damage-home.ts";
import { Life, type Memory, SMALL } from "./life.ts";
import { ensure } from "./oracle.ts";

const NOBODY: Memory = { issued: [], acknowledged: 0 };
const ENTRY = { session: "agents/0001", ts: "", event: "asked", data: null };

function refusalOf(life: Life): { code: string; hint: string } {
  const answer = life.log.append([ENTRY]);
  ensure(!answer.ok, "it is refused");
  return { code: answer.error.code, hint: answer.error.hint };
}

function fillQueue(life: Life): void {
  for (let taken = true; taken; ) taken = life.append([1], 200);
}

async function turns(life: Life, count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await life.clock.settle();
}

async function liveAgain(disk: SimDisk, memory: Memory): Promise<void> {
  const life = await Life.begin(disk, memory);
  await life.perform([append([1, 2], 40), AWAIT, DRAIN]);
  ensure(life.memory.acknowledged === life.memory.issued.length, "the second life can write");
  await Life.begin(disk.powerCut(nothing), life.memory);
}

/** The `n`th open of a file like `part`, and every later one, finds no descriptor left, or fails otherwise. */
function noDescriptors(part: string, n = 1, code = "EMFILE"): (call: Call) => FaultChoice | undefined {
  let opens = 0;
  return ({ operation, path }) => {
    if (operation !== "open" || !path.includes(part)) return undefined;
    opens += 1;
    return opens >= n ? { kind: "fail", code } : undefined;
  };
}

describe("too many open files (EMFILE)", () => {
  test("while session logs are drained: blocked with a hint, nothing is lost, and it continues by itself", async () => {
    for (let n = 1; n <= 4; n += 1) {
      const life = await Life.begin(new SimDisk(), NOBODY);
      await life.perform([append([1, 2, 3, 4], 30), append([2], 5), AWAIT]);
      life.disk.fault = noDescriptors("events.jsonl", n);
      await life.step(IDLE);
      expect(life.disk.fired.length).toBe(1);
      const { code, hint } = refusalOf(life);
      expect([code, hint.includes("ulimit")]).toEqual(["log.blocked", true]);
      await liveAgain(life.disk.processKill(), life.memory);
      await liveAgain(life.disk.powerCut(nothing), life.memory);
      life.disk.fault = undefined;
      life.clock.advance(1000);
      await turns(life);
      await life.perform([append([1], 5), AWAIT, DRAIN]);
      expect([n, life.memory.acknowledged]).toEqual([n, 3]);
      await liveAgain(life.disk.powerCut(nothing), life.memory);
    }
  });

  test("when a new segment is needed: the log continues with those it has", async () => {
    const life = await Life.begin(new SimDisk(), NOBODY);
    life.disk.fault = noDescriptors(".wal");
    for (let i = 0; i < 20; i += 1) await life.perform([append([i % 3], 330), AWAIT]);
    expect(life.disk.fired.length).toBeGreaterThan(0);
    expect(life.memory.acknowledged).toBe(20);
    life.disk.fault = undefined;
    await liveAgain(life.disk.powerCut(nothing), life.memory);
  });

  test("at the start, at any open: a Fault with a hint, and the next start has everything", async () => {
    const { disk, memory } = await homeAfter(MID_LIFE);
    for (let n = 1; n < 200; n += 1) {
      const short = disk.fork();
      short.fault = noDescriptors("/", n);
      const failure = await Life.begin(short, memory).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (short.fired.length === 0) {
        expect(n).toBeGreaterThan(10);
        return;
      }
      expect(failure).toMatchObject({ name: "Fault", code: "EMFILE", hint: expect.stringContaining("ulimit") });
      await liveAgain(short.processKill(), memory);
      await liveAgain(short.powerCut(nothing), memory);
    }
    expect.unreachable("there are fewer opens than that");
  });
});

describe("a read-only file system (EROFS)", () => {
  test("when a new segment is needed: the log continues with those it has", async () => {
    const life = await Life.begin(new SimDisk(), NOBODY);
    const refused = noDescriptors(".wal", 1, "EROFS");
    life.disk.fault = (call) =>
      call.operation === "unlink" && call.path.includes(".wal") ? { kind: "fail", code: "EROFS" } : refused(call);
    for (let i = 0; i < 20; i += 1) await life.perform([append([i % 3], 330), AWAIT]);
    expect(life.disk.fired.length).toBeGreaterThan(0);
    expect(life.memory.acknowledged).toBe(20);
    life.disk.fault = undefined;
    await liveAgain(life.disk.powerCut(nothing), life.memory);
  });

  test("while running: refused with a hint, nothing acknowledged is lost, nothing refused appears", async () => {
    const life = await Life.begin(new SimDisk(), NOBODY);
    await life.perform([append([1, 2], 30), AWAIT]);
    life.disk.readOnly = true;
    const answer = life.log.append([ENTRY]);
    ensure(answer.ok, "it is taken, since nobody knows yet");
    await expect(answer.value.durable).rejects.toMatchObject({ code: "EROFS" });
    expect(life.disk.fired.length).toBeGreaterThan(0);
    expect(refusalOf(life).hint).not.toBe("");
    for (const disk of [life.disk.processKill(), life.disk.powerCut(nothing)]) {
      disk.readOnly = false;
      await liveAgain(disk, life.memory);
    }
  });

  test("while running, with entries that only wait for their session's log: they are there when it can be written again", async () => {
    const life = await Life.begin(new SimDisk(), NOBODY);
    await life.perform([append([1, 2], 30), AWAIT]);
    life.disk.readOnly = true;
    await life.step(IDLE);
    expect(refusalOf(life)).toMatchObject({ code: "log.blocked", hint: expect.stringContaining("read-only") });
    life.disk.readOnly = false;
    life.clock.advance(1000);
    await turns(life);
    await life.perform([append([1], 10), AWAIT, DRAIN]);
    expect(life.memory.acknowledged).toBe(2);
    await liveAgain(life.disk.powerCut(nothing), life.memory);
  });

  test("at the start: a Fault with a hint, and not one byte is changed", async () => {
    const { disk, memory } = await homeAfter(MID_LIFE);
    const before = filesOf(disk);
    disk.readOnly = true;
    await expect(Life.begin(disk, memory)).rejects.toMatchObject({
      code: "EROFS",
      hint: expect.stringContaining("read-only"),
    });
    expect(filesOf(disk)).toEqual(before);
    disk.readOnly = false;
    await liveAgain(disk, memory);
  });
});

describe("more than the disk keeps up with", () => {
  test("`append` refuses with log.busy at the limit, `room` resolves when to come back, and everything accepted is there", async () => {
    const life = await Life.begin(new SimDisk(), NOBODY);
    let most = 0;
    for (let round = 0; round < 10; round += 1) {
      let taken = 0;
      while (life.append([taken % 3], 100)) taken += 1;
      most = Math.max(most, taken);
      expect(refusalOf(life)).toMatchObject({ code: "log.busy", hint: expect.stringContaining("room()") });
      await life.log.room();
      expect(life.append([1], 5)).toBe(true);
    }
    expect(most).toBeLessThan(2 + SMALL.maxQueuedBytes / 100);
    await life.settled();
    expect(life.memory.acknowledged).toBe(life.memory.issued.length);
    await liveAgain(life.disk.powerCut(nothing), life.memory);
  });

  test("a waiter for room is woken when the log stops, and learns why nothing is accepted", async () => {
    const life = await Life.begin(new SimDisk(), NOBODY);
    fillQueue(life);
    life.disk.fault = ({ operation }) => (operation === "datasyncBlocking" ? { kind: "fail", code: "EIO" } : undefined);
    await life.log.room();
    expect(refusalOf(life).code).toBe("log.stopped");
    await life.log.room();
    life.disk.fault = undefined;
    await liveAgain(life.disk.processKill(), life.memory);
  });

  test("a waiter for room is woken when the disk is full, and may come back", async () => {
    const life = await Life.begin(new SimDisk(), NOBODY);
    fillQueue(life);
    life.disk.fault = ({ operation, length }) => {
      const batch = operation === "write" && length < SMALL.segmentBytes; // Not the zeros of a new segment.
      return batch && life.disk.fired.length === 0 ? { kind: "fail", code: "ENOSPC" } : undefined;
    };
    await life.log.room();
    expect(refusalOf(life).code).toBe("log.blocked");
    life.memory.issued.length = life.memory.acknowledged;
    life.clock.advance(1000);
    await life.perform([append([1], 10), AWAIT]);
    expect(life.memory.acknowledged).toBe(1);
    await liveAgain(life.disk.powerCut(nothing), life.memory);
  });

  test("a caller that asks for room after the log has stopped does not wait forever", async () => {
    const life = await Life.begin(new SimDisk(), NOBODY);
    fillQueue(life);
    life.disk.fault = ({ operation }) => (operation === "datasyncBlocking" ? { kind: "fail", code: "EIO" } : undefined);
    await turns(life);
    expect(refusalOf(life).code).toBe("log.stopped");
    let woken = false;
    void life.log.room().then(() => {
      woken = true;
    });
    await turns(life);
    expect(woken).toBe(true);
  });

  test("a stopped log answers everything at once: no caller waits forever", async () => {
    const life = await Life.begin(new SimDisk(), NOBODY);
    life.append([1], 20);
    life.disk.fault = ({ operation }) => (operation === "datasyncBlocking" ? { kind: "fail", code: "EIO" } : undefined);
    await turns(life);
    expect(refusalOf(life).code).toBe("log.stopped");
    await expect(life.log.drain()).rejects.toMatchObject({ code: "EIO" });
    await life.log.room();
    await life.log.close();
  });
});
