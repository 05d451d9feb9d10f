// The store on a simulated disk: nothing is published before it is durable, and one of two racing commands wins.
import { expect, test } from "bun:test";
import type { Result } from "../../src/base/result.ts";
import type { TerminalEvent } from "../../src/core/terminal/events.ts";
import type { Effect, TerminalCommand } from "../../src/core/terminal/terminal.ts";
import { type TerminalHandlerPorts, terminalHandlers } from "../../src/daemon/terminal/handlers.ts";
import { TERMINAL_FOLDING, TerminalStore } from "../../src/daemon/terminal/store.ts";
import { EventLog } from "../../src/log/event-log.ts";
import type { LogOptions } from "../../src/log/log-options.ts";
import { foldNow, readBorder } from "../daemon/border.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { SimRandom } from "../sim/random.ts";
import { nothing, randomSurvivor } from "../sim/survive.ts";

const SMALL: Partial<LogOptions> = { segmentBytes: 64 << 10, ballastBytes: 0 };

class Site {
  readonly clock = new SimClock();
  readonly published: string[] = [];
  readonly performed: string[] = [];
  readonly broken: unknown[] = [];
  readonly disk: SimDisk;
  readonly log: EventLog;
  readonly store: TerminalStore;

  private constructor(disk: SimDisk, clock: SimClock, log: EventLog) {
    this.disk = disk;
    this.clock = clock;
    this.log = log;
    this.store = new TerminalStore(log, clock, {
      publish: ({ event, id }: TerminalEvent) => void this.published.push(`${event} ${id}`),
      perform: ({ kind, id }: Effect) => void this.performed.push(`${kind} ${id}`),
      onBug: (error) => void this.broken.push(error),
    });
  }

  /** A new life on a disk: everything durable is folded. */
  static async begin(disk = new SimDisk(), options = SMALL): Promise<Site> {
    const clock = new SimClock();
    const site = new Site(disk, clock, await EventLog.open({ disk, clock, home: "/h" }, options));
    expect(foldNow(site.log, site.store, TERMINAL_FOLDING)).toEqual([]);
    return site;
  }

  names(): string[] {
    return [...this.store.terminals.values()].map(({ name }) => name).sort();
  }
}

function create(id: string, name = id): TerminalCommand {
  const recipe = { argv: ["sh"], cwd: "/", env: {}, size: { cols: 80, rows: 24 } };
  return { kind: "create", id, name, lane: "default", recipe };
}

test("one of two commands that race for a name wins, in either order", async () => {
  const { store } = await Site.begin();
  const answers = await Promise.all([store.submit(create("a", "one")), store.submit(create("b", "one"))]);
  expect(answers.map((answer) => (answer.ok ? answer.value.id : answer.error.code))).toEqual(["a", "name-taken"]);
  expect([...store.terminals.keys()]).toEqual(["a"]);
});

test("what is acknowledged survives a power cut at that very moment, and so does everything before it", async () => {
  for (let seed = 1; seed <= 10; seed += 1) {
    const random = new SimRandom(seed);
    const site = await Site.begin();
    const cuts: { readonly disk: SimDisk; readonly acknowledged: readonly string[] }[] = [];
    const acknowledged: string[] = [];
    const asked = Array.from({ length: 20 }, async (_, n) => {
      for (let turns = random.int(4); turns > 0; turns -= 1) await site.clock.settle();
      const answer = await site.store.submit(create(`t${n}`));
      if (answer.ok) acknowledged.push(answer.value.id);
      cuts.push({ disk: site.disk.fork(), acknowledged: [...acknowledged] });
    });
    await Promise.all(asked);
    for (const { disk, acknowledged: promised } of cuts) {
      for (const choose of [nothing, randomSurvivor(random)]) {
        const next = await Site.begin(disk.powerCut(choose));
        expect(promised.filter((id) => !next.store.terminals.has(id))).toEqual([]);
        expect((await next.store.submit(create("later"))).ok).toBe(true); // A second life.
      }
    }
  }
});

test("nothing is published before it is durable: no answer, no refusal, no notice, no effect", async () => {
  const site = await Site.begin();
  const told: string[] = [];
  const beforeSync: unknown[] = [];
  site.disk.onCall = ({ operation }) => {
    if (operation.startsWith("datasync")) beforeSync.push([...told, ...site.published, ...site.performed]);
  };
  const ask = async (what: string, command: TerminalCommand) => {
    const answer = await site.store.submit(command);
    told.push(`${what}: ${answer.ok ? "yes" : answer.error.code}`);
  };
  const asked = [
    ask("new", create("a", "one")),
    ask("taken", create("b", "one")),
    ask("same", { kind: "rename", id: "a", name: "one" }),
    ask("unknown", { kind: "remove", id: "nobody" }),
  ];
  await Promise.all(asked);
  expect(beforeSync).toEqual([[]]);
  expect(told.sort()).toEqual(["new: yes", "same: yes", "taken: name-taken", "unknown: unknown"]);
  expect(site.published).toEqual(["terminal.created a"]);
  expect(site.performed).toContain("start a");
});

