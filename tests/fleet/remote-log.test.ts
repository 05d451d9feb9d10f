// A home's log and its takes, step by step: what is sent, and what is not.
import { expect, test } from "bun:test";
import { castsDoubt, isLasting } from "../../src/core/fleet/settle.ts";
import { APPEND, ENROL, HOLD, LOOK } from "../../src/fleet/calls.ts";
import { RemoteLog } from "../../src/fleet/remote-log.ts";
import { takeHome } from "../../src/fleet/take.ts";
import type { SimPostgresOptions } from "../sim/postgres.ts";
import { drive, HOME, LEASE_MS, Model } from "./model.ts";

const CALM = { mode: "sync", rate: 0 } as const satisfies Omit<SimPostgresOptions, "clock" | "random">;
const BYTES = Buffer.from("x");

async function begun(): Promise<Model> {
  const model = new Model(1, CALM);
  await drive(model, model.begin());
  return model;
}

function lastOf(model: Model) {
  const owner = model.owner;
  if (owner === undefined) throw new Error("there is an owner");
  return owner;
}

test("RL4 once fenced, nothing is sent any more, neither a batch nor a renewal", async () => {
  const model = await begun();
  const { log } = lastOf(model);
  await drive(model, model.take());
  expect(await drive(model, log.append(1, BYTES))).toEqual({ kind: "fenced" });
  expect(log.isFenced).toBe(true);
  const before = model.postgres.statements;
  expect(await drive(model, log.append(1, BYTES))).toEqual({ kind: "fenced" });
  await drive(model, log.renew());
  expect(model.postgres.statements).toBe(before);
});

test("a batch that only warnings answer is not confirmed, and a fail-over that loses it is noticed", async () => {
  const model = await begun();
  const { log } = lastOf(model);
  model.postgres.always("warning");
  let end: unknown;
  const appending = log.append(1, Buffer.from("1 o0\n")).then((it) => {
    end = it;
  });
  for (let turn = 0; turn < 200; turn++) {
    await model.clock.settle();
    model.clock.advance(100);
  }
  expect(model.postgres.tables.batchesOf(HOME)).toHaveLength(1);
  expect(end).toBeUndefined();
  model.postgres.failOver();
  expect(model.postgres.tables.batchesOf(HOME)).toHaveLength(0);
  model.postgres.calm();
  await drive(model, appending);
  expect(end).toEqual({ kind: "committed" });
  expect(model.postgres.tables.batchesOf(HOME)).toHaveLength(1);
});

test("what only warnings answer renews no lease by the owner's clock", async () => {
  const model = await begun();
  const { database } = lastOf(model);
  const renewed: number[] = [];
  const ports = { ...model.ports(database), held: (sentAt: number) => void renewed.push(sentAt) };
  const own = { take: { home: HOME, epoch: 1, id: "o0 0" }, lastSeq: 0, leaseMs: LEASE_MS };
  const log = new RemoteLog(ports, own);
  model.postgres.always("warning");
  const appending = log.append(1, BYTES);
  for (let turn = 0; turn < 50; turn++) {
    await model.clock.settle();
    model.clock.advance(100);
  }
  expect(renewed).toEqual([]);
  model.postgres.calm();
  expect(await drive(model, appending)).toEqual({ kind: "committed" });
  expect(renewed).toHaveLength(1);
});

test("an append is one statement, and renews the lease; a timer's renewal waits for no batch", async () => {
  const model = await begun();
  const { log, database } = lastOf(model);
  const before = model.postgres.statements;
  expect(await drive(model, log.append(3, BYTES))).toEqual({ kind: "committed" });
  expect(model.postgres.statements).toBe(before + 1);
  const leaseMs = async () => {
    const answer = await drive(model, database.call(LOOK, HOME));
    return answer.kind === "done" ? (answer.value?.leaseMs ?? 0) : 0;
  };
  expect(await leaseMs()).toBeGreaterThan(LEASE_MS - 100);
  model.clock.advance(LEASE_MS);
  expect(await leaseMs()).toBe(0);
  await drive(model, log.renew());
  expect(await leaseMs()).toBeGreaterThan(LEASE_MS - 100);
  const renewing = log.renew();
  expect(await drive(model, log.append(4, BYTES))).toEqual({ kind: "committed" });
  await renewing;
});

test("a log that is closed in mid-append says so, and may have been carried out", async () => {
  const model = await begun();
  const { log } = lastOf(model);
  const appending = log.append(1, BYTES);
  await model.clock.settle();
  log.close();
  expect(await drive(model, appending)).toEqual({ kind: "closed" });
  expect(await drive(model, log.append(1, BYTES))).toEqual({ kind: "closed" });
});

test("a log that has what its owner did not write is not written to", async () => {
  const model = await begun();
  const { log, database } = lastOf(model);
  const answer = await drive(model, database.call(LOOK, HOME));
  const lastSeq = answer.kind === "done" ? (answer.value?.lastSeq ?? 0) : 0;
  const own = { take: { home: HOME, epoch: 1, id: "o0 0" }, lastSeq, leaseMs: LEASE_MS };
  const twin = new RemoteLog(model.ports(model.database()), own);
  expect(await drive(model, twin.append(5, BYTES))).toEqual({ kind: "committed" });
  expect(await drive(model, log.append(2, BYTES))).toEqual({ kind: "fenced" });
});

