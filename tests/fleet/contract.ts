// What every statement does, as claims that hold in PostgreSQL and in the simulated database alike.
import { expect } from "bun:test";
import { dropBlob, getBlob, listBlobs, putBlob } from "../../src/fleet/blobs.ts";
import {
  ANNOUNCE,
  APPEND,
  BACKLOG,
  DESCRIBE,
  ENROL,
  EVENT,
  EVENTS,
  HOLD,
  HOMES,
  HOSTS,
  LIST,
  LOOK,
  MODE,
  MOVE_TO,
  PUT,
  READ,
  RELEASE,
  SNAPSHOT,
  TAKE,
  TAKEOVER,
  TIDY,
  VERSION,
} from "../../src/fleet/calls.ts";
import type { Database } from "../../src/fleet/database.ts";
import { mergeBatches, readBatches } from "../../src/fleet/history.ts";
import { CANCEL, CLAIM, CLAIMED, ENQUEUE, FINISH, QUEUE, type QueueRow } from "../../src/fleet/queue-calls.ts";
import { SCHEMA_VERSION } from "../../src/fleet/schema.ts";
import { sha256 } from "../../src/world/hash.ts";
import { BETWEEN_HOMES } from "./contract-between-homes.ts";
import { entries, LEASE_MS, type Place, Sure } from "./sure.ts";

async function stored(database: Database, home: string, after = 0) {
  const read = await readBatches(database, home, after);
  if (!read.ok) throw new Error(read.error.message);
  return read.value.map(({ first, last, bytes }) => [first, last, [...bytes]]);
}