test("a blocked log refuses, and nothing is applied, published or performed", async () => {
  const site = await Site.begin(new SimDisk(), { ...SMALL, segmentBytes: 8192, maxSegments: 2 });
  const acknowledged: string[] = [];
  let refusal = "";
  site.disk.capacity = 0;
  for (let n = 0; refusal === "" && n < 200; n += 1) {
    const answer = await site.store.submit(create(`t${n}`));
    if (answer.ok) acknowledged.push(answer.value.id);
    else refusal = answer.error.code;
  }
  expect(refusal).toBe("log.blocked");
  expect(site.broken).toEqual([]);
  expect(site.names()).toEqual(acknowledged.toSorted());
  const before = [site.published.length, site.performed.length];
  expect(await site.store.submit(create("more"))).toMatchObject({ ok: false, error: { code: "log.blocked" } });
  expect([site.published.length, site.performed.length]).toEqual(before);
  site.disk.capacity = Number.POSITIVE_INFINITY;
  site.clock.advance(2000);
  expect((await site.store.submit(create("more"))).ok).toBe(true);
  const next = await Site.begin(site.disk.powerCut(nothing));
  expect(next.names()).toEqual([...acknowledged, "more"].sort());
});

test("if the disk refuses a batch of decisions, all of it is rolled back, including what was built on it", async () => {
  const site = await Site.begin();
  await site.store.submit(create("old"));
  const noRoomOnce = { operation: "write", left: 1 };
  site.disk.fault = ({ operation }) =>
    operation === noRoomOnce.operation && noRoomOnce.left-- > 0 ? { kind: "fail", code: "ENOSPC" } : undefined;
  const before = site.published.length;
  const answers = await Promise.all([
    site.store.submit(create("a")),
    site.store.submit({ kind: "rename", id: "a", name: "b" }),
    site.store.submit({ kind: "rename", id: "old", name: "new" }),
    site.store.submit({ kind: "rename", id: "old", name: "newer" }),
    site.store.submit(create("c", "newer")),
    site.store.submit({ kind: "remove", id: "a" }),
  ]);
  expect(answers.map((answer) => (answer.ok ? "yes" : answer.error.code))).toEqual([
    "log.blocked",
    "log.blocked",
    "log.blocked",
    "log.blocked",
    "log.blocked", // It was refused for a name that is free after all.
    "unknown",
  ]);
  expect(site.names()).toEqual(["old"]);
  expect({ broken: site.broken, published: site.published.length }).toEqual({ broken: [], published: before });
  site.disk.fault = undefined;
  site.clock.advance(2000);
  expect((await site.store.submit(create("a"))).ok).toBe(true);
  expect((await Site.begin(site.disk.powerCut(nothing))).names()).toEqual(["a", "old"]);
});

test("a failed sync ends this daemon: nothing is answered, and the next one reads the disk", async () => {
  const site = await Site.begin();
  await site.store.submit(create("old"));
  site.disk.fault = ({ operation }) => (operation.includes("sync") ? { kind: "fail", code: "EIO" } : undefined);
  const before = [site.published.length, site.performed.length];
  expect(site.store.submit(create("a"))).rejects.toThrow("EIO");
  expect(site.store.submit(create("b", "a"))).rejects.toThrow("EIO"); // Its refusal depends on what was lost.
  for (let i = 0; i < 10; i += 1) await site.clock.settle();
  expect(site.broken.length).toBeGreaterThan(0);
  expect([site.published.length, site.performed.length]).toEqual(before);
  expect(await site.store.submit(create("c"))).toMatchObject({ ok: false, error: { code: "log.stopped" } });
  expect((await Site.begin(site.disk.powerCut(nothing))).names()).toContain("old");
});

test("more than the log accepts at once waits and is not refused", async () => {
  const site = await Site.begin(new SimDisk(), { ...SMALL, maxQueuedBytes: 2048 });
  const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => site.store.submit(create(`t${n}`))));
  expect(answers.every(({ ok }) => ok)).toBe(true);
  expect(site.store.terminals.size).toBe(100);
});

test("a repeated command changes nothing, but unfinished work is done again", async () => {
  const site = await Site.begin();
  await site.store.submit(create("a"));
  const started: TerminalCommand = {
    kind: "started",
    id: "a",
    child: { pid: 1, startTime: 2, bootId: "b" },
    holder: 3,
  };
  await site.store.submit(started);
  await site.store.submit({ kind: "signal", id: "a", signal: "SIGINT" });
  expect(site.performed).toEqual(["start a", "signal a"]);
  const seq = site.log.durable;
  await site.store.submit(started); // As after a lost line.
  expect(site.log.durable).toBe(seq);
  expect(site.performed).toEqual(["start a", "signal a", "signal a"]);
  await site.store.submit({ kind: "signalled", id: "a" });
  await site.store.submit(started);
  expect(site.performed.length).toBe(3);
});

test("terminals are shown only as far as they are durable: a decision appears in no answer before its sync completes", async () => {
  const { disk, clock, store } = await Site.begin();
  const handlers = terminalHandlers({
    store,
    border: await readBorder(),
    holders: { trouble: () => undefined, connections: {} },
  } as unknown as TerminalHandlerPorts);
  const shown = async () => {
    const listed = (await handlers["terminal.list"]?.({})) as Result<{ name: string }[]>;
    return listed.ok ? listed.value.map(({ name }) => name) : listed.error;
  };
  // Makes the next syncs take long.
  disk.onCall = ({ operation }) => void (operation === "datasyncBlocking" && clock.advance(50));
  await store.submit(create("a"));
  const sync = Promise.withResolvers<void>();
  disk.gate = () => sync.promise;
  const changes = [
    store.submit(create("b")),
    store.submit({ kind: "rename", id: "a", name: "other" }),
    store.submit({ kind: "rename", id: "b", name: "last" }),
  ];
  await clock.settle();
  expect([...store.terminals.values()].map(({ name }) => name)).toEqual(["other", "last"]);
  expect(await shown()).toEqual(["a"]);
  sync.resolve();
  await Promise.all(changes);
  expect(await shown()).toEqual(["other", "last"]);
});
