// What `gc` removes of workflow runs, and what it must never touch; also with a power cut in the middle.
import { expect, test } from "bun:test";
import type { WorkflowCommand } from "../../src/core/workflow/commands.ts";
import { ITERATIONS_KEPT } from "../../src/core/workflow/limits.ts";
import { stateOf } from "../../src/core/workflow/run.ts";
import { GarbageCollector } from "../../src/daemon/gc.ts";
import { workflowGarbage } from "../../src/daemon/workflow/gc.ts";
import { WorkflowStore, workflowFolding } from "../../src/daemon/workflow/store.ts";
import { CheckpointStorage } from "../../src/home/checkpoint-storage.ts";
import { EventLog } from "../../src/log/event-log.ts";
import type { Config } from "../../src/wire/files/config-schema.ts";
import { readWorkflow } from "../../src/wire/files/workflow-file.ts";
import { foldNow } from "../daemon/border.ts";
import { SimDisk } from "../sim/disk.ts";
import { everyCrash } from "../sim/every-crash.ts";
import { amount } from "../sim/fuzz/profile.ts";
import { simWorld } from "../sim/world.ts";

const HOME = "/h";
const DAY = 86_400_000;
const RULES: Config["retention"] = {
  removedDays: 1,
  endedDays: 30,
  tapeBytes: 1_000_000,
  runDays: 30,
  runBytes: 1_000_000,
  agentDays: 30,
  agentBytes: 1_000_000,
  reportDays: 90,
  reports: 50,
  quarantineDays: 90,
  quarantineBytes: 1_000_000,
  histories: 2,
  archiveAfterMin: 60,
  archiveDays: 365,
  archiveBytes: 1e9,
  logDays: 365,
  logBytes: 1e9,
};
const byNumber = (one: number, other: number) => one - other;
const FLOWS = {
  loop: "mode: iterative\nmax_iterations: 1000\nsteps:\n  - id: one\n    shell: x\n",
  done: "steps:\n  - set: { a: 1 }\n",
  shell: "steps:\n  - id: one\n    shell: x\n",
  map: "mode: mapreduce\nmap:\n  input: { glob: x }\n  steps:\n    - id: one\n      shell: x\n",
} as const;

class Life {
  readonly world: ReturnType<typeof simWorld> & { home: string };
  readonly log: EventLog;
  readonly store: WorkflowStore;

  static async begin(disk: SimDisk): Promise<Life> {
    const world = { ...simWorld(1, disk), home: HOME };
    return new Life(world, await EventLog.open(world, { segmentBytes: 64 << 10, ballastBytes: 0 }));
  }

  private constructor(world: Life["world"], log: EventLog) {
    this.world = world;
    this.log = log;
    const nothing = () => undefined;
    this.store = new WorkflowStore(log, world.clock, { publish: nothing, perform: nothing, onBug });
    const storage = new CheckpointStorage(world);
    expect(foldNow(log, this.store, workflowFolding(storage, world.clock, nothing))).toEqual([]);
  }

  async submit(command: WorkflowCommand): Promise<void> {
    const done = await this.store.submit(command);
    if (!done.ok) throw new Error(done.error.message);
  }

  /** A run of one of the flows, with the files of two attempts. */
  async run(id: string, flow: keyof typeof FLOWS): Promise<void> {
    const definition = readWorkflow(Buffer.from(FLOWS[flow]), flow);
    if (!definition.ok) throw new Error("the flow is right");
    const place = { path: "/w/f.yml", repo: "w", cwd: "/w", worktree: undefined, environment: {}, parameters: {} };
    await this.submit({ kind: "create", id, ...place, definition: definition.value, sourceSha256: "0" });
    for (const number of [1, 2]) {
      const at = `state/w/sessions/${id}/attempts/${number}`;
      for (const name of ["holder.json", "claim.json", "exit.json", "file-1"]) this.plant(`${at}/${name}`);
      for (const tape of ["tape", "stderr-tape", "input-tape"]) this.plant(`${at}/${tape}/${"0".repeat(16)}.seg`);
    }
    for (const day of [1, 2, 3]) this.plant(`state/w/sessions/${id}/history/checkpoint-2026-01-0${day}.json`);
    this.plant(`state/w/sessions/${id}/checkpoint.json`);
    this.plant(`run/w${id.slice(0, 8)}-1.sock`);
  }

