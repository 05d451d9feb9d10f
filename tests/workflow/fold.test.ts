// A run is restored from its checkpoint and the tail of its log (FO1); if that is impossible, from its log alone.
import { expect, test } from "bun:test";
import { toRecord } from "../../src/base/table.ts";
import { foldSessions } from "../../src/daemon/fold.ts";
import type { HowFar } from "../../src/daemon/part.ts";
import { type WorkflowHandlerPorts, workflowHandlers } from "../../src/daemon/workflow/handlers.ts";
import { WorkflowStore, workflowFolding } from "../../src/daemon/workflow/store.ts";
import { CheckpointStorage } from "../../src/home/checkpoint-storage.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { LogView } from "../../src/log/inspect.ts";
import { inSlices } from "../../src/world/slices.ts";
import { foldNow, liveBorder } from "../daemon/border.ts";
import { hurried, SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { creation, set } from "./stories.ts";

const STEPS = 200;
const SESSION = "state/w/sessions/r1";
const OPTIONS = { ballastBytes: 0, segmentBytes: 2 << 20, maxSegments: 2 };
const EVENTS = `/h/${SESSION}/events.jsonl`;

class Life {
  readonly log: EventLog;
  readonly store: WorkflowStore;
  readonly storage: CheckpointStorage;
  readonly said: string[] = [];

  static async begin(disk: SimDisk): Promise<Life> {
    const place = { disk, clock: new SimClock(), home: "/h" };
    return new Life(place, await EventLog.open(place, OPTIONS));
  }

  constructor(place: { disk: SimDisk; clock: SimClock; home: string }, log: EventLog) {
    this.log = log;
    this.store = new WorkflowStore(log, place.clock, {
      publish: () => undefined,
      perform: () => undefined,
      onBug: (error) => {
        throw error;
      },
    });
    this.storage = new CheckpointStorage(place);
  }

  async run(): Promise<void> {
    const steps = Array.from({ length: STEPS }, (_, at) => set(`s${at}`, { n: at, [`v${at}`]: "x" }));
    const made = await this.store.submit(creation({ name: "long", flow: { mode: "standard", steps } }));
    if (!made.ok) throw new Error(made.error.message);
  }

  async advance(): Promise<void> {
    await this.store.submit({ kind: "advance", id: "r1" });
  }

  async save(): Promise<void> {
    const run = this.store.states.get("r1");
    if (run === undefined) throw new Error("there is a run");
    const saved = await this.storage.save(run, "AfterStep", this.log.durable);
    if (!saved.ok) throw new Error(saved.error.message);
  }

  fold() {
    const say = (words: string) => void this.said.push(words);
    const items = foldNow(this.log, this.store, workflowFolding(this.storage, new SimClock(), say));
    const run = this.store.states.get("r1");
    return {
      aside: items.map(({ reason }) => reason),
      ended: run?.records.length,
      n: toRecord(run?.variables ?? NONE)["n"],
    };
  }
}

const NONE = { size: 0, rows: [] };

/** A run of two transactions, with a checkpoint between them. */
async function written(disk: SimDisk): Promise<void> {
  const life = await Life.begin(disk);
  await life.run();
  await life.save();
  await life.advance();
  await life.log.close();
}

function damage(disk: SimDisk, path: string, offset: number): void {
  const file = disk.open(path, "write");
  file.write(Buffer.from("######"), offset);
  file.close();
}

test("a run is restored from its checkpoint and later events; earlier ones are not read", async () => {
  const disk = new SimDisk();
  await written(disk);
  damage(disk, EVENTS, 40);
  const life = await Life.begin(disk);
  expect(life.fold()).toEqual({ aside: [], ended: 128, n: 127 });
  expect(life.said).toEqual([]);
  await life.advance();
  expect(life.store.states.get("r1")?.status.kind).toBe("going");
  expect(life.store.states.get("r1")?.records.length).toBe(192);
});

test("events that are only in the write-ahead log follow a checkpoint too, and a checkpoint may stand at one of them", async () => {
  const disk = new SimDisk();
  const before = await Life.begin(disk);
  await before.run();
  await before.save();
  await before.advance();
  expect(before.fold()).toEqual({ aside: [], ended: 128, n: 127 });
  await before.save();
  expect(before.fold()).toEqual({ aside: [], ended: 128, n: 127 });
  const view = before.storage.current(new LogView(disk, "/h"), SESSION);
  expect(view.ok && [view.value.from, view.value.checkpoint.completed_steps.length]).toEqual([
    `/h/${SESSION}/checkpoint.json`,
    128,
  ]);
  const loaded = before.storage.current(before.log, SESSION);
  expect(loaded.ok && loaded.value.checkpoint.completed_steps.length).toBe(128);
  await before.log.close();
});

test("a damaged checkpoint, or one that is ahead of the log, is skipped: the log alone has everything", async () => {
  const damaged = new SimDisk();
  await written(damaged);
  damage(damaged, `/h/${SESSION}/checkpoint.json`, 400);
  const one = await Life.begin(damaged);
  expect(one.fold()).toEqual({ aside: [], ended: 128, n: 127 });
  expect(one.said.join()).toContain("checkpoint.json");
  const ahead = new SimDisk();
  await written(ahead);
  const life = await Life.begin(ahead);
  life.fold();
  const run = life.store.states.get("r1");
  if (run === undefined) throw new Error("there is a run");
  await life.storage.save({ ...run, name: "from the future" }, "Manual", life.log.durable + 1000);
  const next = await Life.begin(ahead);
  expect(next.fold()).toEqual({ aside: [], ended: 128, n: 127 });
  expect(next.store.states.get("r1")?.name).toBe("long");
  const alone = { ok: true, value: { from: null, checkpoint: { run: { name: "long" } } } };
  for (const log of [next.log, new LogView(ahead, "/h")])
    expect(next.storage.current(log, SESSION)).toMatchObject(alone);
});

test("if neither is usable, the run is set aside", async () => {
  const disk = new SimDisk();
  await written(disk);
  damage(disk, `/h/${SESSION}/checkpoint.json`, 400);
  damage(disk, EVENTS, 40);
  const life = await Life.begin(disk);
  expect(life.fold().aside.join()).toContain("its log is damaged");
  for (const log of [life.log, new LogView(disk, "/h")])
    expect(life.storage.current(log, SESSION)).toMatchObject({ ok: false, error: { code: "damaged" } });
});

test("runs are folded in slices: other work runs in the middle of a log, and progress is reported", async () => {
  const disk = new SimDisk();
  const before = await Life.begin(disk);
  await before.run();
  await before.advance();
  await before.log.close();
  const { log, store, storage } = await Life.begin(disk);
  const heard: HowFar[] = [];
  let turns = 0;
  const clock = hurried(() => {
    turns += 1;
  });
  const folding = workflowFolding(storage, clock, () => undefined);
  expect(
    await inSlices(clock, foldSessions({ border: liveBorder(), log, store }, folding), (so) => heard.push(so)),
  ).toEqual([]);
  expect(store.states.get("r1")?.records.length).toBe(128);
  expect(turns).toBe(heard.length);
  expect(heard.length).toBeGreaterThan(100);
  expect(new Set(heard.map((so) => JSON.stringify(so)))).toEqual(new Set(['{"done":0,"total":1}']));
});

test("until all runs are read none is shown, and none is reported missing", async () => {
  const life = await Life.begin(new SimDisk());
  const border = liveBorder();
  const handlers = workflowHandlers({
    border,
    store: life.store,
    engine: { trouble: () => undefined },
    archive: { rows: () => [], look: () => undefined },
  } as unknown as WorkflowHandlerPorts);
  for (const look of ["workflow.list", "workflow.show", "dlq.list", "dlq.show", "workflow.changes"])
    expect(await handlers[look]?.({ id: "r1" })).toMatchObject({ ok: false, error: { code: "not-live" } });
  const folding = workflowFolding(life.storage, new SimClock(), () => undefined);
  const steps = foldSessions({ border, log: life.log, store: life.store }, folding);
  await border.foldAll(new SimClock(), steps, () => undefined);
  expect(await handlers["workflow.list"]?.({})).toEqual({ ok: true, value: [] });
  expect(await handlers["workflow.show"]?.({ id: "r1" })).toMatchObject({ ok: false, error: { code: "unknown" } });
});

test("a log of many sessions is opened in slices: other work runs in between, and progress is reported", async () => {
  const disk = new SimDisk();
  const { log } = await Life.begin(disk);
  const entries = Array.from({ length: 20 }, (_, at) => ({ session: `agents/${at}`, ts: "", event: "e", data: {} }));
  const appended = log.append(entries);
  if (!appended.ok) throw new Error(appended.error.message);
  await appended.value.durable;
  await log.close();
  const heard: HowFar[] = [];
  let turns = 0;
  const clock = hurried(() => {
    turns += 1;
  });
  const again = await EventLog.open({ disk, clock, home: "/h" }, OPTIONS, (so) => heard.push(so));
  await again.close();
  expect(heard).toEqual(Array.from({ length: 20 }, (_, at) => ({ done: at + 1, total: 20 })));
  expect(turns).toBeGreaterThanOrEqual(20);
});
