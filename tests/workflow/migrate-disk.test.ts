// Migration on a disk that forgets unsynced data: found, imported once, and safe at every call.
import { expect, test } from "bun:test";
import { itemsOf } from "../../src/base/vector.ts";
import { CHECKPOINT_FACTS, toCheckpoint } from "../../src/core/workflow/checkpoint.ts";
import { progressOf } from "../../src/core/workflow/progress.ts";
import { MigrationOfRuns } from "../../src/daemon/workflow/migration.ts";
import { WorkflowStore, workflowFolding } from "../../src/daemon/workflow/store.ts";
import { CheckpointStorage } from "../../src/home/checkpoint-storage.ts";
import { encodeEnvelope } from "../../src/log/checkpoint/envelope.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { readWhole } from "../../src/log/file/file.ts";
import type { MigrationReport } from "../../src/wire/rpc/workflow.ts";
import { foldNow } from "../daemon/border.ts";
import { SimDisk } from "../sim/disk.ts";
import { everyCrash } from "../sim/every-crash.ts";
import { amount } from "../sim/fuzz/profile.ts";
import { simWorld } from "../sim/world.ts";
import { checkpointFile, completed, jobState, MAPPING, sessionState, THREE, unified } from "./old-layouts.ts";

const HOME = "/h";
const OLD = "/old";

class Life {
  readonly disk: SimDisk;
  readonly log: EventLog;
  readonly store: WorkflowStore;
  readonly said: string[] = [];
  readonly migration: MigrationOfRuns;

  static async begin(disk: SimDisk): Promise<Life> {
    const world = { ...simWorld(1, disk), home: HOME };
    return new Life(world, await EventLog.open(world, { segmentBytes: 1 << 20, ballastBytes: 0 }));
  }

  private constructor(world: ReturnType<typeof simWorld> & { home: string }, log: EventLog) {
    this.disk = world.disk;
    this.log = log;
    const nothing = () => undefined;
    this.store = new WorkflowStore(log, world.clock, { publish: nothing, perform: nothing, onBug });
    const storage = new CheckpointStorage(world);
    expect(foldNow(log, this.store, workflowFolding(storage, world.clock, nothing))).toEqual([]);
    const rules = { allow: [], deny: [] };
    const ports = { rules, say: (words: string) => void this.said.push(words), onBug, archived: () => undefined };
    this.migration = new MigrationOfRuns(world, this.store, ports);
  }

  migrate(directory = OLD, wish: { dryRun?: boolean; workflows?: string[] } = {}): Promise<MigrationReport> {
    return this.migration.migrate({
      directory,
      workflows: [],
      env: { PATH: "/bin", MY_TOKEN: "hush" },
      dryRun: false,
      ...wish,
    });
  }

  /** The content of each run, without times. */
  summary() {
    const runs = [...this.store.states.values()].sort((a, b) => a.id.localeCompare(b.id));
    return runs.map((run) => {
      const { name, path, migrated, environment } = run;
      return { name, path, environment, migrated, records: [...itemsOf(run.records)], ...progressOf(run) };
    });
  }
}

function onBug(error: unknown): never {
  throw error;
}

function plant(disk: SimDisk, path: string, value: unknown): void {
  disk.plant(path, Buffer.from(typeof value === "string" ? value : JSON.stringify(value)));
}

function oldJob(job: unknown = jobState()): SimDisk {
  const disk = new SimDisk();
  plant(disk, "/w/map.yml", MAPPING);
  plant(disk, `${OLD}/state/w/mapreduce/jobs/mapreduce-123/checkpoint-3.json`, job);
  return disk;
}

/** One run in each layout, and a damaged one. */
function oldHome(): SimDisk {
  const disk = oldJob();
  plant(disk, "/w/flow.yml", THREE);
  plant(disk, `${OLD}/state/session-bbb/checkpoints/wf.checkpoint.json`, checkpointFile());
  plant(disk, `${OLD}/sessions/session-aaa.json`, sessionState());
  const failed = unified({ Failed: { step_index: 2, error: "500", retryable: true } });
  plant(disk, `${OLD}/state/w/sessions/session-ccc/checkpoint.json`, failed);
  plant(
    disk,
    `${OLD}/state/session-ddd/checkpoints/wf.checkpoint.json`,
    JSON.stringify(checkpointFile()).slice(0, 100),
  );
  return disk;
}

/** Everything below a directory, byte by byte. */
function content(disk: SimDisk, at = OLD): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of disk.list(at).sort()) {
    const path = `${at}/${name}`;
    if (disk.stat(path)?.kind === "directory") Object.assign(found, content(disk, path));
    else found[path] = new TextDecoder().decode(readWhole(disk, path));
  }
  return found;
}

