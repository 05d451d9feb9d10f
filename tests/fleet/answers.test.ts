// Answers to the prompts of a home that another host has: given once, whatever is lost on the way.
import { expect, test } from "bun:test";
import { ok, type Result, refused } from "../../src/base/result.ts";
import { Answers } from "../../src/daemon/fleet/answers.ts";
import { askHome, replyFrom } from "../../src/daemon/fleet/asking.ts";
import type { FleetDesk } from "../../src/daemon/ports.ts";
import { ENROL, HOLD, TAKE, type Take } from "../../src/fleet/calls.ts";
import { Database } from "../../src/fleet/database.ts";
import { FleetSeal } from "../../src/fleet/seal.ts";
import type { Postgres } from "../../src/world/postgres.ts";
import { SimClock } from "../sim/clock.ts";
import { driven, SimPostgres } from "../sim/postgres.ts";
import { SimRandom } from "../sim/random.ts";
import { NO_TARGET } from "./model.ts";

const HOME = "home";
const WISH = { home: HOME, prompt: "p1", decision: "allow", message: "yes", always: false } as const;

class Fleet {
  readonly clock = new SimClock();
  readonly random = new SimRandom(7);
  readonly postgres = new SimPostgres({ clock: this.clock, random: new SimRandom(1), mode: "sync", rate: 0 });
  readonly database = this.#database(this.postgres);
  readonly seal = new FleetSeal(this.random, [new Uint8Array(32).fill(1)]);
  take: Take = { home: HOME, epoch: 0, id: "" };
  /** By prompt: the answer that was given first, and from where. */
  readonly given = new Map<string, string>();
  calls = 0;
  #trouble: Result<never> | undefined;

