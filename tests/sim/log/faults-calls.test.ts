// Calls that do less than they were asked: short reads, short writes, and calls that a signal interrupted. A life of
// such calls leaves the same bytes on disk as one without.
import { expect, test } from "bun:test";
import { SimDisk } from "../disk.ts";
import type { Call, FaultChoice, Operation } from "../faults.ts";
import { nothing } from "../survive.ts";
import { AWAIT, append, DRAIN, filesOf, homeAfter, IDLE, MID_LIFE } from "./damage-home.ts";
import { HISTORIES } from "./histories.ts";
import { Life, type Memory, type Step } from "./life.ts";

type Annoyance = (call: Call) => FaultChoice | undefined;

const STEPS: readonly Step[] = [
  ...(HISTORIES["segments filled and used again"] ?? []),
  ...(HISTORIES["batch after batch, drained in between"] ?? []),
  IDLE,
];

function short(operation: Operation, bytes: (length: number) => number): Annoyance {
  return (call) =>
    call.operation === operation && call.length > 1 ? { kind: "short", bytes: bytes(call.length) } : undefined;
}

/** Every call of this kind is interrupted `times` times before it gets through. */
function interrupted(operation: Operation, times: number): Annoyance {
  let left = times;
  return (call) => {
    if (call.operation !== operation) return undefined;
    left = left === 0 ? times : left - 1;
    return left === times ? undefined : { kind: "fail", code: "EINTR" };
  };
}

const ANNOYANCES: Readonly<Record<string, () => Annoyance>> = {
  "every write takes one byte": () => short("write", () => 1),
  "every write takes half of what it is given": () => short("write", (length) => length >> 1),
  "every read gives one byte": () => short("read", () => 1),
  "every read gives half of what was asked for": () => short("read", (length) => length >> 1),
  "every read is interrupted once": () => interrupted("read", 1),
  "every write is interrupted three times": () => interrupted("write", 3),
  "every open is interrupted twice": () => interrupted("open", 2),
};

/** A life from a home in the middle of things, so that recovery is annoyed as well. */
async function live(disk: SimDisk, memory: Memory): Promise<Life> {
  const life = await Life.begin(disk, memory);
  await life.perform(STEPS);
  return life;
}

for (const [what, annoyance] of Object.entries(ANNOYANCES)) {
  test(`EL-2 ${what}: all is as if nothing had happened`, async () => {
    const { disk, memory } = await homeAfter(MID_LIFE);
    const calm = await live(disk.fork(), memory);
    const annoyed = disk.fork();
    annoyed.fault = annoyance();
    const life = await live(annoyed, memory);
    expect(annoyed.fired.length).toBeGreaterThan(5);
    expect(life.memory).toEqual(calm.memory);
    expect(life.memory.acknowledged).toBe(life.memory.issued.length);
    expect(filesOf(annoyed)).toEqual(filesOf(calm.disk));
    const second = await Life.begin(annoyed.powerCut(nothing), life.memory);
    await second.perform([append([1, 2], 40), AWAIT, DRAIN]);
    await Life.begin(second.disk.powerCut(nothing), second.memory);
  });
}

test("a signal storm that never ends is a failure, not an endless wait", async () => {
  const disk = new SimDisk();
  disk.fault = (call) => (call.operation === "write" ? { kind: "fail", code: "EINTR" } : undefined);
  await expect(Life.begin(disk, { issued: [], acknowledged: 0 })).rejects.toMatchObject({ code: "EINTR" });
  expect(disk.fired.length).toBeGreaterThan(100);
});