test("UC-10(a,c,d) every layout is recognised, migrated once, and reported; originals are unchanged", async () => {
  const disk = oldHome();
  const before = content(disk);
  const life = await Life.begin(disk);
  const dry = await life.migrate(OLD, { dryRun: true });
  expect(dry.items.map(({ layout, old, fate }) => [layout, old, fate])).toEqual([
    ["checkpoints", "session-ddd", "could not"],
    ["session", "session-aaa", "would"],
    ["checkpoints", "session-bbb", "would"],
    ["unified", "session-ccc", "would"],
    ["job", "mapreduce-123", "would"],
  ]);
  expect(life.store.states.size).toBe(0);
  expect(disk.list(`${HOME}/recovery/migrations`)).toEqual([]);
  const report = await life.migrate();
  expect(report.migrated).toBe(4);
  expect(report.items.map(({ state, reason, next }) => [state, reason, next?.slice(0, 15) ?? null])).toEqual([
    [null, "The file is not JSON: it is damaged, or was cut.", "It was left as "],
    ["failed", "it continues at step 3 of 3", "holdfast resume"],
    ["interrupted", "it continues at step 3 of 3", "holdfast resume"],
    ["failed", "it continues at step 3 of 3", "holdfast resume"],
    [
      "interrupted",
      "it continues at step 1 of 2, 3 of 5 items ended; it asks first whether that has happened",
      "holdfast resume",
    ],
  ]);
  expect(life.summary().map(({ environment }) => environment)).toEqual(Array(4).fill({ PATH: "/bin" }));
  const again = await life.migrate();
  expect(again.migrated).toBe(0);
  expect(again.items.map(({ fate }) => fate)).toEqual(["could not", "before", "before", "before", "before"]);
  expect(disk.list(`${HOME}/recovery/migrations`)).toHaveLength(1);
  expect(content(disk)).toEqual(before);
  plant(disk, `${OLD}/sessions/session-aaa.json`, sessionState({ status: "Cancelled" }));
  expect((await life.migrate()).items[1]?.reason).toContain("has changed since: it was left alone");
  await life.log.close();
});

test("UC-10(b,d) a crash at any call of a migration, also of one in many parts: the next one completes it, nothing is duplicated or lost", async () => {
  const large = Array.from({ length: 5 }, (_, at) => `${at} ${"x".repeat(60_000)}`);
  const start = oldJob(jobState({ work_items: large, pending_items: large.slice(4).map((_, at) => `item_${at + 4}`) }));
  const before = content(start);
  const whole = await Life.begin(start.fork());
  await whole.migrate();
  const parts = whole.summary().map(({ migrated }) => migrated?.parts);
  expect(Math.max(...parts.map((count) => count ?? 0))).toBe(2);
  const wanted = whole.summary();
  const survived = await everyCrash<number>({
    start,
    takesLong: true,
    nothingPromised: 0,
    live: async (disk, promised) => {
      const life = await Life.begin(disk);
      promised((await life.migrate()).migrated);
      await life.log.close();
    },
    check: async (disk, promised) => {
      const life = await Life.begin(disk);
      const there = life.summary().filter(({ migrated }) => migrated?.part === migrated?.parts).length;
      expect(there).toBeGreaterThanOrEqual(promised);
      const { migrated } = await life.migrate();
      expect(migrated).toBe(1 - there);
      expect(life.summary()).toEqual(wanted);
      expect((await life.migrate()).migrated).toBe(0);
      expect(content(disk)).toEqual(before);
      await life.log.close();
    },
  });
  expect(survived).toBeGreaterThan(amount(40, 100));
});

test("UC-10(c) an unreadable file does not affect others, and a disk error is retried", async () => {
  const disk = oldHome();
  const life = await Life.begin(disk);
  disk.fault = ({ operation, path }) =>
    operation === "open" && path.endsWith("session-aaa.json") ? { kind: "fail", code: "EACCES" } : undefined;
  const { migrated, items } = await life.migrate();
  expect(migrated).toBe(3);
  expect(items.filter(({ fate }) => fate === "could not").map(({ reason }) => reason)).toContainEqual(
    expect.stringContaining("EACCES"),
  );
  disk.fault = undefined;
  expect((await life.migrate()).migrated).toBe(1);
  await life.log.close();
});

