// Old files of the log of a session that goes on are removed (daemon/log-gc.ts): a crash at every call, damage, limits.
import { expect, test } from "bun:test";
import { GarbageCollector } from "../../src/daemon/gc.ts";
import { logsOf } from "../../src/daemon/log-gc.ts";
import { CheckpointStore } from "../../src/log/checkpoint/store.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { LogView } from "../../src/log/inspect.ts";
import { foldWhole } from "../../src/log/session/fold-log.ts";
import { segmentsIn } from "../../src/log/session/log-segments.ts";
import type { Config } from "../../src/wire/files/config-schema.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { everyCrash } from "../sim/every-crash.ts";
import { HOME, SMALL } from "../sim/log/life.ts";
import { simWorld } from "../sim/world.ts";
import { RULES } from "./gc-rules.ts";

const SESSION = "agents/0001";
const DIRECTORY = `${HOME}/${SESSION}`;
const DAY = 86_400_000;

/** A session whose state is the sum of its entries, with its log, its checkpoints and the garbage collection. */
class Summing {
  readonly disk: SimDisk;
  readonly clock: SimClock;
  readonly log: EventLog;

  private constructor(disk: SimDisk, clock: SimClock, log: EventLog) {
    this.disk = disk;
    this.clock = clock;
    this.log = log;
  }

  static async open(disk: SimDisk, clock = new SimClock()): Promise<Summing> {
    return new Summing(disk, clock, await EventLog.open({ disk, clock, home: HOME }, SMALL));
  }

  get store(): CheckpointStore {
    const [path, backup] = [`${DIRECTORY}/checkpoint.json`, `${DIRECTORY}/checkpoint.backup.json`];
    return new CheckpointStore(this.disk, this.clock, {
      ...{ home: HOME, path, keep: { backup }, kind: "sum", version: 1, fold: 1 },
    });
  }

  /** Adds these numbers, a day after the other, each drained at once. */
  async add(...numbers: readonly number[]): Promise<void> {
    for (const number of numbers) {
      const ts = new Date(this.clock.now()).toISOString();
      const added = this.log.append([{ session: SESSION, ts, event: "added", data: number }]);
      if (!added.ok) throw new Error(added.error.message);
      await added.value.durable;
      await this.log.drain();
      this.clock.advance(DAY);
    }
  }

  /** The state, folded as the daemon does. */
  sum(): number | string | undefined {
    const loaded = this.store.load();
    const saved =
      loaded.kind === "loaded" ? { state: Number(loaded.checkpoint.body), seq: loaded.checkpoint.seq } : undefined;
    const eventOf = ({ data }: { data: unknown }) => Number(data);
    const { state, trouble } = foldWhole<number, number>(this.log, SESSION, {
      ...{ saved, eventOf, apply: (before = 0, one) => before + one },
    });
    return trouble ?? state;
  }

  async save(): Promise<void> {
    const saved = await this.store.save(this.sum(), this.log.lastSeq(SESSION));
    if (!saved.ok) throw new Error(saved.error.message);
  }

  async collect(rules: Partial<Config["retention"]>) {
    const place = { ...simWorld(1, this.disk), clock: this.clock, home: HOME };
    const parts = [logsOf(place, this.log, [{ covered: () => this.store.covers() }])];
    const ports = { parts, isOff: () => false, say: () => undefined, onBug: () => undefined };
    return new GarbageCollector(place, { ...RULES, ...rules }, ports).collect(false);
  }

  get segments(): number {
    return segmentsIn(this.disk, DIRECTORY).segments.length;
  }
}

const TEN = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const OLD = { logDays: 3 };

/** Two checkpoints, and much in front of the older one. */
async function checkpointed(disk = new SimDisk()): Promise<Summing> {
  const site = await Summing.open(disk);
  await site.add(...TEN, ...TEN);
  await site.save();
  await site.add(1, 2, 3, 4, 5);
  await site.save();
  await site.add(5, 5);
  return site;
}