test("TK1 of those who take at once, one succeeds, and the others are told", async () => {
  const model = new Model(3, { mode: "sync", rate: 0.2 });
  await drive(model, model.begin());
  const taking = ["a", "b", "c", "d"].map((id) => {
    const wish = { take: { home: HOME, epoch: 2, id }, owner: id, leaseMs: LEASE_MS, ifExpired: false };
    return takeHome(model.ports(model.database()), wish);
  });
  const taken = await drive(model, Promise.all(taking));
  expect(taken.filter(({ ok }) => ok)).toHaveLength(1);
  expect(taken.filter((one) => !one.ok && one.error.code === "fleet-not-taken")).toHaveLength(3);
});

test("a home is taken from an owner whose lease has ended, and from no other", async () => {
  const model = await begun();
  const wish = { take: { home: HOME, epoch: 2, id: "b" }, owner: "b", leaseMs: LEASE_MS, ifExpired: true };
  const take = () => drive(model, takeHome(model.ports(model.database()), wish));
  expect(await take()).toMatchObject({ ok: false, error: { code: "fleet-not-taken" } });
  model.clock.advance(LEASE_MS + 1);
  expect(await take()).toMatchObject({ ok: true, value: { lastSeq: 0 } });
});

test("a take that nobody wants any more is given up", async () => {
  const model = new Model(1, { mode: "sync", rate: 1, troubles: ["refused"] });
  const wish = { take: { home: HOME, epoch: 1, id: "b" }, owner: "b", leaseMs: LEASE_MS, ifExpired: true };
  const until = model.clock.elapsed() + 10_000;
  const said: (string | undefined)[] = [];
  const ports = { ...model.ports(model.database(), () => model.clock.elapsed() < until) };
  const taking = takeHome({ ...ports, troubled: (why) => void said.push(why) }, wish);
  expect(await drive(model, taking)).toMatchObject({ ok: false, error: { code: "fleet-given-up" } });
  expect(said[0]).toMatch(/40001|does not answer/);
});

test("a call waits for those before it, and a connection that is dropped is made again", async () => {
  const model = await begun();
  const { database } = lastOf(model);
  const take = { home: HOME, epoch: 1, id: "o0 0" };
  const calls = [database.call(HOLD, { take, leaseMs: 1 }), database.call(LOOK, HOME), database.call(LOOK, "none")];
  const answers = await drive(model, Promise.all(calls));
  expect(answers.map(({ kind }) => kind)).toEqual(["done", "done", "done"]);
  database.drop();
  const again = await drive(model, database.call(ENROL, { home: "another", lastSeq: 3 }));
  expect(again).toMatchObject({ kind: "done", isDoubtful: false });
});

test("a connection that is dropped while it is being made is closed", async () => {
  const model = await begun();
  const database = model.database();
  const before = model.postgres.connections;
  const calling = database.call(LOOK, HOME);
  await model.clock.settle();
  database.drop();
  expect(await drive(model, calling)).toMatchObject({ kind: "refused", sqlstate: "08001" });
  expect(model.postgres.connections).toBe(before);
});

test("every notice but those that are known to be harmless casts a doubt", () => {
  const of = (...all: readonly string[]) => castsDoubt(all.map((severity) => ({ severity })));
  expect(of()).toBe(false);
  expect(of("NOTICE", "INFO", "LOG", "DEBUG")).toBe(false);
  expect(of("NOTICE", "WARNING")).toBe(true);
  expect(of("WARNUNG")).toBe(true);
});

test("what is refused for good is said once, as that, and goes on when it was mended", async () => {
  const model = await begun();
  const { database } = lastOf(model);
  const said: (readonly [string | undefined, boolean])[] = [];
  const own = { take: { home: HOME, epoch: 1, id: "o0 0" }, lastSeq: 0, leaseMs: LEASE_MS };
  const troubled = (why: string | undefined, isLasting: boolean) => void said.push([why, isLasting]);
  const log = new RemoteLog({ ...model.ports(database), troubled }, own);
  model.postgres.lacksTableOf = APPEND.statement.name;
  const appending = log.append(1, BYTES);
  for (let turn = 0; turn < 100; turn++) {
    await model.clock.settle();
    model.clock.advance(500);
  }
  expect(said).toEqual([[expect.stringContaining("does not exist (42P01)"), true]]);
  model.postgres.lacksTableOf = undefined;
  expect(await drive(model, appending)).toEqual({ kind: "committed" });
  expect(said.at(-1)).toEqual([undefined, false]);
});

test("which refusals pass by themselves", () => {
  expect(["40001", "57P01", "53300", "55P03", "25006", "08006", "XX000"].filter(isLasting)).toEqual([]);
  const lasting = ["42P01", "42501", "42883", "3F000", "3D000", "28P01", "0A000"];
  expect(lasting.filter((state) => !isLasting(state))).toEqual([]);
});

test("a lease is renewed from when the call was sent, and by nothing that was answered with a warning", async () => {
  const model = await begun();
  const held: number[] = [];
  const own = { take: { home: HOME, epoch: 1, id: "o0 0" }, lastSeq: 0, leaseMs: LEASE_MS };
  const log = new RemoteLog({ ...model.ports(lastOf(model).database), held: (at) => void held.push(at) }, own);
  const sentAt = model.clock.sinceBoot();
  await drive(model, log.renew());
  expect([held, model.clock.sinceBoot() > sentAt]).toEqual([[sentAt], true]);
  model.postgres.always("warning");
  const renewing = log.renew();
  for (let turn = 0; turn < 20; turn++) {
    await model.clock.settle();
    model.clock.advance(500);
  }
  expect(held).toEqual([sentAt]);
  model.postgres.calm();
  await drive(model, renewing);
  expect(held.length).toBe(2);
});
