// A sync that fails, at every sync of a life: the writes it covered are not acknowledged, the log stops for good, and
// the next start reads what is on disk (EL-2). A sync that succeeded but reported an error (`reached`) is treated the
// same, because the two cannot be told apart.
import { describe, expect, test } from "bun:test";
import { isFault } from "../../../src/base/fault.ts";
import { EventLog } from "../../../src/log/event-log.ts";
import { SimClock } from "../clock.ts";
import { SimDisk } from "../disk.ts";
import type { Call, FaultChoice, Operation } from "../faults.ts";
import { nothing } from "../survive.ts";
import { HISTORIES } from "./histories.ts";
import { Life, type Memory, type Step } from "./life.ts";
import { ensure } from "./oracle.ts";

const SYNCS = new Set<Operation>(["datasyncBlocking", "startSync", "datasync", "sync", "syncDirectory"]);
const CHANGES = new Set<Operation>([...SYNCS, "write", "truncate", "rename", "link", "makeDirectory"]);

const STEPS: readonly Step[] = [
  ...(HISTORIES["batch after batch, drained in between"] ?? []),
  ...(HISTORIES["segments filled and used again"] ?? []),
  { kind: "idle" },
];

/** A home that an earlier life left in the middle of things, so that opening it has something to recover. */
async function midLife(): Promise<{ disk: SimDisk; memory: Memory }> {
  const life = await Life.begin(new SimDisk(), { issued: [], acknowledged: 0 });
  await life.perform(HISTORIES["drained while the next entries come"] ?? []);
  await life.perform([{ kind: "append", sessions: [1, 4], size: 30 }, { kind: "await" }]);
  return { disk: life.disk.processKill(), memory: life.memory };
}

/** Fails the `n`th sync; `seen` counts them all. */
function failNthSync(n: number, choice: FaultChoice): { fault: (call: Call) => FaultChoice | undefined; seen: number } {
  const state = {
    seen: 0,
    fault: ({ operation }: Call): FaultChoice | undefined => {
      if (!SYNCS.has(operation)) return undefined;
      state.seen += 1;
      return state.seen === n ? choice : undefined;
    },
  };
  return state;
}

type Lived = { readonly life: Life | undefined; readonly memory: Memory };

/** Further calls on the file that could not be synced. Other files may be in use until the failure is noticed. */
function secondTries(disk: SimDisk): Call[] {
  const late: Call[] = [];
  disk.onCall = (call) => {
    if (call.path === disk.fired[0]?.call.path && CHANGES.has(call.operation)) late.push(call);
  };
  return late;
}

/** Lives until the fault has been felt. */
async function liveUntilFault(disk: SimDisk, memory: Memory): Promise<Lived> {
  const late = secondTries(disk);
  let life: Life | undefined;
  try {
    life = await Life.begin(disk, memory);
    for (const step of STEPS) {
      await life.step(step);
      if (disk.fired.length > 0) break;
    }
  } catch (error) {
    if (!isFault(error)) throw error;
  }
  await life?.clock.settle();
  ensure(late.length === 0, `nothing is tried again, but ${JSON.stringify(late)}`);
  return { life, memory: life?.memory ?? memory };
}

/** Its owner knows; whatever is asked of it now, the log refuses, and not one more change reaches the disk. */
async function expectStopped(life: Life): Promise<void> {
  const why = await Promise.race([life.log.halted, Promise.resolve("its owner does not know")]);
  ensure(isFault(why), `it stopped: ${String(why)}`);
  const changes: Call[] = [];
  life.disk.onCall = (call) => {
    if (CHANGES.has(call.operation)) changes.push(call);
  };
  const answer = life.log.append([{ session: "agents/0001", ts: "", event: "late", data: null }]);
  ensure(!answer.ok && answer.error.code === "log.stopped", `it stopped, but says ${JSON.stringify(answer)}`);
  for (let second = 0; second < 3; second += 1) await life.step({ kind: "idle" });
  await life.log.close();
  life.disk.onCall = undefined;
  ensure(changes.length === 0, `nothing more is written, but ${JSON.stringify(changes)}`);
}

/** What the next process finds. */
type Ending = (disk: SimDisk) => SimDisk;
const kill: Ending = (disk) => disk.processKill();
const cut: Ending = (disk) => disk.powerCut(nothing);