test("LG1 LG2 the oldest files go, as far as two checkpoints have them; the rest is whole and folds", async () => {
  const site = await checkpointed();
  const before = site.segments;
  const { items, failed } = await site.collect(OLD);
  expect(failed).toEqual([]);
  expect(items).toMatchObject([{ what: `older lines of a log of ${SESSION}`, reason: "older than 3 days" }]);
  expect(site.segments).toBeLessThan(before);
  const { trimmed } = segmentsIn(site.disk, DIRECTORY);
  expect(trimmed).toBeGreaterThan(10);
  expect(trimmed).toBeLessThanOrEqual(site.store.covers());
  expect(site.sum()).toBe(135);
  const inspection = new LogView(site.disk, HOME).inspect();
  expect(inspection.findings).toEqual([]);
  expect(inspection.sessions).toMatchObject([{ session: SESSION, trimmed, last: 27 }]);
  expect((await site.collect(OLD)).items).toEqual([]); // Nothing is left to remove.
});

test("LG1 a damaged checkpoint: the one before it and the log after it are enough; without both, it is reported", async () => {
  const site = await checkpointed();
  await site.collect(OLD);
  site.disk.plant(`${DIRECTORY}/checkpoint.json`, Buffer.from("{"));
  expect(site.sum()).toBe(135);
  expect((await Summing.open(site.disk.processKill())).sum()).toBe(135);
  const { trimmed } = segmentsIn(site.disk, DIRECTORY);
  await site.add(1);
  expect((await site.collect({ logDays: 1 })).items).toEqual([]); // One good checkpoint is not enough to remove more.
  site.disk.plant(`${DIRECTORY}/checkpoint.backup.json`, Buffer.from("{"));
  expect(site.sum()).toBe(
    `its log begins after ${trimmed}, because of [retention], and no checkpoint of it can be used`,
  );
});

test("nothing goes of a session that was set aside, that has one checkpoint, or whose lines are too new", async () => {
  const site = await checkpointed();
  expect((await site.collect({ logDays: 365 })).items).toEqual([]);
  site.log.freeze(SESSION, "a test");
  expect((await site.collect(OLD)).items).toEqual([]);
  const young = await Summing.open(new SimDisk());
  await young.add(...TEN);
  await young.save();
  await young.add(...TEN);
  expect((await young.collect(OLD)).items).toEqual([]);
});

test("log_bytes bounds what is kept", async () => {
  const site = await checkpointed();
  const { items } = await site.collect({ logBytes: 1_000 });
  expect(items).toMatchObject([{ reason: "more than 1000 bytes of them" }]);
  const kept = segmentsIn(site.disk, DIRECTORY).segments.map(({ path }) => site.disk.stat(path)?.size ?? 0);
  expect(kept.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(1_000);
  expect(site.sum()).toBe(135);
});

test("LG3 a crash at any call of the removal leaves a log that folds to the same, goes on, and is cleaned up", async () => {
  const start = (await checkpointed()).disk.processKill();
  const survived = await everyCrash<undefined>({
    start,
    nothingPromised: undefined,
    takesLong: true,
    live: async (disk) => {
      const clock = new SimClock();
      clock.advance(30 * DAY);
      await (await Summing.open(disk, clock)).collect(OLD);
    },
    check: async (disk) => {
      const clock = new SimClock();
      clock.advance(30 * DAY);
      const site = await Summing.open(disk, clock);
      expect(site.log.report).toMatchObject({ frozen: [], lost: [] });
      expect(site.sum()).toBe(135);
      expect(new LogView(disk, HOME).inspect().findings).toEqual([]);
      await site.add(1, 2);
      await site.collect(OLD);
      const { removed, trimmed } = segmentsIn(disk, DIRECTORY);
      expect(removed).toEqual([]);
      expect(trimmed).toBeGreaterThan(10);
      const later = await Summing.open(disk.processKill());
      expect(later.sum()).toBe(138);
    },
  });
  expect(survived).toBeGreaterThan(50);
});
