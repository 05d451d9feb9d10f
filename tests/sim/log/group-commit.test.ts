// Group commit under any interleaving: the syncs are gated and the turns of the loop are dealt out by a scheduler, so
// that writers, syncs, drains and closing meet in every order. The clock makes syncs look slow, so that the log syncs
// in the background (sync-pace.ts).
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EventLog } from "../../../src/log/event-log.ts";
import { SimClock } from "../clock.ts";
import { SimDisk } from "../disk.ts";
import { parameters } from "../fuzz/profile.ts";
import { nothing } from "../survive.ts";
import { HOME, Life, SMALL } from "./life.ts";
import { ensure, type Issued } from "./oracle.ts";

/** Every look at it finds more time gone, so every sync seems to have taken long. */
class SlowClock extends SimClock {
  private looked = 0;
  private readonly turn: (fn: () => void) => void;

  constructor(turn: (fn: () => void) => void) {
    super();
    this.turn = turn;
  }

  override elapsed(): number {
    this.looked += 20;
    return this.looked;
  }

  override soon(fn: () => void): void {
    this.turn(fn);
  }
}

type Transaction = { readonly sessions: readonly number[]; readonly size: number };
type Acknowledged = { readonly id: number; readonly disk: SimDisk };

/** A log with several writers, and the disk at the moment of each acknowledgement. */
class Office {
  readonly disk = new SimDisk();
  readonly issued: Issued[] = [];
  readonly acknowledged: Acknowledged[] = [];
  readonly clock: SlowClock;
  syncs = 0;
  private readonly opened: EventLog[] = [];

  constructor(turn: (fn: () => void) => void) {
    this.clock = new SlowClock(turn);
  }

  get log(): EventLog {
    const log = this.opened[0];
    ensure(log !== undefined, "the office is open");
    return log;
  }

  async open(gate: () => Promise<void>): Promise<void> {
    this.opened.push(await EventLog.open({ disk: this.disk, clock: this.clock, home: HOME }, SMALL));
    this.disk.gate = gate;
    this.disk.onCall = ({ operation, path }) => {
      if (operation === "datasync" && path.endsWith(".wal")) this.syncs += 1;
      ensure(operation !== "datasyncBlocking", "the slow path is the one under test");
    };
  }

  /** The acknowledgement, recorded with the disk at that moment; undefined if it is refused. */
  write({ sessions, size }: Transaction): Promise<void> | undefined {
    const id = this.issued.length;
    const names = sessions.map((number) => `agents/${number}`);
    const data = { id, pad: "x".repeat(size) };
    const answer = this.log.append(names.map((session) => ({ session, ts: "", event: "tested", data })));
    if (!answer.ok) return undefined;
    this.issued.push({ id, sessions: names, size });
    return answer.value.durable.then(() => void this.acknowledged.push({ id, disk: this.disk.powerCut(nothing) }));
  }

  /**
   * Every acknowledgement was true at its moment, they came in order, and the last of them leaves a log that can be
   * written.
   */
  async check(): Promise<void> {
    expect(this.acknowledged.map(({ id }) => id)).toEqual(this.acknowledged.map((_, index) => index));
    for (const { id, disk } of this.acknowledged) {
      await Life.begin(disk, { issued: this.issued, acknowledged: id + 1 });
    }
    const memory = { issued: this.issued, acknowledged: this.acknowledged.length };
    const second = await Life.begin(this.disk.processKill(), memory);
    await second.perform([{ kind: "append", sessions: [1, 2], size: 20 }, { kind: "await" }]);
    await Life.begin(second.disk.powerCut(nothing), second.memory);
  }
}

const transaction: fc.Arbitrary<Transaction> = fc.record({
  sessions: fc.uniqueArray(fc.nat(3), { minLength: 1, maxLength: 3 }),
  size: fc.oneof(fc.nat(30), fc.nat(400)),
});
const writers = fc.array(fc.array(transaction, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 5 });

/** One after the other, each when the one before is acknowledged, and anything may come in between. */
async function keepWriting(office: Office, s: fc.Scheduler, transactions: readonly Transaction[]): Promise<void> {
  for (const one of transactions) {
    await s.schedule(Promise.resolve(), "a writer's turn");
    const written = office.write(one);
    if (written !== undefined) await written;
    else await office.log.room();
  }
}

function scheduled(s: fc.Scheduler): Office {
  return new Office((fn) => void s.schedule(Promise.resolve(), "the loop's turn").then(fn));
}

