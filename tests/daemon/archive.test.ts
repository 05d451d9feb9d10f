// The archive of finished sessions, with a crash at every call, and with an index that is damaged or gone.
import { expect, test } from "bun:test";
import { ok } from "../../src/base/result.ts";
import type { WorkflowCommand } from "../../src/core/workflow/commands.ts";
import { type Run, sessionOf, stateOf } from "../../src/core/workflow/run.ts";
import { Archive } from "../../src/daemon/archive.ts";
import { archiveGarbage } from "../../src/daemon/archive-gc.ts";
import { GarbageCollector } from "../../src/daemon/gc.ts";
import type { PartBorder } from "../../src/daemon/part.ts";
import {
  type WorkflowArchive,
  WorkflowStore,
  type Workflows,
  workflowFolding,
} from "../../src/daemon/workflow/store.ts";
import { CheckpointStorage } from "../../src/home/checkpoint-storage.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { LogView } from "../../src/log/inspect.ts";
import { readWorkflow } from "../../src/wire/files/workflow-file.ts";
import { archivedRow, listedIn, listedOf } from "../../src/wire/rpc/listed-run.ts";
import { SimDisk } from "../sim/disk.ts";
import { everyCrash } from "../sim/every-crash.ts";
import { nothing } from "../sim/survive.ts";
import { simWorld } from "../sim/world.ts";
import { foldNow, liveBorder } from "./border.ts";

const HOME = "/h";
const INDEX = `${HOME}/archive/state.jsonl`;
const SHELL = "steps:\n  - id: one\n    shell: x\n";
const [A, B, C, D] = ["a", "b", "c", "d"].map((letter) => letter.repeat(32)) as [string, string, string, string];

let wishes = 0;

function onBug(error: unknown): never {
  throw error;
}

class Life {
  readonly world: ReturnType<typeof simWorld> & { home: string };
  readonly log: EventLog;
  readonly store: WorkflowStore;
  readonly border: PartBorder;
  readonly archive: WorkflowArchive;

  static async begin(disk: SimDisk): Promise<Life> {
    const world = { ...simWorld(1, disk), home: HOME };
    return new Life(world, await EventLog.open(world, { segmentBytes: 64 << 10, ballastBytes: 0 }));
  }

  private constructor(world: Life["world"], log: EventLog) {
    this.world = world;
    this.log = log;
    this.border = liveBorder();
    const ignore = () => undefined;
    this.store = new WorkflowStore(log, world.clock, { publish: ignore, perform: ignore, onBug });
    const storage = new CheckpointStorage(world);
    const folding = workflowFolding(storage, world.clock, ignore);
    expect(foldNow(log, this.store, folding)).toEqual([]);
    const ports = { place: world, log, store: this.store, border: this.border, afterMs: 0, isOff: () => false };
    this.archive = new Archive<Workflows>(ports, {
      folding,
      session: sessionOf,
      over: () => [...this.store.states.values()].filter(({ status }) => "at" in status),
      endedAt: ({ status }) => ("at" in status ? status.at : null),
      isQuiet: () => true,
      row: (run) => (run.removed ? null : archivedRow(listedOf(run))),
      forget: (_, session) => storage.forget(session),
    });
  }

  async submit(command: WorkflowCommand): Promise<Run> {
    const done = await this.store.submit(command);
    if (!done.ok) throw new Error(done.error.message);
    return done.value;
  }

  /** A run that fails. */
  async run(id: string): Promise<void> {
    const definition = readWorkflow(Buffer.from(SHELL), `flow-${id[0]}`);
    if (!definition.ok) throw new Error("the flow is right");
    const place = { path: "/w/f.yml", repo: "w", cwd: "/w", worktree: undefined, environment: {}, parameters: {} };
    await this.submit({ kind: "create", id, ...place, definition: definition.value, sourceSha256: "0" });
    await this.fails(id);
  }

  fails(id: string): Promise<Run> {
    const attempts = this.store.states.get(id)?.attempts;
    const end = { code: 1, signal: null, output: { text: "", bytes: 0 } };
    return this.submit({ kind: "attempt-ended", id, attempt: `${id}.${attempts}`, ...end });
  }