test("UC-10(a) the newest record of a run counts; if a newer one is damaged, the next step is asked about", async () => {
  const disk = new SimDisk();
  plant(disk, "/w/flow.yml", THREE);
  const place = `${OLD}/s/checkpoints`;
  const older = checkpointFile(
    { timestamp: "2026-01-01T00:00:00Z", completed_steps: [completed(0, "shell: echo one >> effects")] },
    { last_checkpoint: "2026-01-01T00:00:00Z", current_step_index: 1 },
  );
  plant(disk, `${place}/a.checkpoint.json`, older);
  plant(disk, `${place}/b.checkpoint.json`, checkpointFile());
  const both = await Life.begin(disk.fork());
  expect((await both.migrate()).items.map(({ fate }) => fate)).toEqual(["migrated", "older"]);
  expect(both.summary()).toMatchObject([{ step: 3, needs: [] }]);
  plant(disk, `${place}/b.checkpoint.json`, "{");
  const one = await Life.begin(disk);
  expect((await one.migrate()).items.map(({ fate }) => fate)).toEqual(["could not", "migrated"]);
  expect(one.summary()).toMatchObject([{ step: 2, needs: [{ step: "two" }] }]);
});

test("UC-10(a) a damaged unified checkpoint falls back to its history", async () => {
  const disk = new SimDisk();
  plant(disk, "/w/flow.yml", THREE);
  const place = `${OLD}/state/w/sessions/session-ccc`;
  plant(
    disk,
    `${place}/history/checkpoint-20260102_030405.json`,
    unified({ Completed: { step_index: 1, output: null } }),
  );
  plant(disk, `${place}/checkpoint.json`, "");
  const life = await Life.begin(disk);
  expect((await life.migrate()).items.map(({ fate, reason }) => [fate, reason])).toEqual([
    ["could not", "The file is empty."],
    ["migrated", "it continues at step 3 of 3; it asks first whether that has happened"],
  ]);
});

test("UC-10(a) the workflow file is the record's own, or a given one with its name", async () => {
  const disk = new SimDisk();
  plant(disk, "/new/flow.yml", THREE);
  plant(disk, "/new/map.yml", MAPPING);
  plant(disk, `${OLD}/sessions/session-aaa.json`, sessionState({ metadata: {} }));
  const life = await Life.begin(disk);
  const [lost] = (await life.migrate()).items;
  expect(lost).toMatchObject({ fate: "could not", next: "Name the file: --workflow FILE" });
  expect((await life.migrate(OLD, { workflows: ["/new/map.yml"] })).migrated).toBe(0);
  expect((await life.migrate(OLD, { workflows: ["/nowhere.yml"] })).items[0]?.reason).toContain("/nowhere.yml");
  expect((await life.migrate(OLD, { workflows: ["/new/map.yml", "/new/flow.yml"] })).migrated).toBe(1);
  expect(life.summary()).toMatchObject([{ path: "/new/flow.yml" }]);
  const beside = await Life.begin(disk.fork());
  plant(disk, "/new/release.yml", THREE);
  plant(disk, `${OLD}/sessions/two.json`, { ...sessionState({ id: "two", metadata: { working_directory: "/new" } }) });
  expect((await (await Life.begin(disk)).migrate()).migrated).toBe(1);
  expect(beside.store.states.size).toBe(1);
});

test("UC-10(b) old runs in the home itself are imported at the first access; our own runs with their logs are left alone", async () => {
  const disk = new SimDisk();
  plant(disk, "/w/flow.yml", THREE);
  plant(
    disk,
    `${HOME}/state/w/sessions/session-ccc/checkpoint.json`,
    unified({ Completed: { step_index: 0, output: null } }),
  );
  const life = await Life.begin(disk);
  await life.migration.firstAccess({});
  expect(life.said).toEqual(["runs of an older program: 1 migrated, 0 not. See: holdfast migrate"]);
  const [run] = life.store.states.values();
  if (run === undefined) throw new Error("no run");
  const own = `${HOME}/state/w/sessions/${run.id}/checkpoint.json`;
  const saved = toCheckpoint({ ...run, id: "other" }, "Manual", "x");
  const at = { seq: 9, time: "2026-01-01T00:00:00.000Z" };
  disk.plant(own, encodeEnvelope({ kind: "workflow", version: 1, fold: 1, ...at }, JSON.stringify(saved)).bytes);
  const { version: _version, created_at: _time, integrity_hash: _hash, ...content } = saved;
  const { bytes } = encodeEnvelope({ ...CHECKPOINT_FACTS, ...at }, JSON.stringify(content));
  disk.plant("/copy/state/w/sessions/lost/checkpoint.json", bytes);
  disk.plant("/copy/state/w/sessions/cut/checkpoint.json", bytes.slice(0, 200));
  await life.migration.firstAccess({});
  expect(life.said).toHaveLength(1);
  const copied = await life.migrate("/copy");
  expect(copied.items.map(({ layout, fate }) => [layout, fate])).toEqual([
    ["unified", "could not"],
    ["holdfast", "migrated"],
  ]);
  disk.fault = ({ operation }) => (operation === "list" ? { kind: "fail", code: "EIO" } : undefined);
  await life.migration.firstAccess({});
  expect(life.said[1]).toContain("nothing was migrated");
});
