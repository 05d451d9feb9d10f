// PB2 of part.ts: what the code of one session throws stays with that session. The kind of sessions here counts, and
// fails when it is told to.
import { expect, test } from "bun:test";
import { Fault } from "../../src/base/fault.ts";
import type { Json } from "../../src/base/json.ts";
import { ok } from "../../src/base/result.ts";
import { decisionOf } from "../../src/core/decision.ts";
import { LostHome } from "../../src/daemon/fleet/lost-home.ts";
import { type Folding, foldSessions } from "../../src/daemon/fold.ts";
import { PartBorder } from "../../src/daemon/part.ts";
import { type Decider, SessionStore } from "../../src/daemon/session-store.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { everything, nothing } from "../sim/survive.ts";

type Counter = { readonly id: string; readonly sum: number; readonly over: boolean; readonly aside?: string };
type Command = { readonly id: string; readonly kind: "add" | "end"; readonly data?: Json; readonly also?: string };
type Counted = { readonly event: "added" | "ended"; readonly id: string; readonly data: Json };
type Counters = { state: Counter; command: Command; event: Counted; effect: { readonly id: string } };

const BAD = "poison";

function apply(before: Counter | undefined, { id, event, data }: Counted): Counter {
  if (data === BAD && !Life.upgraded) throw new Error("cannot apply");
  const counter = before ?? { id, sum: 0, over: false };
  return event === "ended" ? { ...counter, over: true } : { ...counter, sum: counter.sum + 1 };
}

const FOLDING: Folding<Counters> = {
  place: "terminals/",
  what: "counter",
  eventOf: ({ event, data, session_id: id }) => ({ event: event === "ended" ? event : "added", id, data }),
  nameOf: ({ id }) => `counter ${id}`,
  aside: (counter, aside) => ({ ...counter, aside }),
  ends: ({ event }) => event === "ended",
};

/** One life of a daemon with counters. */
class Life {
  /** Whether this version can apply what an earlier one could not. */
  static upgraded = false;
  readonly bugs: unknown[] = [];
  readonly said: string[] = [];
  readonly undone: string[] = [];
  readonly performed: string[] = [];
  readonly log: EventLog;
  readonly store: SessionStore<Counters>;
  readonly border = new PartBorder(
    { isLive: () => true, onBug: (bug) => void this.bugs.push(bug), say: (words) => void this.said.push(words) },
    "counters",
  );

  private constructor(log: EventLog, clock: SimClock) {
    this.log = log;
    const rules: Decider<Counters> = {
      session: (_, { id }) => `terminals/${id}`,
      decide: (states, { id, kind, data = null, also }, _at) => {
        const event = kind === "end" ? "ended" : "added";
        const events: Counted[] = [id, ...(also === undefined ? [] : [also])].map((one) => ({ event, id: one, data }));
        return ok({ ...decisionOf(states, events, apply), undo: () => void this.undone.push(id) });
      },
      apply,
      effectsOf: ({ id, sum }) => (sum > 8 ? fail("cannot derive effects") : [{ id }]),
      isOver: ({ over }) => over,
      since: () => "",
    };
    const perform = ({ id }: { readonly id: string }) => {
      if (id.startsWith("bad")) throw new Error("cannot perform");
      this.performed.push(id);
    };
    this.store = new SessionStore(rules, log, clock, this.border.hooks({ publish: () => undefined, perform }));
  }

  static async begin(disk: SimDisk) {
    const clock = new SimClock();
    const log = await EventLog.open({ disk, clock, home: "/h" }, { segmentBytes: 64 << 10, ballastBytes: 0 });
    const life = new Life(log, clock);
    const { border, store } = life;
    const items = await border.foldAll(clock, foldSessions({ border, log, store }, FOLDING), () => undefined);
    return Object.assign(life, { items });
  }

  add(id: string, more: Partial<Command> = {}) {
    return this.store.submit({ id, kind: "add", ...more });
  }

  get sums(): Record<string, number> {
    return Object.fromEntries([...this.store.states.values()].map(({ id, sum }) => [id, sum]));
  }
}

function fail(words: string): never {
  throw new Error(words);
}

function deep(levels: number): Json {
  let value: Json = [];
  for (let at = 0; at < levels; at += 1) value = [value];
  return value;
}