  /** Fails the run's current attempt. */
  fails(id: string): Promise<void> {
    const attempt = `${id}.1`;
    return this.submit({ kind: "attempt-ended", id, attempt, code: 1, signal: null, output: { text: "", bytes: 0 } });
  }

  plant(path: string): void {
    this.world.disk.plant(`${HOME}/${path}`, Buffer.alloc(100, 120));
  }

  files(path: string): string[] {
    return this.world.disk.list(`${HOME}/${path}`).sort();
  }

  collect(rules: Partial<Config["retention"]> = {}, dryRun = false) {
    const collector = new GarbageCollector(
      this.world,
      { ...RULES, ...rules },
      {
        parts: [
          {
            garbage: (limits) =>
              workflowGarbage(this.world, { runs: () => this.store.states.values(), archived: () => [] }, limits),
          },
        ],
        isOff: () => false,
        say: () => undefined,
        onBug,
      },
    );
    return collector.collect(dryRun);
  }
}

function onBug(error: unknown): never {
  throw error;
}

const [DONE, FAILED, STOPPED, LOST, QUEUED, CANCELLED, OTHER] = [1, 2, 3, 4, 5, 6, 7].map((n) => `${n}`.repeat(32)) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];

test("output of ended runs is removed by age; a run that can continue keeps everything, whatever its age", async () => {
  const life = await Life.begin(new SimDisk());
  await life.run(DONE, "done");
  await life.run(FAILED, "shell");
  await life.fails(FAILED);
  await life.run(STOPPED, "shell");
  await life.submit({ kind: "interrupt", id: STOPPED });
  await life.submit({ kind: "attempt-prevented", id: STOPPED, attempt: `${STOPPED}.1`, reason: "x" });
  await life.run(LOST, "shell");
  await life.submit({ kind: "attempt-lost", id: LOST, attempt: `${LOST}.1`, reason: "gone" });
  await life.submit({ kind: "cancel", id: LOST }); // Cancelled, and the outcome of its step is still unknown.
  await life.run(QUEUED, "map");
  await life.submit({ kind: "items-read", id: QUEUED, from: 0, items: ["a"], last: true });
  await life.fails(QUEUED);
  await life.run(CANCELLED, "shell");
  await life.submit({ kind: "cancel", id: CANCELLED });
  await life.submit({ kind: "attempt-prevented", id: CANCELLED, attempt: `${CANCELLED}.1`, reason: "x" });
  await life.run(OTHER, "shell");
  const states = [DONE, FAILED, STOPPED, LOST, QUEUED, CANCELLED, OTHER].map((id) => {
    const run = life.store.states.get(id);
    return run && stateOf(run);
  });
  expect(states).toEqual(["done", "failed", "interrupted", "cancelled", "done_with_failures", "cancelled", "running"]);
  life.plant(`state/w/sessions/${DONE}/attempts/2/mine.txt`);
  life.world.clock.jump(20 * DAY);
  expect((await life.collect()).items.filter(({ what }) => what.includes("wrote"))).toEqual([]);
  life.world.clock.jump(380 * DAY);
  const dry = await life.collect({}, true);
  const { items, bytes } = await life.collect();
  expect(items).toEqual(dry.items);
  expect(items.filter(({ what }) => what.includes("wrote")).map(({ bytes: size, reason }) => [size, reason])).toEqual([
    [1600, "older than 30 days"],
    [1600, "older than 30 days"],
  ]);
  expect(bytes).toBe(3200);
  expect(life.files(`state/w/sessions/${DONE}/attempts`)).toEqual(["2"]); // Files that are not ours stay.
  expect(life.files(`state/w/sessions/${DONE}`)).toEqual(["attempts", "checkpoint.json"]);
  expect(life.files(`state/w/sessions/${CANCELLED}`)).not.toContain("attempts");
  for (const id of [FAILED, STOPPED, LOST, QUEUED, OTHER]) {
    expect(life.files(`state/w/sessions/${id}/attempts/1`)).toHaveLength(7);
    expect(life.files("run")).toContain(`w${id.slice(0, 8)}-1.sock`);
  }
  for (const id of [DONE, CANCELLED]) expect(life.files("run")).not.toContain(`w${id.slice(0, 8)}-1.sock`);
  expect((await life.collect()).items).toEqual([]);
  await life.log.close();
});

