// A session whose log does not fold is set aside; all others come up.
import { describe, expect, test } from "bun:test";
import { foldSessions } from "../../src/daemon/fold.ts";
import { terminalStages } from "../../src/daemon/terminal/recovery.ts";
import { TERMINAL_FOLDING, TerminalStore } from "../../src/daemon/terminal/store.ts";
import { EventLog } from "../../src/log/event-log.ts";
import type { NewEntry } from "../../src/log/session/entry.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { simWorld } from "../sim/world.ts";
import { foldNow, liveBorder } from "./border.ts";

const SIZE = { cols: 80, rows: 24 };

function entry(id: string, event: string, data: NewEntry["data"]): NewEntry {
  return { session: `terminals/${id}`, ts: "2026-01-01T00:00:00.000Z", event, data };
}

function created(id: string): NewEntry {
  const data = { name: `name-${id}`, lane: "l", argv: ["sh"], cwd: "/", env: {}, size: SIZE, generation: 1, at: "" };
  return entry(id, "terminal.created", data);
}

async function open(disk: SimDisk): Promise<EventLog> {
  return EventLog.open({ disk, clock: new SimClock(), home: "/h" }, { segmentBytes: 64 << 10, ballastBytes: 0 });
}

async function write(disk: SimDisk, entries: readonly NewEntry[]): Promise<void> {
  const log = await open(disk);
  const ticket = log.append(entries);
  if (ticket.ok) await ticket.value.durable;
  await log.close();
}

function turnOf(log: EventLog): TerminalStore {
  return new TerminalStore(log, new SimClock(), {
    publish: () => undefined,
    perform: () => undefined,
    onBug: (error) => {
      throw error;
    },
  });
}

test("a session whose events do not fold is frozen and named; the others come up", async () => {
  const disk = new SimDisk();
  await write(disk, [
    created("a"),
    entry("b", "terminal.renamed", { name: "x" }), // Never created.
    created("c"),
    entry("c", "terminal.started", { pid: 1 }), // Fields are missing.
    created("d"),
    entry("d", "terminal.painted", { colour: "red" }), // Of a newer version.
    { ...created("e"), session: "agents/e" }, // Not one of ours to fold.
  ]);
  const log = await open(disk);
  const store = turnOf(log);
  const items = foldNow(log, store, TERMINAL_FOLDING);
  expect(items.map(({ id, name, fate }) => [id, name, fate]).sort()).toEqual([
    ["b", "b", "needs you"],
    ["c", "name-c", "needs you"],
  ]);
  expect(items.find(({ id }) => id === "c")).toMatchObject({
    reason: "its events do not fold: terminal.started of c has no start_time",
    next: "holdfast recovery skip c",
  });
  expect([...store.terminals].map(([id, { state }]) => [id, state.kind]).sort()).toEqual([
    ["a", "starting"],
    ["c", "uncertain"],
    ["d", "starting"],
  ]);
  for (const id of ["b", "c"]) {
    expect(log.append([entry(id, "terminal.renamed", { name: "y" })])).toMatchObject({ error: { code: "log.frozen" } });
  }
  expect((await store.submit({ kind: "rename", id: "a", name: "other" })).ok).toBe(true);
});

test("nothing is done for a session that was set aside: no start, no orphans stopped, even if part of it folded", async () => {
  const disk = new SimDisk();
  await write(disk, [created("a"), created("c"), entry("c", "terminal.ended", {})]);
  const log = await open(disk);
  const store = turnOf(log);
  const setAside = foldNow(log, store, TERMINAL_FOLDING);
  const performed: string[] = [];
  const looked: string[] = [];
  const searched: string[] = [];
  const work = terminalStages({
    place: { ...simWorld(1, disk), home: "/h" },
    store,
    holders: {
      perform: ({ id }: { id: string }) => void performed.push(id),
      settled: async () => undefined,
      livesOn: () => undefined,
      look: async ({ id }: { id: string }) => {
        looked.push(id);
        return { kind: "unstarted" };
      },
    } as unknown as Parameters<typeof terminalStages>[0]["holders"],
    border: liveBorder(),
    boot: () => "",
    isAside: (id) => setAside.some((item) => item.id === id),
    orphans: async (terminals) => {
      searched.push(...terminals.map(({ id }) => id));
      return [];
    },
    prepare: async () => undefined,
    restore: async ({ id, name }, reason) => ({ what: "terminal", id, name, fate: "restarted", reason, next: "" }),
    untold: () => undefined,
    waiting: ({ id, name }) => ({ what: "terminal", id, name, fate: "needs you", reason: "", next: "" }),
    progressed: () => undefined,
  });
  expect(setAside).toMatchObject([{ id: "c", fate: "needs you" }]);
  await work.RESTORING(() => undefined);
  await work.RECONCILING(() => undefined);
  expect({ performed, looked, searched }).toEqual({ performed: ["a", "a"], looked: ["a"], searched: ["a", "a"] });
});