test("U7 a command whose decision throws is refused with a code, a message and a hint; nothing was changed", async () => {
  const life = await Life.begin(new SimDisk());
  await life.add("a");
  await life.add("b");
  expect(await life.add("a", { data: BAD })).toEqual({
    ok: false,
    error: {
      code: "bug",
      message: "holdfast has a bug: cannot apply",
      hint: "Nothing was changed. `holdfast logs` has the details; please report it.",
    },
  });
  expect(await life.add("a", { also: "b", data: BAD })).toMatchObject({ ok: false, error: { code: "bug" } }); // U5
  expect(life.sums).toEqual({ a: 1, b: 1 });
  expect(life.bugs).toEqual([]);
  expect(life.said.join()).toContain("cannot apply");
  expect((await life.add("a")).ok).toBe(true);
});

test("U7 what cannot be written to the log is refused, and the decision undone; an assertion of the log ends all", async () => {
  const life = await Life.begin(new SimDisk());
  await life.add("a");
  expect(await life.add("a", { data: deep(100_000) })).toMatchObject({ ok: false, error: { code: "bug" } });
  expect(life.undone).toEqual(["a"]);
  expect([life.sums, life.bugs]).toEqual([{ a: 1 }, []]);
  const broken = new Error("broken promise: of the log");
  life.log.append = () => {
    throw broken;
  };
  expect(await life.add("a").catch((error: unknown) => error)).toBe(broken);
  expect(life.bugs).toEqual([broken]);
});

test("PB2 a session whose effects throw is set aside with its reason; the others go on", async () => {
  const life = await Life.begin(new SimDisk());
  expect((await life.add("bad")).ok).toBe(true); // It is durable: only its effect failed.
  expect(life.store.states.get("bad")).toMatchObject({ aside: "a bug of holdfast: cannot perform" });
  expect(life.said).toEqual([
    "counter counter bad needs you: a bug of holdfast: cannot perform. Next: holdfast down && holdfast up",
  ]);
  expect(await life.add("bad")).toMatchObject({ ok: false, error: { code: "log.frozen" } });
  expect(await life.add("a", { also: "bad" })).toMatchObject({ ok: false, error: { code: "log.frozen" } });
  for (let at = 0; at < 8; at += 1) expect((await life.add("a")).ok).toBe(true);
  expect(await life.add("a")).toMatchObject({ ok: true, value: { sum: 9 } });
  expect(life.store.states.get("a")).toMatchObject({ aside: "a bug of holdfast: cannot derive effects" });
  expect((await life.add("b")).ok).toBe(true);
  expect(life.bugs).toEqual([]);
});

test("PB2 what is done for one session of many, or in a recovery, fails alone; for an unknown session it is a bug", async () => {
  const life = await Life.begin(new SimDisk());
  for (const id of ["a", "b", "c"]) await life.add(id);
  life.border.guard("a", () => fail("in a round"));
  expect(await life.border.adopting("b", async () => fail("while adopted"))).toEqual({
    ...{ what: "counter", id: "b", name: "counter b", fate: "needs you", next: "holdfast down && holdfast up" },
    reason: "a bug of holdfast: while adopted",
  });
  life.border.outcome(() => Promise.reject(new Error("in the background")), "c");
  await new SimClock().settle();
  const reasons = [...life.store.states.values()].map(({ aside }) => aside);
  expect(reasons).toEqual(
    ["in a round", "while adopted", "in the background"].map((why) => `a bug of holdfast: ${why}`),
  );
  expect(life.bugs).toEqual([]);
  life.border.guard("nobody", () => fail("whose?"));
  expect(life.bugs.map(String)).toEqual(["Error: whose?"]);
});

test("PB2 what the disk refuses is said in its words, and that the home is lost concerns no session: neither is a bug", async () => {
  const life = await Life.begin(new SimDisk());
  await life.add("a");
  life.border.contain("a", new LostHome("another host has this home"));
  expect([life.said, life.bugs]).toEqual([[], []]);
  life.border.contain("a", new Fault({ code: "EIO", operation: "open", path: "/x", hint: "Look at the disk." }));
  expect(life.said).toEqual([
    "counter counter a needs you: open /x: EIO. Look at the disk. Next: holdfast down && holdfast up",
  ]);
});