test("a failed run that was removed is over for good: what its steps wrote goes by age, with a checkpoint that was left", async () => {
  const life = await Life.begin(new SimDisk());
  await life.run(FAILED, "shell");
  await life.fails(FAILED);
  await life.submit({ kind: "remove", id: FAILED });
  expect((await life.collect()).items.filter(({ what }) => what.includes("wrote"))).toEqual([]);
  life.world.clock.jump(31 * DAY);
  expect((await life.collect()).items.filter(({ what }) => what.includes("wrote"))).toHaveLength(1);
  expect(life.files(`state/w/sessions/${FAILED}`)).not.toContain("attempts");
  expect(life.files(`state/w/sessions/${FAILED}`)).not.toContain("checkpoint.json");
  await life.log.close();
});

test("ended runs share a limit: the oldest are removed first, and one that has just ended stays", async () => {
  const life = await Life.begin(new SimDisk());
  await life.run(DONE, "done");
  life.world.clock.jump(3 * DAY);
  await life.run(FAILED, "done");
  life.world.clock.jump(2 * DAY);
  await life.run(OTHER, "done");
  const { items } = await life.collect({ runBytes: 3700, histories: 20 });
  expect(items.filter(({ what }) => what.includes("wrote"))).toMatchObject([
    { reason: "more than 3700 bytes of them" },
  ]);
  expect(life.files(`state/w/sessions/${DONE}`)).not.toContain("attempts");
  for (const id of [FAILED, OTHER]) expect(life.files(`state/w/sessions/${id}/attempts`)).toEqual(["1", "2"]);
  await life.log.close();
});

test("of a run that goes on, what steps of iterations wrote that are long over goes by age, and nothing else", async () => {
  const life = await Life.begin(new SimDisk());
  await life.run(OTHER, "loop");
  const iterations = 3 * ITERATIONS_KEPT;
  for (let number = 1; number <= iterations; number += 1) {
    life.plant(`state/w/sessions/${OTHER}/attempts/${number}/exit.json`);
    const end = { code: 0, signal: null, output: { text: "", bytes: 0 } };
    await life.submit({ kind: "attempt-ended", id: OTHER, attempt: `${OTHER}.${number}`, ...end });
  }
  life.plant(`state/w/sessions/${OTHER}/attempts/${iterations + 1}/claim.json`);
  await life.submit({ kind: "attempt-lost", id: OTHER, attempt: `${OTHER}.${iterations + 1}`, reason: "gone" });
  const attempts = () => life.files(`state/w/sessions/${OTHER}/attempts`).map(Number).sort(byNumber);
  life.plant(`state/w/sessions/${OTHER}/attempts/3/mine.txt`);
  life.world.clock.jump(20 * DAY);
  expect((await life.collect({ runDays: 100_000 })).items.filter(({ what }) => what.includes("wrote"))).toEqual([]);
  await life.collect();
  const kept = Array.from({ length: ITERATIONS_KEPT + 1 }, (_, at) => iterations - ITERATIONS_KEPT + 1 + at);
  expect(attempts()).toEqual([3, ...kept]); // Files that are not ours stay.
  expect((await life.collect()).items).toEqual([]);
  await life.submit({ kind: "resolve", id: OTHER, attempt: `${OTHER}.${iterations + 1}`, verdict: "rerun" });
  await life.log.close();
});

test("a crash or power cut at any call of gc leaves every run and its log whole, and the next round finishes", async () => {
  const start = new SimDisk();
  const first = await Life.begin(start);
  await first.run(DONE, "done");
  await first.run(FAILED, "shell");
  await first.fails(FAILED);
  await first.log.close();
  const survived = await everyCrash<undefined>({
    start,
    nothingPromised: undefined,
    takesLong: true,
    live: async (disk) => {
      const life = await Life.begin(disk);
      life.world.clock.jump(400 * DAY);
      await life.collect();
      await life.log.close();
    },
    check: async (disk) => {
      const life = await Life.begin(disk);
      life.world.clock.jump(400 * DAY);
      expect([DONE, FAILED].map((id) => life.store.states.get(id)?.status.kind)).toEqual(["done", "failed"]);
      await life.collect();
      expect(life.files(`state/w/sessions/${DONE}`)).not.toContain("attempts");
      expect(life.files(`state/w/sessions/${FAILED}/attempts/1`)).toHaveLength(7);
      expect((await life.collect()).items).toEqual([]);
      await life.submit({ kind: "resume", id: FAILED, force: false }); // A second life, and it writes.
      await life.log.close();
    },
  });
  expect(survived).toBeGreaterThan(amount(20, 50));
});