export const CONTRACT: Readonly<Record<string, (place: Place) => Promise<void>>> = {
  ...BETWEEN_HOMES,

  "the tables have the version that this program knows": async ({ database }) => {
    expect(await new Sure(database).do(VERSION, undefined)).toEqual({ version: SCHEMA_VERSION, mayWrite: true });
  },

  "a home is enrolled once, and then looked at": async ({ database, home }) => {
    const sure = new Sure(database);
    expect(await sure.do(LOOK, home)).toBeUndefined();
    await sure.do(ENROL, { home, lastSeq: 7 });
    await sure.do(ENROL, { home, lastSeq: 9 });
    expect(await sure.do(LOOK, home)).toEqual({
      epoch: 0,
      owner: "",
      leaseMs: 0,
      lastSeq: 7,
      snapshot: 0,
      take: "",
      moveTo: "",
    });
  },

  "a take raises the epoch by one, once, and a lease that lasts keeps others from it": async ({ database, home }) => {
    const sure = new Sure(database);
    const first = await sure.owned(home);
    const { leaseMs, ...row } = (await sure.do(LOOK, home)) ?? { leaseMs: 0 };
    expect(row).toEqual({ epoch: 1, owner: "a", lastSeq: 0, snapshot: 0, take: first.id, moveTo: "" });
    expect(leaseMs).toBeGreaterThan(LEASE_MS / 2);
    const next = { take: { home, epoch: 2, id: "b" }, owner: "b", leaseMs: LEASE_MS };
    expect(await sure.do(TAKE, { ...next, ifExpired: true })).toBe(false);
    expect(await sure.do(TAKE, { ...next, take: { ...next.take, epoch: 3 }, ifExpired: false })).toBe(false);
    expect(await sure.do(TAKE, { ...next, ifExpired: false })).toBe(true);
    expect(await sure.do(TAKE, { ...next, ifExpired: false })).toBe(false);
    expect(await sure.do(HOLD, { take: first, leaseMs: LEASE_MS })).toBeUndefined();
    expect(await sure.do(HOLD, { take: next.take, leaseMs: 0 })).toEqual({ lastSeq: 0, isAsked: false });
    const third = { take: { home, epoch: 3, id: "c" }, owner: "c", leaseMs: LEASE_MS };
    expect(await sure.do(TAKE, { ...third, ifExpired: true })).toBe(true);
  },

  "a batch is appended directly behind the one before, by the present take, once": async ({ database, home }) => {
    const sure = new Sure(database);
    const take = await sure.owned(home, 2);
    expect(await sure.append(take, 2, 4)).toBe(false);
    expect(await sure.append(take, 4, 5)).toBe(false);
    expect(await sure.append(take, 3, 5)).toBe(true);
    expect(await sure.append(take, 3, 5)).toBe(false);
    expect(await sure.append({ ...take, epoch: 2 }, 6, 6)).toBe(false);
    expect(await sure.append({ ...take, id: "another" }, 6, 6)).toBe(false);
    expect(await sure.do(HOLD, { take, leaseMs: 1 })).toMatchObject({ lastSeq: 5 });
    expect(await stored(database, home)).toEqual([
      [1, 2, [1, 2]],
      [3, 5, [3, 4, 5]],
    ]);
  },

  "reading begins with the batch that has the next entry, and goes on page by page": async ({ database, home }) => {
    const sizes = Array.from({ length: 18 }, () => 2);
    const sure = new Sure(database);
    const take = await sure.owned(home, ...sizes);
    expect((await stored(database, home, 32)).map(([first]) => first)).toEqual([33, 35]);
    expect((await stored(database, home, 33)).map(([first]) => first)).toEqual([33, 35]);
    expect(await stored(database, home, 36)).toEqual([]);
    expect(await stored(database, home)).toHaveLength(18);
    expect(await stored(database, "nobody's")).toEqual([]);
    const bytes = new Uint8Array(5 << 20);
    for (const seq of [37, 38]) await sure.do(APPEND, { take, batch: { first: seq, last: seq, bytes }, leaseMs: 1 });
    expect((await stored(database, home, 30)).map(([first]) => first)).toEqual([31, 33, 35, 37]);
    expect((await stored(database, home, 37)).map(([first]) => first)).toEqual([38]);
  },

  "what a snapshot covers is merged into one, and nothing else": async ({ database, home }) => {
    const sure = new Sure(database);
    const take = await sure.owned(home, 1, 2, 3, 1, 1);
    expect(await mergeBatches(database, take)).toEqual({ ok: true, value: 0 });
    expect(await sure.do(SNAPSHOT, { take, seq: 9 })).toBe(false);
    expect(await sure.do(SNAPSHOT, { take, seq: 5 })).toBe(true);
    expect(await sure.do(SNAPSHOT, { take, seq: 4 })).toBe(false);
    expect(await mergeBatches(database, { ...take, id: "another" })).toEqual({ ok: true, value: 0 });
    expect(await mergeBatches(database, take)).toEqual({ ok: true, value: 1 });
    expect(await stored(database, home)).toEqual([
      [1, 3, [1, 2, 3]],
      [4, 6, [4, 5, 6]],
      [7, 7, [7]],
      [8, 8, [8]],
    ]);
    expect((await stored(database, home, 1))[0]).toEqual([1, 3, [1, 2, 3]]);
    expect(await sure.do(SNAPSHOT, { take, seq: 8 })).toBe(true);
    expect(await mergeBatches(database, take)).toEqual({ ok: true, value: 1 });
    expect(await stored(database, home)).toEqual([
      [1, 7, [1, 2, 3, 4, 5, 6, 7]],
      [8, 8, [8]],
    ]);
    expect(await sure.append(take, 9, 9)).toBe(true);
  },

  "batches that would become too long together stay apart": async ({ database, home }) => {
    const sure = new Sure(database);
    const take = await sure.owned(home);
    const bytes = new Uint8Array(700_000).fill(7);
    for (const seq of [1, 2, 3]) await sure.do(APPEND, { take, batch: { first: seq, last: seq, bytes }, leaseMs: 1 });
    expect(await sure.do(SNAPSHOT, { take, seq: 3 })).toBe(true);
    expect(await mergeBatches(database, take)).toEqual({ ok: true, value: 2 });
    const read = await sure.do(READ, { home, after: 0 });
    expect(read.map((batch) => batch.bytes.length)).toEqual([700_000, 700_000, 700_000]);
  },

  "a blob replaces the one before when it is whole, and only the owner stores it": async ({ database, home }) => {
    const sure = new Sure(database);
    const take = await sure.owned(home);
    const old = { path: "screen", seq: 1, bytes: Buffer.from("old") };
    expect(await getBlob(database, home, "screen")).toEqual({ ok: true, value: undefined });
    expect((await putBlob(database, take, old)).ok).toBe(true);
    const half = { path: "screen", seq: 2, part: 0, parts: 2, hash: new Uint8Array(32), bytes: new Uint8Array(3) };
    expect(await sure.do(PUT, { take, part: half })).toBe(true);
    await sure.do(TIDY, { take, path: "screen", seq: 2 });
    expect(await getBlob(database, home, "screen")).toEqual({ ok: true, value: old });
    const large = { path: "screen", seq: 2, bytes: Buffer.alloc(1_300_000, "large") };
    expect((await putBlob(database, take, large)).ok).toBe(true);
    expect((await putBlob(database, take, large)).ok).toBe(true);
    expect(await getBlob(database, home, "screen")).toEqual({ ok: true, value: large });
    const theirs = await putBlob(database, { ...take, epoch: 2 }, { ...old, seq: 3 });
    expect(theirs).toMatchObject({ ok: false, error: { code: "fleet-fenced" } });
    expect(await sure.do(PUT, { take, part: { ...half, path: "torn", parts: 1 } })).toBe(true);
    expect(await getBlob(database, home, "torn")).toMatchObject({ ok: false, error: { code: "fleet-damaged" } });
  },

  "blobs are listed by their paths, with the newest that is whole, and dropped by their owner": async ({
    database,
    home,
  }) => {
    const sure = new Sure(database);
    const take = await sure.owned(home);
    expect(await listBlobs(database, home)).toEqual({ ok: true, value: [] });
    const bytes = Buffer.alloc(1_300_000, "head and what follows it");
    await putBlob(database, take, { path: "b", seq: 4, bytes });
    await putBlob(database, take, { path: "a", seq: 1, bytes: new Uint8Array() });
    const half = { seq: 6, part: 1, parts: 2, hash: new Uint8Array(32), bytes: new Uint8Array(3) };
    for (const path of ["b", "c"]) await sure.do(PUT, { take, part: { ...half, path } });
    const mark = bytes.subarray(5, 29).toString("hex");
    const empty = { seq: 1, hash: sha256(""), mark: "", size: 0 };
    const listed = [
      { path: "a", newest: 1, whole: empty },
      { path: "b", newest: 6, whole: { seq: 4, hash: sha256(bytes), mark, size: bytes.length } },
      { path: "c", newest: 6, whole: undefined },
    ];
    expect(await listBlobs(database, home)).toEqual({ ok: true, value: listed });
    expect((await sure.do(LIST, { home, after: "a" })).map(({ path }) => path)).toEqual(["b", "c"]);
    const theirs = await dropBlob(database, { ...take, epoch: 2 }, "b");
    expect(theirs).toMatchObject({ ok: false, error: { code: "fleet-fenced" } });
    for (const path of ["b", "b", "c"])
      expect(await dropBlob(database, take, path)).toEqual({ ok: true, value: undefined });
    expect(await listBlobs(database, home)).toEqual({ ok: true, value: listed.slice(0, 1) });
  },

  "the backlog is what is behind the snapshot": async ({ database, home }) => {
    const sure = new Sure(database);
    expect(await sure.do(BACKLOG, home)).toBe(0);
    const take = await sure.owned(home, 2, 3);
    expect(await sure.do(BACKLOG, home)).toBe(5);
    expect(await sure.do(SNAPSHOT, { take, seq: 2 })).toBe(true);
    expect(await sure.do(BACKLOG, home)).toBe(3);
  },

  "only the owner says whether others may take its home by themselves": async ({ database, home }) => {
    const sure = new Sure(database);
    const take = await sure.owned(home);
    expect(await sure.do(TAKEOVER, { take, takeover: "manual" })).toBe(true);
    expect(await sure.do(TAKEOVER, { take: { ...take, id: "another" }, takeover: "auto" })).toBe(false);
    const row = (await sure.do(HOMES, undefined)).find(({ id }) => id === home);
    expect(row?.takeover).toBe("manual");
  },

  "the server says how safe its commits are": async ({ database }) => {
    const mode = await new Sure(database).do(MODE, undefined);
    expect(mode).toMatchObject({ synchronous: expect.any(String), commit: "on", now: expect.any(Number) });
  },

  "a host is announced, and again with what has changed": async ({ database, home }) => {
    const sure = new Sure(database);
    const host = { id: `host of ${home}`, name: home, labels: [], capacity: 0, version: "0.1.0" };
    await sure.do(ANNOUNCE, { ...host, address: "", takes: [] });
    const said = { version: "0.2.0", address: "a:22", takes: ["work", "b-*"] };
    const later = { ...host, labels: ["gpu", "arch=arm64"], capacity: 3, ...said };
    await sure.do(ANNOUNCE, later);
    const found = (await sure.do(HOSTS, undefined)).filter(({ id }) => id === host.id);
    expect(found.map(({ agoMs: _, ...row }) => row)).toEqual([later]);
    expect(found[0]?.agoMs).toBeGreaterThanOrEqual(0);
    expect(found[0]?.agoMs).toBeLessThan(LEASE_MS);
  },

  "all homes are listed: a renewal changes the end of the lease, and a release ends it": async ({ database, home }) => {
    const sure = new Sure(database);
    const see = async () => (await sure.do(HOMES, undefined)).find(({ id }) => id === home);
    await sure.do(ENROL, { home, lastSeq: 0 });
    const unowned = { id: home, name: "", take: "", epoch: 0, owner: "", host: "", leaseMs: 0, leaseEnd: "" };
    expect(await see()).toEqual({ ...unowned, lastSeq: 0, snapshot: 0, takeover: "auto", moveTo: "" });
    const take = await sure.owned(home, 2);
    const owned = await see();
    expect(owned).toMatchObject({
      take: take.id,
      epoch: 1,
      owner: "a",
      lastSeq: 2,
      leaseEnd: expect.stringMatching(/./),
    });
    expect(owned?.leaseMs).toBeGreaterThan(LEASE_MS / 2);
    expect(await sure.do(HOLD, { take, leaseMs: LEASE_MS * 2 })).toMatchObject({ lastSeq: 2 });
    const renewed = await see();
    expect(renewed?.leaseEnd).not.toBe(owned?.leaseEnd);
    expect((await see())?.leaseEnd).toBe(renewed?.leaseEnd);
    expect(await sure.do(HOLD, { take, leaseMs: -1 })).toMatchObject({ lastSeq: 2 });
    expect(await see()).toMatchObject({ leaseMs: 0, leaseEnd: expect.stringMatching(/./) });
    expect(await sure.do(RELEASE, { take: { ...take, id: "another" } })).toBe(false);
    expect(await sure.do(RELEASE, { take })).toBe(true);
    expect(await sure.do(RELEASE, { take })).toBe(true);
    expect(await see()).toMatchObject({ leaseMs: 0, leaseEnd: "", epoch: 1, take: take.id });
    const next = { take: { home, epoch: 2, id: "b" }, owner: "b", leaseMs: LEASE_MS, ifExpired: true };
    expect(await sure.do(TAKE, next)).toBe(true);
  },

  "its owner says what others see of a home, and anybody wishes it elsewhere": async ({ database, home }) => {
    const sure = new Sure(database);
    const see = async () => (await sure.do(HOMES, undefined)).find(({ id }) => id === home);
    const take = await sure.owned(home);
    const words = { name: "work", takeover: "manual", host: "h1" };
    expect(await sure.do(DESCRIBE, { take: { ...take, epoch: 2 }, ...words })).toBe(false);
    expect(await see()).toMatchObject({ name: "", takeover: "auto", host: "" });
    expect(await sure.do(DESCRIBE, { take, ...words })).toBe(true);
    expect(await sure.do(DESCRIBE, { take, ...words, name: "another" })).toBe(true);
    expect(await sure.do(MOVE_TO, { home, host: "b" })).toBe(true);
    expect(await sure.do(MOVE_TO, { home: `no ${home}`, host: "b" })).toBe(false);
    expect(await see()).toMatchObject({ ...words, moveTo: "b", take: take.id });
    expect(await sure.do(MOVE_TO, { home, host: "" })).toBe(true);
    expect(await see()).toMatchObject({ moveTo: "" });
  },

  "events are kept in their order, and read from any of them on": async ({ database, home }) => {
    const sure = new Sure(database);
    const last = (await sure.do(EVENTS, { after: 0 })).at(-1)?.n ?? 0;
    const events = ["wished", "taken", "started"].map((kind) => ({ home, host: "h1", kind, words: `it is ${kind}` }));
    for (const event of events) await sure.do(EVENT, event);
    const found = await sure.do(EVENTS, { after: last });
    expect(found.map(({ n: _, at: __, ...event }) => event)).toEqual(events);
    const [first, second] = found;
    expect(second?.n).toBeGreaterThan(first?.n ?? Number.POSITIVE_INFINITY);
    expect(second?.at).toBeGreaterThanOrEqual(first?.at ?? Number.POSITIVE_INFINITY);
    expect(await sure.do(EVENTS, { after: first?.n ?? 0 })).toEqual(found.slice(1));
  },

  "work is queued once, claimed by one owner, and finished by it": async ({ database, home }) => {
    const sure = new Sure(database);
    const take = await sure.owned(home);
    const other = await sure.owned(`other ${home}`);
    const [one, two] = [itemOf(home, 1), itemOf(home, 2)];
    const n = await sure.do(ENQUEUE, one);
    expect(await sure.do(ENQUEUE, { ...one, asker: "another", bytes: entries(1, 9) })).toBe(n);
    const see = async (id: string) => (await queue(sure)).find((row) => row.id === id);
    expect(await see(one.id)).toMatchObject({
      n,
      asker: home,
      kind: "run",
      labels: ["x", home],
      state: "open",
      home: "",
    });
    const labels = [home, "x", "y"];
    expect(await sure.do(CLAIM, { take: { ...take, epoch: 7 }, host: "h1", labels })).toBeUndefined();
    expect(await sure.do(CLAIM, { take, host: "h1", labels: ["x"] })).toBeUndefined();
    const { labels: _, ...item } = one;
    expect(await sure.do(CLAIM, { take, host: "h1", labels })).toEqual(item);
    expect(await sure.do(CLAIM, { take: other, host: "h2", labels })).toBeUndefined();
    expect(await see(one.id)).toMatchObject({ state: "claimed", home, host: "h1" });
    expect(await sure.do(CANCEL, one.id)).toBe(false);
    const next = { home, epoch: 2, id: `${home} 2` };
    expect(await sure.do(TAKE, { take: next, owner: "b", leaseMs: LEASE_MS, ifExpired: false })).toBe(true);
    expect(await sure.do(CLAIMED, { take, host: "h1" })).toEqual([]);
    expect(await sure.do(CLAIMED, { take: next, host: "h3" })).toEqual([item]);
    expect(await see(one.id)).toMatchObject({ state: "claimed", home, host: "h3" });
    const done = { id: one.id, state: "done", words: "it is done" } as const;
    expect(await sure.do(FINISH, { take, ...done })).toBe(false);
    expect(await sure.do(FINISH, { take: other, ...done })).toBe(false);
    for (const _ of [1, 2]) expect(await sure.do(FINISH, { take: next, ...done })).toBe(true);
    expect(await sure.do(FINISH, { take: next, ...done, state: "failed" })).toBe(false);
    expect(await see(one.id)).toMatchObject({ state: "done", words: "it is done" });
    expect(await sure.do(CLAIMED, { take: next, host: "h3" })).toEqual([]);
    await sure.do(ENQUEUE, two);
    for (const _ of [1, 2]) expect(await sure.do(CANCEL, two.id)).toBe(true);
    expect(await sure.do(CLAIM, { take: next, host: "h1", labels })).toBeUndefined();
    expect(await sure.do(CANCEL, `no ${home}`)).toBe(false);
  },

  "the home for which the least is worked on comes first, and then the oldest": async ({ database, home }) => {
    const sure = new Sure(database);
    const take = await sure.owned(home);
    const [many, few] = [`many ${home}`, `few ${home}`];
    for (const number of [1, 2, 3]) await sure.do(ENQUEUE, { ...itemOf(home, number), asker: many });
    for (const number of [4, 5]) await sure.do(ENQUEUE, { ...itemOf(home, number), asker: few });
    const claimed: (string | undefined)[] = [];
    for (const _ of [1, 2, 3, 4, 5, 6])
      claimed.push((await sure.do(CLAIM, { take, host: "h", labels: ["x", home] }))?.id.slice(-1));
    expect(claimed).toEqual(["1", "4", "2", "5", "3", undefined]);
  },
};

function itemOf(home: string, number: number) {
  const labels = ["x", home]; // The second keeps what other tests have queued apart.
  return { id: `${home} ${number}`, asker: home, kind: "run", labels, bytes: entries(number, number + 2) } as const;
}

async function queue(sure: Sure): Promise<QueueRow[]> {
  const rows: QueueRow[] = [];
  for (let after = 0; ; ) {
    const next = await sure.do(QUEUE, { after });
    rows.push(...next);
    if (next.length === 0) return rows;
    after = next.at(-1)?.n ?? after;
  }
}