describe("EL-2 several writers, in random interleavings", () => {
  test("each acknowledgement comes in order, and when it comes its entries are on disk", async () => {
    const property = fc.asyncProperty(fc.scheduler(), writers, fc.nat(4), async (s, all, drains) => {
      const office = scheduled(s);
      await office.open(() => s.schedule(Promise.resolve(), "a sync ends"));
      const actors = all.map((transactions) => keepWriting(office, s, transactions));
      for (let i = 0; i < drains; i += 1) {
        actors.push(s.schedule(Promise.resolve(), "drain").then(() => office.log.drain()));
        actors.push(s.schedule(Promise.resolve(), "quiet").then(() => office.clock.advance(100)));
      }
      await s.waitFor(Promise.all(actors));
      expect(office.acknowledged.length).toBe(office.issued.length);
      expect(office.syncs).toBeGreaterThan(0);
      await office.check();
    });
    await fc.assert(property, parameters(1));
  });

  test("closing at a random moment finishes what was accepted, refuses the rest, and leaves nothing to recover", async () => {
    const property = fc.asyncProperty(fc.scheduler(), writers, async (s, all) => {
      const office = scheduled(s);
      await office.open(() => s.schedule(Promise.resolve(), "a sync ends"));
      const actors = all.map((transactions) => keepWriting(office, s, transactions));
      actors.push(s.schedule(Promise.resolve(), "close").then(() => office.log.close()));
      await s.waitFor(Promise.all(actors));
      expect(office.acknowledged.length).toBe(office.issued.length);
      const next = await Life.begin(office.disk.powerCut(nothing), {
        issued: office.issued,
        acknowledged: office.issued.length,
      });
      expect(next.log.report).toMatchObject({ replayed: 0, torn: [] });
      await office.check();
    });
    await fc.assert(property, parameters(0.5));
  });

  test("a sync that fails at a random moment: nothing that waits for it, or behind it, is acknowledged", async () => {
    const property = fc.asyncProperty(fc.scheduler(), writers, fc.nat(8), async (s, all, which) => {
      const office = scheduled(s);
      await office.open(() => s.schedule(Promise.resolve(), "a sync ends"));
      let seen = 0;
      office.disk.fault = ({ operation }) => {
        if (operation !== "datasync") return undefined;
        seen += 1;
        return seen === which + 1 ? { kind: "fail", code: "EIO" } : undefined;
      };
      const actors = all.map((transactions) => keepWriting(office, s, transactions));
      const drain = s.schedule(Promise.resolve(), "drain").then(() => office.log.drain());
      await s.waitFor(Promise.allSettled([...actors, drain]));
      await s.waitIdle(); // A drain in the background may be the one that hears of it.
      office.disk.fault = undefined;
      if (office.disk.fired.length > 0)
        expect(office.log.append([ENTRY])).toMatchObject({ error: { code: "log.stopped" } });
      else expect(office.acknowledged.length).toBe(office.issued.length);
      await office.check();
    });
    await fc.assert(property, parameters(0.5));
  });
});

const ENTRY = { session: "agents/1", ts: "", event: "asked", data: null };

describe("one sync for all who wait", () => {
  const WRITERS = 25;
  const ROUNDS = 8;

  /** The gate and the loop take real turns, as on a disk that is slower than the writers. */
  async function officeHours(): Promise<Office> {
    const office = new Office((fn) => void setImmediate(fn));
    await office.open(() => new Promise((resolve) => void setImmediate(resolve)));
    return office;
  }

  test("writers that wait for their own entries share syncs: far fewer than there are entries", async () => {
    const office = await officeHours();
    const writer = async (number: number): Promise<void> => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const one = { sessions: [number % 5], size: 5 };
        for (let written = office.write(one); ; written = office.write(one)) {
          await (written ?? office.log.room());
          if (written !== undefined) break;
        }
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, (_, number) => writer(number)));
    expect(office.acknowledged.length).toBe(WRITERS * ROUNDS);
    expect(office.syncs).toBeLessThan((WRITERS * ROUNDS) / 2);
    await office.check();
  });

  test("during a sync the next batch gathers, and needs one sync for all of it", async () => {
    const gates: (() => void)[] = [];
    const office = new Office((fn) => void setImmediate(fn));
    await office.open(() => new Promise((resolve) => void gates.push(resolve)));
    const first = office.write({ sessions: [1], size: 5 });
    await office.clock.settle();
    const rest = [2, 3, 4].map((session) => office.write({ sessions: [session], size: 5 }));
    await office.clock.settle();
    expect([office.syncs, gates.length, office.acknowledged.length]).toEqual([1, 1, 0]);
    gates.shift()?.();
    await first;
    for (let turn = 0; turn < 3; turn += 1) await office.clock.settle();
    expect([office.syncs, gates.length, office.acknowledged.length]).toEqual([2, 1, 1]);
    gates.shift()?.();
    await Promise.all(rest);
    expect([office.syncs, office.acknowledged.length]).toEqual([2, 4]);
    await office.check();
  });
});