  #database(postgres: Postgres): Database {
    return new Database({ postgres, target: NO_TARGET, clock: this.clock });
  }

  do<T>(work: Promise<T>): Promise<T> {
    return driven(this.clock, work);
  }

  static async begun(): Promise<Fleet> {
    const fleet = new Fleet();
    await fleet.do(fleet.database.call(ENROL, { home: HOME, lastSeq: 0 }));
    await fleet.taken("host-a");
    return fleet;
  }

  async taken(owner: string): Promise<void> {
    this.take = { home: HOME, epoch: this.take.epoch + 1, id: `of ${owner}` };
    const wish = { take: this.take, owner, leaseMs: 60_000, ifExpired: false };
    expect(await this.do(this.database.call(TAKE, wish))).toMatchObject({ value: true });
  }

  /** The next answer is refused with this. */
  fail(code: string): void {
    this.#trouble = refused(code, "no", "");
  }

  /** The daemon of an owner under this take; `loses`: these calls are never made. */
  owner(take: Take, loses: readonly string[] = []): Answers {
    const database = this.#database(this.#losing(loses));
    const answer = async (params: Readonly<Record<string, unknown>>, by?: { readonly host?: string }) => {
      this.calls += 1;
      const trouble = this.#trouble;
      this.#trouble = undefined;
      if (trouble !== undefined) return trouble;
      const one = `${params["answer"]} from ${by?.host}: ${params["decision"]} ${params["message"]}`;
      const before = this.given.get(`${params["prompt"]}`);
      if (before !== undefined && before !== one) return refused("answered", "It is answered.", "");
      this.given.set(`${params["prompt"]}`, one);
      return ok({ id: params["prompt"], state: "answered" });
    };
    return new Answers({ desk: { database, seal: this.seal, take: () => take }, isLive: () => true, answer });
  }

  #losing(names: readonly string[]): Postgres {
    const { postgres } = this;
    return {
      connect: async () => {
        const made = await postgres.connect();
        if (!made.ok) return made;
        const connection = made.value;
        const run: typeof connection.run = async (statement, values, ms) =>
          names.includes(statement.name) ? { kind: "unknown", why: "it died" } : connection.run(statement, values, ms);
        return ok({ ...connection, isOpen: true, run, cancel: async () => undefined, close: () => connection.close() });
      },
    };
  }

  ask(host = "host-b", wish: Partial<typeof WISH> | Record<string, unknown> = {}) {
    return this.do(askHome(this.#desk(host), this.random, { ...WISH, ...wish }));
  }

  async reply(id: string, host = "host-b") {
    return this.do(replyFrom(this.#desk(host), { home: HOME, id }));
  }

  #desk(host: string): FleetDesk {
    const { database, seal } = this;
    return {
      ...{ database, seal, home: "its own", host, take: () => undefined, labels: [], capacity: 0 },
      onAsked: () => undefined,
    };
  }
}

async function asked(fleet: Fleet, host?: string, wish?: Record<string, unknown>): Promise<string> {
  const done = await fleet.ask(host, wish);
  if (!done.ok) throw new Error(done.error.message);
  return done.value.id;
}

test("AW1 AW3 an answer is given once, with the host that it is from, and the second one is refused as here", async () => {
  const fleet = await Fleet.begun();
  const id = await asked(fleet);
  expect(await fleet.reply(id)).toEqual(ok({ reply: null }));
  expect(await fleet.do(fleet.database.call(HOLD, { take: fleet.take, leaseMs: 60_000 }))).toMatchObject({
    value: { isAsked: true },
  });
  const owner = fleet.owner(fleet.take);
  await fleet.do(owner.look());
  expect(fleet.given.get("p1")).toMatch(/^[0-9a-f]{32} from host-b: allow yes$/);
  expect(await fleet.reply(id)).toEqual(ok({ reply: { value: { id: "p1", state: "answered" } } }));
  expect(await fleet.reply(id)).toMatchObject({ error: { code: "fleet-read" } });
  const again = await asked(fleet);
  await fleet.do(owner.look());
  expect(await fleet.reply(again)).toMatchObject({ ok: false, error: { code: "answered" } });
  expect(fleet.calls).toBe(2);
});

test("AK1 AW1 a command that is repeated, and a daemon that died before it replied, give the same answer", async () => {
  const fleet = await Fleet.begun();
  const id = await asked(fleet);
  await fleet.do(fleet.owner(fleet.take, ["holdfast.reply"]).look());
  expect(fleet.calls).toBe(1);
  expect(await asked(fleet)).toBe(id);
  expect(await fleet.reply(id)).toEqual(ok({ reply: null }));
  await fleet.do(fleet.owner(fleet.take).look());
  expect(fleet.calls).toBe(2);
  expect(await asked(fleet)).toBe(id);
  expect(await fleet.reply(id)).toMatchObject({ ok: true, value: { reply: { value: { state: "answered" } } } });
});

test("AW2 after a takeover the next owner answers, and the one before does not", async () => {
  const fleet = await Fleet.begun();
  const before = fleet.owner(fleet.take);
  const id = await asked(fleet);
  await fleet.taken("host-c");
  await fleet.do(before.look());
  expect([fleet.calls, await fleet.reply(id)]).toEqual([0, ok({ reply: null })]);
  await fleet.do(fleet.owner(fleet.take).look());
  expect(await fleet.reply(id)).toMatchObject({ value: { reply: { value: { id: "p1" } } } });
});

test("what is refused only for now is answered later, and everything else is the reply", async () => {
  const fleet = await Fleet.begun();
  const id = await asked(fleet);
  const owner = fleet.owner(fleet.take);
  fleet.fail("log.blocked");
  await fleet.do(owner.look());
  expect(await fleet.reply(id)).toEqual(ok({ reply: null }));
  fleet.fail("stale");
  await fleet.do(owner.look());
  expect(await fleet.reply(id)).toMatchObject({ ok: false, error: { code: "stale", message: "no" } });
});

test("AK2 nothing is asked of a home on this host, nor of one that is not there", async () => {
  const fleet = await Fleet.begun();
  expect(await fleet.ask("host-a")).toMatchObject({ error: { code: "fleet-here" } });
  expect(await fleet.ask("host-b", { home: "none" })).toMatchObject({ error: { code: "unknown" } });
});
