// What `gc` removes of agents, and what it must never touch; also with a power cut in the middle.
import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RULE_BOOK } from "../../src/core/agent/agent.ts";
import type { AgentCommand } from "../../src/core/agent/commands.ts";
import { orphanedSessions } from "../../src/core/agent/tree.ts";
import { AgentArchive } from "../../src/daemon/agent/archive.ts";
import { AgentCheckpoints } from "../../src/daemon/agent/checkpoints.ts";
import { forgetAgents } from "../../src/daemon/agent/forget.ts";
import { agentGarbage } from "../../src/daemon/agent/gc.ts";
import { SessionRecords } from "../../src/daemon/agent/records.ts";
import { AgentStore, agentFolding } from "../../src/daemon/agent/store.ts";
import { GarbageCollector, type Work } from "../../src/daemon/gc.ts";
import { EventLog } from "../../src/log/event-log.ts";
import type { Config } from "../../src/wire/files/config-schema.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { foldNow, liveBorder } from "../daemon/border.ts";
import { SimDisk } from "../sim/disk.ts";
import { everyCrash } from "../sim/every-crash.ts";
import { simWorld } from "../sim/world.ts";
import { AROUND, CHILD, planFor } from "./house.ts";

const HOME = "/h";
const DAY = 86_400_000;
const RULES: Config["retention"] = {
  ...{ removedDays: 1, endedDays: 30, tapeBytes: 0, runDays: 30, runBytes: 0, agentDays: 30, agentBytes: 1_000_000 },
  ...{ reportDays: 90, reports: 50, quarantineDays: 90, quarantineBytes: 1_000_000, histories: 2 },
  ...{ archiveAfterMin: 60, archiveDays: 365, archiveBytes: 1_000_000_000, logDays: 365, logBytes: 1_000_000_000 },
};
const [ROOT, KID, GRANDCHILD, OTHER] = ["a", "b", "c", "d"].map((letter) => letter.repeat(32)) as [
  string,
  string,
  string,
  string,
];

function onBug(error: unknown): never {
  throw error;
}

class Life {
  readonly world: ReturnType<typeof simWorld> & { home: string };
  readonly log: EventLog;
  readonly store: AgentStore;
  readonly #checkpoints: AgentCheckpoints;
  readonly #records: SessionRecords;
  readonly archive: AgentArchive;
  /** That of every agent. */
  clone: Work | undefined;