  round(): Promise<void> {
    this.world.clock.advance(1000);
    return this.archive.round();
  }

  /** As a request does it. */
  async resume(id: string): Promise<void> {
    wishes += 1;
    const by = { pid: 1, user: "u", wish: String(wishes) };
    const submit = () => this.store.submit({ kind: "resume", id, force: false, by });
    const done = await this.border.changing("workflow.resume", submit)["workflow.resume"]?.({ id, force: false });
    if (done?.ok !== true) throw new Error(JSON.stringify(done));
    expect(this.store.states.get(id)?.status.kind).toBe("going");
  }

  collect(days: number) {
    const rules = { archiveDays: days, archiveBytes: 1e9 };
    const collector = new GarbageCollector(this.world, rules as never, {
      parts: [{ garbage: (limits) => archiveGarbage(this.world, this.archive.lines(), limits) }],
      collected: () => this.archive.collected(),
      ...{ isOff: () => false, say: () => undefined, onBug },
    });
    return collector.collect(false);
  }

  /** Every run, alive or archived, with its state and its number of attempts; none is in both places. */
  all(): Record<string, string> {
    const listed = [...this.archive.rows()].flatMap(({ row }) => listedIn(row)?.id ?? []);
    const both = listed.filter((id) => this.store.states.has(id));
    expect(both).toEqual([]);
    const alive = [...this.store.states.values()];
    const archived = listed.flatMap((id) => this.archive.look(id) ?? []);
    expect(archived).toHaveLength(listed.length);
    return Object.fromEntries([...alive, ...archived].map((run) => [run.id, `${stateOf(run)} ${run.attempts}`]));
  }

  names(): string[] {
    return this.world.disk.list(`${HOME}/state/w/sessions`).sort();
  }
}

const LIMIT_MS = 300_000;

/** Three runs that are archived, and one that is not. */
async function archived(disk = new SimDisk()): Promise<Life> {
  const life = await Life.begin(disk);
  for (const id of [A, B, C]) await life.run(id);
  await life.log.drain();
  await life.run(D); // Its entries say what is drained.
  await life.round();
  expect(life.names()).toEqual([`_${A}`, `_${B}`, `_${C}`, D]);
  return life;
}

test("an archived run is found by a part of its row, and others are not read for that", async () => {
  const life = await archived();
  const ids = (...texts: string[]) => [...life.archive.rowsWith(texts)].flatMap((row) => listedIn(row)?.id ?? []);
  expect(ids(A.slice(0, 8))).toEqual([A]);
  expect(ids(A, C).sort()).toEqual([A, C]);
  expect(ids("no such run")).toEqual([]);
  expect(ids('"')).toEqual([]); // A quote in a name is written as JSON writes it.
  await life.resume(B);
  expect(ids(B)).toEqual([]);
});

test("AI1 a run that was archived, brought back and archived again by the next daemon is listed as it ended last", async () => {
  const first = await archived();
  await first.resume(B);
  await first.fails(B);
  await first.log.drain();
  await first.submit({ kind: "remove", id: D }); // Its entry says what is drained.
  const next = await Life.begin(first.world.disk.processKill());
  await next.round();
  expect(next.names()).toContain(`_${B}`);
  for (const newest of [true, false]) {
    const rows = [...next.archive.rows(undefined, newest)].flatMap(({ row }) => listedIn(row) ?? []);
    expect(rows.filter(({ id }) => id === B)).toMatchObject([{ resumed: { pid: 1 } }]);
  }
});

/** As pages of one row read them. */
function paged(life: Life, newest: boolean): string[] {
  const found: string[] = [];
  for (let behind: number | undefined; ; ) {
    const [next] = life.archive.rows(behind, newest);
    if (next === undefined) return found;
    found.push(listedIn(next.row)?.id ?? "");
    behind = next.offset;
  }
}