test("FO5 U8 a session that does not fold can be ended, stays so at every start, and loses no byte of its log", async () => {
  const disk = new SimDisk();
  const older = await Life.begin(disk);
  await older.add("a");
  await older.add("b");
  Life.upgraded = true;
  await older.add("a", { data: BAD });
  Life.upgraded = false;
  const later = disk.powerCut(nothing);
  const life = await Life.begin(later);
  expect(life.items).toMatchObject([{ id: "a", fate: "needs you", reason: "its events do not fold: cannot apply" }]);
  expect(life.sums).toEqual({ a: 1, b: 1 });
  expect(await life.add("a")).toMatchObject({ ok: false, error: { code: "log.frozen" } });
  expect(await life.store.submit({ id: "a", kind: "end" })).toMatchObject({ ok: true, value: { over: true } });
  expect((await life.add("b")).ok).toBe(true);
  await life.log.close();
  const next = await Life.begin(later);
  expect(next.items).toEqual([]);
  expect(next.store.states.get("a")).toEqual({ id: "a", sum: 1, over: true });
  expect(next.sums).toEqual({ a: 1, b: 2 });
  await next.log.close();
  Life.upgraded = true; // A version that can read it finds everything.
  const upgraded = await Life.begin(later);
  Life.upgraded = false;
  expect(upgraded.store.states.get("a")).toEqual({ id: "a", sum: 2, over: true });
});

/** A counter with a poisoned event between others, on disk. */
async function poisoned(): Promise<SimDisk> {
  const disk = new SimDisk();
  const older = await Life.begin(disk);
  for (const id of ["a", "b", "a"]) await older.add(id);
  Life.upgraded = true;
  await older.add("a", { data: BAD });
  Life.upgraded = false;
  await older.add("a");
  await older.log.close();
  return disk.powerCut(nothing);
}

test("FL3 PO2 an event that is skipped stays in the log, and the others fold without it; a kill at any call of that leaves it skipped or not", async () => {
  const found: string[] = [];
  for (let call = 1, done = false; !done; call += 1) {
    const disk = await poisoned();
    const life = await Life.begin(disk);
    const aside = life.border.asides.get("a");
    expect(aside).toMatchObject({ session: "terminals/a", bytes: { kind: "event", seq: 4 } });
    if (aside?.bytes === undefined) throw new Error("it is not known what to skip");
    disk.crashAt(disk.calls + call);
    const skipped = life.log.poisons.skip(aside.session, aside.bytes, aside.item.reason);
    done = await skipped.then(
      () => true,
      () => false,
    );
    for (const survivor of [nothing, everything]) {
      const next = await Life.begin(disk.powerCut(survivor));
      found.push(`${done} ${next.items.length} ${JSON.stringify(next.sums)}`);
      expect((await next.add("b")).ok).toBe(true);
      const lines = [...next.log.read("terminals/a")].flatMap((one) => (one.kind === "entry" ? one.entry.data : []));
      expect(lines).toEqual([null, null, BAD, null]); // Nothing is deleted.
    }
  }
  const [out, skipped] = ['false 1 {"a":2,"b":1}', 'false 0 {"a":3,"b":1}'];
  expect(new Set(found)).toEqual(new Set([out, skipped, 'true 0 {"a":3,"b":1}']));
  expect(found.length).toBeGreaterThan(10);
});

test("FL3 the first event of a session cannot be skipped: nothing would be left of it", async () => {
  const disk = new SimDisk();
  Life.upgraded = true;
  const older = await Life.begin(disk);
  await older.add("a", { data: BAD });
  Life.upgraded = false;
  const life = await Life.begin(disk.powerCut(nothing));
  expect(life.items).toMatchObject([{ id: "a", fate: "needs you", next: "holdfast log verify a" }]);
  expect(life.border.asides.get("a")?.bytes).toBeUndefined();
});

test("a session that was set aside in one life is tried again in the next", async () => {
  const disk = new SimDisk();
  const first = await Life.begin(disk);
  await first.add("a");
  first.border.guard("a", () => fail("once"));
  expect(await first.add("a")).toMatchObject({ ok: false });
  await first.log.close();
  const next = await Life.begin(disk);
  expect(await next.add("a")).toMatchObject({ ok: true, value: { sum: 2 } });
});