/** The next start finds every promise kept, and writes; so does the one after it. */
async function liveAgain(disk: SimDisk, memory: Memory, end: Ending): Promise<void> {
  const life = await Life.begin(disk, memory);
  await life.perform([
    { kind: "append", sessions: [1, 2], size: 40 },
    { kind: "append", sessions: [7], size: 9 },
    { kind: "await" },
  ]);
  ensure(life.memory.acknowledged === life.memory.issued.length, "the second life can write");
  const third = await Life.begin(end(disk), life.memory);
  await third.perform([{ kind: "append", sessions: [2, 8], size: 5 }, { kind: "await" }, { kind: "drain" }]);
  await Life.begin(end(third.disk), third.memory);
}

/**
 * A name whose directory could not be synced cannot be made anew by a later life, which finds it in the cache: only a
 * power cut tells
 * the truth. The file systems we know do not go on after that (ext4 aborts its journal, XFS shuts down), so a life, a
 * kill and a power cut cannot follow each other there.
 */
function namesAreLost({ operation }: Call, choice: FaultChoice): boolean {
  return operation === "syncDirectory" && choice.kind === "fail" && choice.reached !== true;
}

/** Fails sync 1, 2, 3 … until none is left to fail; returns which operations failed, and how often. */
async function sweepSyncs(start: SimDisk, memory: Memory, choice: FaultChoice): Promise<Record<string, number>> {
  const failed: Record<string, number> = {};
  for (let n = 1; ; n += 1) {
    const disk = start.fork();
    const plan = failNthSync(n, choice);
    disk.fault = plan.fault;
    const lived = await liveUntilFault(disk, memory);
    const call = disk.fired[0]?.call;
    if (call === undefined) return failed;
    failed[call.operation] = (failed[call.operation] ?? 0) + 1;
    try {
      ensure(disk.fired.length === 1, "the fault fired once");
      if (lived.life !== undefined) await expectStopped(lived.life);
      await liveAgain(kill(disk), lived.memory, namesAreLost(call, choice) ? kill : cut);
      await liveAgain(cut(disk), lived.memory, cut);
    } catch (error) {
      throw new Error(`sync ${n} (${call.operation} ${call.path}): ${String(error)}`, { cause: error });
    }
  }
}

const CHOICES: readonly (readonly [string, FaultChoice])[] = [
  ["fails with EIO", { kind: "fail", code: "EIO" }],
  ["fails with EIO though the bytes are on disk", { kind: "fail", code: "EIO", reached: true }],
  ["is interrupted (EINTR), which is a failed sync too", { kind: "fail", code: "EINTR" }],
];

describe("EL-2 any one sync", () => {
  for (const [what, choice] of CHOICES) {
    test(`${what}, on a new home: nothing missing is acknowledged, and nothing is written again`, async () => {
      const failed = await sweepSyncs(new SimDisk(), { issued: [], acknowledged: 0 }, choice);
      expect(Object.keys(failed).sort()).toEqual([
        "datasync",
        "datasyncBlocking",
        "startSync",
        "sync",
        "syncDirectory",
      ]);
    });

    test(`${what}, on a home in use: nothing is lost, even in recovery`, async () => {
      const { disk, memory } = await midLife();
      const failed = await sweepSyncs(disk, memory, choice);
      expect(Object.keys(failed).sort()).toEqual([
        "datasync",
        "datasyncBlocking",
        "startSync",
        "sync",
        "syncDirectory",
      ]);
    });
  }
});

test("W3 a batch that waits behind a failed sync is refused with it, and so is everything later", async () => {
  const [disk, clock] = [new SimDisk(), new SimClock()];
  const log = await EventLog.open({ disk, clock, home: "/h" }, { segmentBytes: 64 << 10, ballastBytes: 0 });
  const outcomes: string[] = [];
  const append = (name: string) => {
    const ticket = log.append([{ session: `agents/${name}`, ts: "", event: "tested", data: "x".repeat(40 << 10) }]);
    if (!ticket.ok) outcomes.push(`${name}: ${ticket.error.code}`);
    else
      ticket.value.durable.then(
        () => outcomes.push(`${name} is durable`),
        () => outcomes.push(`${name} is refused`),
      );
  };
  disk.fault = failNthSync(1, { kind: "fail", code: "EIO" }).fault;
  append("a");
  append("b"); // Both do not fit into one batch.
  await clock.settle();
  append("c");
  expect(outcomes).toEqual(["a is refused", "b is refused", "c: log.stopped"]);
});