  static async begin(disk: SimDisk): Promise<Life> {
    const world = { ...simWorld(1, disk), home: HOME };
    const life = new Life(world, await EventLog.open(world, { segmentBytes: 64 << 10, ballastBytes: 0 }));
    expect(foldNow(life.log, life.store, agentFolding(life.#checkpoints))).toEqual([]);
    expect(life.log.report.frozen).toEqual([]);
    return life;
  }

  private constructor(world: Life["world"], log: EventLog) {
    this.world = world;
    this.log = log;
    const nothing = () => undefined;
    this.store = new AgentStore(log, world.clock, () => AROUND, {
      publish: nothing,
      perform: nothing,
      onBug,
    });
    this.#checkpoints = new AgentCheckpoints(world, { isOff: () => true, say: nothing });
    this.#records = new SessionRecords(world, onBug);
    this.archive = new AgentArchive({
      ...{ place: world, log, store: this.store, border: liveBorder(), afterMs: 0, isOff: () => false },
      ...{ checkpoints: this.#checkpoints, records: this.#records, isQuiet: () => true },
    });
  }

  async submit(command: AgentCommand): Promise<void> {
    const done = await this.store.submit(command);
    if (!done.ok) throw new Error(done.error.message);
  }

  /** An agent with files beside its log. */
  async create(id: string, parent?: string): Promise<void> {
    const wish = { id, name: id.slice(0, 4), parent, instructions: "", plan: planFor("scripted"), settings: {} };
    await this.submit({ kind: "create", ...wish });
    const names = [
      "session.json",
      "poison.json",
      "checkpoint.json",
      "processes/1/claim.json",
      `processes/1/tape/${"0".repeat(16)}.seg`,
    ];
    for (const name of names) this.plant(`agents/${id}/${name}`);
    this.plant(`run/a${id.slice(0, 12)}-1.sock`);
  }

  terminate(id: string): Promise<void> {
    return this.submit({ kind: "terminate", id, reason: "enough" });
  }

  send(id: string): Promise<void> {
    return this.submit({
      kind: "send",
      id,
      message: `${this.log.durable}`.padStart(32, "0"),
      payload: "x",
      replyTo: undefined,
    });
  }

  plant(path: string): void {
    this.world.disk.plant(`${HOME}/${path}`, Buffer.alloc(100, 120));
  }

  files(path: string): string[] {
    return this.world.disk.list(`${HOME}/${path}`).sort();
  }

  /** Those of agents. */
  directories(): string[] {
    return this.files("agents").filter((name) => name !== RULE_BOOK);
  }

  /** Whether they have ended, by name. */
  agents() {
    return [...this.store.agents()].map(({ name, terminated }) => [name, terminated !== undefined]);
  }

  collect(dryRun = false) {
    const parts = { log: this.log, store: this.store, records: this.#records, checkpoints: this.#checkpoints };
    const forget = (ids: readonly string[]) => forgetAgents(parts, ids);
    const agents = { agents: () => this.store.agents(), archive: this.archive };
    const collector = new GarbageCollector(this.world, RULES, {
      parts: [
        { garbage: (limits) => agentGarbage(this.world, { ...agents, forget, clone: () => this.clone }, limits) },
      ],
      ...{ isOff: () => false, say: () => undefined, onBug },
    });
    return collector.collect(dryRun);
  }
}

test("an agent is removed with its log a month after it and all its descendants were terminated; any that can continue stay, and come back", async () => {
  const disk = new SimDisk();
  const life = await Life.begin(disk);
  await life.create(ROOT);
  await life.create(KID, ROOT);
  await life.create(GRANDCHILD, KID);
  await life.create(OTHER);
  await life.terminate(KID);
  life.world.clock.jump(20 * DAY);
  expect((await life.collect()).items).toEqual([]);
  life.world.clock.jump(20 * DAY);
  await life.terminate(OTHER); // Just now.
  life.plant(`agents/${GRANDCHILD}/mine.txt`);
  const dry = await life.collect(true);
  expect(life.files(`agents/${KID}`)).toContain("session.json");
  const { items, failed } = await life.collect();
  expect(items).toEqual(dry.items);
  expect(items.map(({ what, reason }) => [what, reason])).toEqual([
    ["an agent that was terminated", "older than 30 days"],
    ["an agent that was terminated", "older than 30 days"],
  ]);
  expect(failed).toEqual([]);
  expect(life.directories()).toEqual([ROOT, GRANDCHILD, OTHER]);
  expect(life.files(`agents/${GRANDCHILD}`)).toEqual(["mine.txt"]); // Files that are not ours stay.
  expect(life.files("run")).toEqual([ROOT, OTHER].map((id) => `a${id.slice(0, 12)}-1.sock`));
  expect(life.agents()).toEqual([
    ["aaaa", false],
    ["dddd", true],
  ]);
  expect((await life.collect()).items).toEqual([]);
  await life.log.close();
  const next = await Life.begin(disk);
  expect(next.agents()).toEqual([
    ["aaaa", false],
    ["dddd", true],
  ]);
  expect(orphanedSessions(next.store.states)).toEqual({ orphans: [], dangling: [] });
  await next.send(ROOT);
  await next.create(KID, ROOT);
  expect(next.store.tree.childrenOf(ROOT)).toEqual([KID]);
  await next.log.close();
});

test("GA2 a symbolic link among an agent's files is removed, and nothing behind it", async () => {
  const home = mkdtempSync(join(tmpdir(), "holdfast-gc-"));
  const life = await Life.begin(new SimDisk());
  await life.create(ROOT);
  await life.terminate(ROOT);
  life.world.clock.jump(40 * DAY);
  mkdirSync(join(home, "mine"));
  for (const name of ["claim.json", "0000000000000000.seg"]) writeFileSync(join(home, "mine", name), "mine");
  mkdirSync(join(home, `agents/${ROOT}/processes/1`), { recursive: true });
  symlinkSync(join(home, "mine"), join(home, `agents/${ROOT}/processes/1/tape`));
  symlinkSync(join(home, "mine"), join(home, `agents/${ROOT}/processes/2`));
  const place = { ...life.world, disk: realDisk(), home };
  const forget = async (ids: readonly string[]) => new Set(ids);
  const agents = { agents: () => life.store.agents(), archive: life.archive, forget, clone: () => undefined };
  const parts = [{ garbage: (limits: Config["retention"]) => agentGarbage(place, agents, limits) }];
  const ports = { parts, isOff: () => false, say: () => undefined, onBug };
  expect((await new GarbageCollector(place, RULES, ports).collect(false)).failed).toEqual([]);
  expect([readdirSync(join(home, "agents")), readdirSync(join(home, "mine")).length]).toEqual([[], 2]);
  rmSync(home, { recursive: true });
  await life.log.close();
});

test("GC7 an agent whose clone holds work stays with all of its files; otherwise the clone goes before them", async () => {
  const life = await Life.begin(new SimDisk());
  await life.create(ROOT);
  await life.terminate(ROOT);
  life.world.clock.jump(40 * DAY);
  const removed: number[] = [];
  const remove = async () => void removed.push(life.files(`agents/${ROOT}`).length);
  life.clone = { what: "its clone", look: async () => ({ kept: "fetch it" }), remove: async () => "not asked for" };
  for (const dryRun of [true, false])
    expect(await life.collect(dryRun)).toEqual({ dryRun, bytes: 0, items: [], failed: [], kept: ["fetch it"] });
  expect([life.agents(), life.files(`agents/${ROOT}`).includes("session.json")]).toEqual([[["aaaa", true]], true]);
  life.clone = { what: "its clone", look: async () => ({ bytes: 4096 }), remove: async () => "it is busy" };
  const { items, bytes } = await life.collect(true);
  expect([items[0]?.what, bytes > 4096]).toEqual(["an agent that was terminated, and its clone", true]);
  life.clone = { ...life.clone, remove };
  expect(await life.collect()).toMatchObject({ items: [{ bytes }], failed: [], kept: [] });
  expect([removed.length, (removed[0] ?? 0) > 3, life.directories()]).toEqual([1, true, []]);
  await life.log.close();
});

test("an agent with a living descendant or process is not over", async () => {
  const life = await Life.begin(new SimDisk());
  await life.create(ROOT);
  await life.send(ROOT);
  await life.submit({ kind: "started", id: ROOT, generation: 1, child: CHILD, holder: 8 });
  await life.terminate(ROOT);
  await life.create(KID);
  await life.create(GRANDCHILD, KID);
  await life.terminate(KID);
  const grandchild = life.store.agent(GRANDCHILD);
  // As one that dangles.
  if (grandchild !== undefined) life.store.put(GRANDCHILD, { ...grandchild, terminated: undefined });
  life.world.clock.jump(400 * DAY);
  expect((await life.collect()).items).toEqual([]);
  expect(life.files(`agents/${KID}`)).toContain("session.json");
  await life.log.close();
});

test("a crash or power cut at any call leaves a terminated agent complete or nothing that matters, and the next round finishes", async () => {
  const start = new SimDisk();
  const first = await Life.begin(start);
  await first.create(ROOT);
  await first.create(KID, ROOT);
  await first.log.close();
  const end = async (life: Life) => {
    if (life.store.agent(KID)?.terminated === undefined && life.store.agent(KID) !== undefined)
      await life.terminate(KID);
    life.world.clock.jump(400 * DAY);
    expect((await life.collect()).failed).toEqual([]);
  };
  const survived = await everyCrash<undefined>({
    start,
    nothingPromised: undefined,
    randomEndings: 4,
    takesLong: true,
    live: async (disk) => {
      const life = await Life.begin(disk);
      await end(life); // What it was terminated with is still in the write-ahead log.
    },
    check: async (disk) => {
      const life = await Life.begin(disk);
      await end(life);
      expect(life.directories()).toEqual([ROOT]);
      expect(life.agents()).toEqual([["aaaa", false]]);
      await life.send(ROOT); // A second life, and it writes.
      await life.log.close();
      const last = await Life.begin(disk);
      expect(last.agents()).toEqual([["aaaa", false]]);
      await last.log.close();
    },
  });
  expect(survived).toBeGreaterThan(50);
});

test("the log releases a session only when no recovery would restore a line of it into a removed file", async () => {
  const disk = new SimDisk();
  const { log } = await Life.begin(disk);
  const write = async (session: string) => {
    const ticket = log.append([{ session, ts: "", event: "tested", data: {} }]);
    if (ticket.ok) await ticket.value.durable;
  };
  await write("agents/a");
  await write("agents/a");
  expect(log.release("agents/a")).toBe(false);
  await log.drain();
  expect(log.release("agents/a")).toBe(false); // Nothing on disk shows that it is drained.
  await write("agents/b");
  expect(log.release("agents/a")).toBe(true);
  disk.unlink(`${HOME}/agents/a/events.jsonl`);
  const world = { ...simWorld(1, disk.processKill()), home: HOME };
  const next = await EventLog.open(world, { segmentBytes: 64 << 10, ballastBytes: 0 });
  expect([next.sessions, next.report.frozen, next.report.lost]).toEqual([["agents/b"], [], []]);
  await next.close();
});