function sessionsBehind(index: string, before: string): readonly string[] | null {
  expect(index.startsWith(before)).toBe(true);
  return index.slice(before.length).match(/state\/[^"]*/g);
}

test("AR5 one that is brought back gets another line if it changed, and none otherwise: what is in the index stays", async () => {
  const first = await archived();
  const lines = (life: Life) => Buffer.from(life.world.disk.peek(INDEX) ?? []).toString();
  const before = lines(first);
  const use = first.border.changing("workflow.interrupt", async () => ok({}))["workflow.interrupt"];
  await use?.({ id: A });
  expect(first.names()).toContain(A);
  await first.resume(B);
  await first.fails(B);
  await first.log.drain();
  await first.submit({ kind: "remove", id: D }); // Its entry says what is drained.
  await first.round();
  expect(first.names()).toEqual([`_${A}`, `_${B}`, `_${C}`, D]);
  const after = lines(first);
  expect(sessionsBehind(after, before)).toEqual([`state/w/sessions/${B}`]);
  for (const newest of [true, false]) expect(paged(first, newest).sort()).toEqual([A, B, C]);
  await use?.({ id: A });
  const next = await Life.begin(first.world.disk.processKill()); // Before it was archived again.
  expect(next.names()).toContain(A);
  await next.round();
  expect(next.names()).toEqual([A, B, C, D].map((id) => `_${id}`));
  expect(sessionsBehind(lines(next), after)).toEqual([`state/w/sessions/${D}`]);
  for (const newest of [true, false]) expect(paged(next, newest).sort()).toEqual([A, B, C]);
});

test("AR5 an index of which most lines no longer count is written anew", async () => {
  const life = await archived();
  for (let time = 0; time < 36; time += 1) {
    for (const id of [A, B, C]) {
      await life.resume(id);
      await life.fails(id);
    }
    await life.log.drain();
    await life.resume(D); // Its entries say what is drained.
    await life.fails(D);
    await life.round();
    expect(life.names()).toContain(`_${B}`);
  }
  const lines = Buffer.from(life.world.disk.peek(INDEX) ?? [])
    .toString()
    .split("\n");
  expect(lines.length).toBeLessThan(30);
  expect(paged(life, true).sort()).toEqual([A, B, C]);
});

test(
  "a crash at every call: each run is alive or archived, never both, never gone, and goes on from where it was",
  async () => {
    let checks = 0;
    const survived = await everyCrash<Record<string, string>>({
      start: new SimDisk(),
      nothingPromised: {},
      takesLong: true,
      live: async (disk, promised) => {
        const life = await Life.begin(disk);
        for (const id of [A, B, C]) {
          await life.run(id);
          promised(life.all());
        }
        await life.log.drain();
        await life.run(D);
        promised(life.all());
        await life.round();
        expect(life.names()).toEqual([`_${A}`, `_${B}`, `_${C}`, D]);
        promised(life.all());
        await life.resume(B);
        await life.fails(B);
        expect(life.names()).toContain(B);
        promised(life.all());
        await life.log.drain();
        await life.resume(A);
        promised(life.all());
        await life.round();
        expect(life.names()).toContain(`_${B}`);
        promised(life.all());
        await life.log.close();
      },
      check: async (disk, promised) => {
        const life = await Life.begin(disk);
        const now = life.all();
        // What was being done when the crash came may have happened: a run may be one event further.
        expect(Object.keys(now)).toEqual(expect.arrayContaining(Object.keys(promised)));
        for (const [id, state] of Object.entries(promised)) {
          const [before = 0, after = 0] = [state, now[id] ?? ""].map((text) => Number(text.split(" ")[1]));
          expect(after).toBeGreaterThanOrEqual(before);
        }
        const view = new LogView(disk, HOME);
        expect(view.inspect().findings.filter(({ kind }) => kind === "damage")).toEqual([]);
        checks += 1;
        if (checks % 2 === 0) await life.round(); // Its sync would hide one that is missing elsewhere.
        for (const id of Object.keys(promised)) {
          if (life.store.states.get(id)?.status.kind === "going") continue;
          await life.resume(id);
        }
        await life.log.close();
        const next = await Life.begin(disk.powerCut(nothing)); // C5: what was acknowledged is durable.
        expect(Object.keys(next.all()).sort()).toEqual(Object.keys(life.all()).sort());
        for (const id of Object.keys(promised)) expect(next.store.states.get(id)?.status.kind).toBe("going");
        await next.log.close();
      },
    });
    expect(survived).toBeGreaterThan(100);
  },
  LIMIT_MS,
);

test("AI2 an index that is gone, or has a damaged line, is written anew from the directories", async () => {
  for (const harm of ["gone", "damaged", "torn"]) {
    const first = await archived();
    const before = first.all();
    await first.log.close();
    const { disk } = first.world;
    const bytes = disk.peek(INDEX) ?? new Uint8Array();
    if (harm === "gone") disk.unlink(INDEX);
    if (harm === "damaged")
      disk.plant(
        INDEX,
        bytes.map((byte, at) => (at === 300 ? byte ^ 1 : byte)),
      );
    if (harm === "torn") disk.plant(INDEX, Buffer.concat([bytes, Buffer.from('{"session":"state/w')]));
    const next = await Life.begin(disk.processKill());
    next.all(); // A damaged line is noticed when it is read.
    await next.round();
    expect([harm, next.all()]).toEqual([harm, before]);
    expect([...next.archive.rows()]).toHaveLength(4);
    await next.log.close();
  }
});

test(
  "AG1 garbage collection removes an archived session as a whole, with a crash at every call",
  async () => {
    const first = await archived();
    await first.log.close();
    await everyCrash<null>({
      start: first.world.disk.processKill(),
      nothingPromised: null,
      takesLong: true,
      live: async (disk) => {
        const life = await Life.begin(disk);
        life.world.clock.jump(400 * 86_400_000);
        expect((await life.collect(365)).items.map(({ what }) => what)).toEqual(Array(3).fill("an archived session"));
        expect(life.names()).toEqual([D]);
        expect([...life.archive.rows()]).toEqual([]);
        await life.log.close();
      },
      check: async (disk) => {
        const life = await Life.begin(disk);
        life.all(); // What is still listed can be shown.
        life.world.clock.jump(400 * 86_400_000);
        expect((await life.collect(365)).failed).toEqual([]);
        expect(life.names()).toEqual([D]);
        await life.run(A); // The id is free again.
        await life.log.close();
      },
    });
  },
  LIMIT_MS,
);

test("C4 a write-ahead log that has entries of an archived run again does not bring it to life", async () => {
  const life = await Life.begin(new SimDisk());
  for (const id of [A, B]) await life.run(id);
  await life.log.drain();
  const wal = life.world.disk
    .list(`${HOME}/wal`)
    .map((name) => [name, life.world.disk.peek(`${HOME}/wal/${name}`) ?? new Uint8Array()] as const);
  await life.run(D);
  await life.round();
  expect(life.names()).toEqual([`_${A}`, `_${B}`, D]);
  const disk = life.world.disk.processKill();
  for (const [name, bytes] of wal) disk.plant(`${HOME}/wal/${name}`, bytes); // As it was before.
  const next = await Life.begin(disk);
  expect(next.names()).toEqual([`_${A}`, `_${B}`, D]);
  await next.resume(A);
  expect(next.all()[B]).toBe("failed 1");
  await next.log.close();
});

test("C5 a run whose return was cut short by a kill is durable under its name before it goes on", async () => {
  const life = await archived();
  await life.log.close();
  const disk = life.world.disk.processKill();
  disk.rename(`${HOME}/state/w/sessions/_${A}`, `${HOME}/state/w/sessions/${A}`); // And nothing synced it.
  const next = await Life.begin(disk);
  await next.resume(A);
  await next.log.drain();
  await next.resume(D); // From here on, the write-ahead log has nothing more of the other.
  const last = await Life.begin(disk.powerCut(nothing));
  expect(last.store.states.get(A)?.status.kind).toBe("going");
  expect(last.names()).toEqual([`_${B}`, `_${C}`, A, D]);
  await last.log.close();
});