test("a bad byte in the middle of one session's log freezes only that session", async () => {
  const disk = new SimDisk();
  await write(disk, [created("a"), created("c"), entry("c", "terminal.renamed", { name: "x" }), created("d")]);
  const lines = new TextDecoder().decode(disk.peek("/h/terminals/c/events.jsonl"));
  disk.rot("/h/terminals/c/events.jsonl", lines.indexOf("name-c"), 1);
  const log = await open(disk);
  const store = turnOf(log);
  expect(foldNow(log, store, TERMINAL_FOLDING)).toMatchObject([{ id: "c", fate: "needs you" }]);
  expect([...store.terminals.keys()].sort()).toEqual(["a", "d"]);
});

describe("one session cannot be read for a moment", () => {
  const PASSING = ["EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "EINTR", "EIO", "ESTALE"];

  /** Folds the sessions a, b and c, while `isRefused` says when b cannot be opened. */
  async function fold(code: string, isRefused: (time: number) => boolean) {
    const disk = new SimDisk();
    await write(disk, [created("a"), created("b"), created("c")]);
    const log = await open(disk);
    const [store, clock] = [turnOf(log), new SimClock()];
    disk.fault = ({ operation, path }) =>
      operation === "open" && path.includes("/b/") && isRefused(clock.elapsed()) ? { kind: "fail", code } : undefined;
    const heard: object[] = [];
    const steps = foldSessions({ border: liveBorder(), log, store }, TERMINAL_FOLDING);
    const items = await settledBy(
      clock,
      liveBorder().foldAll(clock, steps, (so) => heard.push(so)),
    );
    return { log, store, items, heard, tookMs: clock.elapsed() };
  }

  /** Moves the clock from timer to timer. */
  async function settledBy<T>(clock: SimClock, work: Promise<T>): Promise<T> {
    let over = false;
    const done = work.finally(() => {
      over = true;
    });
    for (await clock.settle(); !over; await clock.settle()) clock.advance((clock.nextTimer ?? 0) - clock.elapsed());
    return done;
  }

  test.each(PASSING)("%s: it is read again after a pause, and nothing is set aside", async (code) => {
    const { log, store, items, heard, tookMs } = await fold(code, (time) => time < 400);
    expect(items).toEqual([]);
    expect([...store.terminals.keys()].sort()).toEqual(["a", "b", "c"]);
    expect(log.frozen("terminals/b")).toBeUndefined();
    expect(heard.at(-1)).toEqual({ what: "sessions", done: 2, total: 3 }); // The others did not wait for it.
    expect(tookMs).toBeGreaterThanOrEqual(400);
    expect(tookMs).toBeLessThan(2_000);
  });

  test("if it does not pass, only that session is set aside, with the reason and what to do", async () => {
    const { log, store, items, tookMs } = await fold("EMFILE", () => true);
    expect(items).toEqual([
      {
        ...{ what: "terminal", id: "b", name: "b", fate: "needs you", next: "holdfast down && holdfast up" },
        reason:
          "its log could not be read: open /h/terminals/b/events.jsonl: EMFILE. Too many open files. " +
          "Raise the limit (ulimit -n), then try again.",
      },
    ]);
    expect([...store.terminals.keys()].sort()).toEqual(["a", "c"]);
    expect(log.frozen("terminals/b")).toContain("EMFILE");
    expect(tookMs).toBeLessThan(10_000);
  });

  test("what does not pass is not asked again: it is set aside at once", async () => {
    const { items, tookMs } = await fold("EACCES", () => true);
    expect(items).toMatchObject([{ id: "b", next: "holdfast log verify b" }]);
    expect(tookMs).toBe(0);
  });
});
