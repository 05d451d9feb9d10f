// A fleet's tables and a home's log on a real PostgreSQL, whose connections are cut in mid-statement.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ENROL, LOOK, VERSION } from "../../src/fleet/calls.ts";
import type { Database } from "../../src/fleet/database.ts";
import { readBatches } from "../../src/fleet/history.ts";
import { LISTINGS } from "../../src/fleet/listing-calls.ts";
import { RemoteLog } from "../../src/fleet/remote-log.ts";
import { grantTo } from "../../src/fleet/roles.ts";
import { initDatabase, SCHEMA_VERSION } from "../../src/fleet/schema.ts";
import { takeHome } from "../../src/fleet/take.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realRandom } from "../../src/world/real/random.ts";
import { amount, isInSample, seeded } from "../sim/fuzz/profile.ts";
import { until } from "../until.ts";
import { CONTRACT } from "./contract.ts";
import { logInEveryWay, makeRoles } from "./logins.ts";
import { CuttingProxy } from "./proxy.ts";
import { databaseAt, HAS_POSTGRES, Operator, startTestServer, type TestServer } from "./server.ts";

const LEASE_MS = 60_000;

let place: TestServer;
let operator: Operator;
const opened: Database[] = [];

function open(url = place.url): Database {
  const database = databaseAt(url);
  opened.push(database);
  return database;
}

/** By a role that was granted what hosts need, and nothing else. */
function asHost(): string {
  return place.url.replace("postgres@", "host@");
}

/** Its application's name tells its connection from others. */
function named(name: string): string {
  return `${place.url}&application_name=${name}`;
}

async function logOf(home: string, database: Database, epoch = 1): Promise<RemoteLog> {
  const ports = { database, clock: realClock(), random: realRandom(), troubled: () => undefined };
  if (epoch === 1) await database.call(ENROL, { home, lastSeq: 0 });
  const wish = { take: { home, epoch, id: `${home} ${epoch}` }, owner: "a test", leaseMs: LEASE_MS, ifExpired: false };
  const taken = await takeHome({ ...ports, isWanted: () => true }, wish);
  if (!taken.ok) throw new Error(taken.error.message);
  return new RemoteLog(ports, taken.value);
}

async function entriesOf(home: string): Promise<string[]> {
  const database = open();
  const entries: string[] = [];
  for (let after = 0; ; ) {
    const read = await readBatches(database, home, after);
    if (!read.ok) throw new Error(read.error.message);
    if (read.value.length === 0) return entries;
    for (const { bytes } of read.value) entries.push(...Buffer.from(bytes).toString().split("\n").slice(0, -1));
    after = read.value.at(-1)?.last ?? 0;
  }
}

/** Appends batch after batch until `isOver`; each entry says which it is. Returns what was confirmed. */
async function appendUntil(log: RemoteLog, isOver: () => boolean): Promise<string[]> {
  const confirmed: string[] = [];
  while (!isOver()) {
    const first = log.lastSeq + 1;
    const last = first + (first % 3);
    const lines = Array.from({ length: last - first + 1 }, (_, index) => `entry ${first + index}`);
    expect(await log.append(last, Buffer.from(`${lines.join("\n")}\n`))).toEqual({ kind: "committed" });
    confirmed.push(...lines);
  }
  return confirmed;
}

/** Returns once the server has taken it over. */
async function configure(change: string, names: string): Promise<void> {
  await operator.sql(change);
  await operator.sql("select pg_reload_conf()");
  const shown = () => operator.sql("show synchronous_standby_names");
  await until("the server has the setting", async () => (await shown())[0] === names, shown);
}

/** What takes a migration back, the newest first. */
const BACK = [
  "alter table holdfast.version drop column least",
  "alter table holdfast.hosts drop column takes",
  "drop table holdfast.listings, holdfast.asks",
  `do $$ begin drop table holdfast.hosts, holdfast.events, holdfast.queue;
   alter table holdfast.homes drop column name, drop column takeover, drop column host, drop column move_to; end $$`,
];

async function takenBackTo(version: number): Promise<void> {
  for (const change of BACK.slice(0, SCHEMA_VERSION - version)) await operator.sql(change);
  await operator.sql(`update holdfast.version set version = ${version}`);
}

describe.skipIf(!HAS_POSTGRES)("on a real PostgreSQL (needs postgresql)", () => {
  beforeAll(async () => {
    place = await startTestServer();
    operator = await Operator.at(place.url);
    await makeRoles(operator);
    const made = await Promise.all([open(), open(), open()].map((database) => initDatabase(database)));
    expect(made).toEqual([1, 2, 3].map(() => ({ ok: true, value: undefined }))); // SM1
    await operator.sql("create role host login");
    expect(await grantTo(open(), "host")).toEqual({ ok: true, value: undefined });
  }, 60_000);

  afterAll(async () => {
    for (const database of opened) database.drop();
    operator?.close();
    await place?.stop();
  });

  test("SM1 SM2 SM3 the tables are made once, used without the right to make them, and left alone if newer", async () => {
    expect(await initDatabase(open())).toEqual({ ok: true, value: undefined });
    await operator.sql("create role stranger login");
    const stranger = open(place.url.replace("postgres@", "stranger@"));
    expect(await initDatabase(stranger)).toMatchObject({ ok: false, error: { code: "fleet-rights" } });
    const host = open(asHost());
    expect(await initDatabase(host)).toEqual({ ok: true, value: undefined });
    expect(await grantTo(host, "stranger")).toMatchObject({ ok: false, error: { code: "fleet-rights" } }); // RO2
    await operator.sql("update holdfast.version set version = 99");
    expect(await initDatabase(host)).toEqual({ ok: true, value: undefined }); // Made by a newer host, and usable.
    await operator.sql("update holdfast.version set least = 99");
    expect(await initDatabase(host)).toMatchObject({ ok: false, error: { code: "fleet-schema-newer" } });
    await operator.sql(`update holdfast.version set version = ${SCHEMA_VERSION}, least = 2`);
  });

  test("a program of today starts beside one that knows no `least`, and brings its tables up to date", async () => {
    await takenBackTo(2);
    const hosts = [open(), open(), open()];
    const done = await Promise.all(hosts.map((host) => initDatabase(host)));
    expect(done.every(({ ok }) => ok)).toBe(true);
    expect(await open().call(VERSION, undefined)).toMatchObject({ value: { version: SCHEMA_VERSION, least: 2 } });
  });

  for (const version of [1, 2]) {
    test(`a database of version ${version} is brought up to date, with all that it has`, async () => {
      const database = open();
      await database.call(ENROL, { home: `home of version ${version}`, lastSeq: 7 });
      await takenBackTo(version);
      expect(await initDatabase(database)).toEqual({ ok: true, value: undefined });
      const rows = await database.call(LISTINGS, { after: "" });
      const found = rows.kind === "done" ? rows.value.find(({ home }) => home.endsWith(`${version}`)) : rows;
      expect(found).toMatchObject({ home: `home of version ${version}`, name: "", ageMs: undefined });
    });
  }

  test("LO1 LO2 LO3 each way to log in is taken or refused as it should be, at the first host that takes us", async () => {
    await logInEveryWay(place);
  });

  for (const [claim, check] of Object.entries(CONTRACT)) {
    test(`real, by a role that may do nothing else: ${claim}`, () => check({ database: open(asHost()), home: claim }));
  }

  test("a server without sync, and defaults of a role that would hide warnings, are noticed or overruled", async () => {
    await operator.sql("create role odd login superuser");
    await operator.sql("alter role odd set synchronous_commit = off");
    await operator.sql("alter role odd set client_min_messages = error");
    await operator.sql("alter role odd set search_path = public");
    const database = open(place.url.replace("postgres@", "odd@"));
    const show = (name: string) => ({
      statement: { name, text: `select current_setting('${name}')` },
      encode: () => [],
      decode: (rows: readonly (readonly unknown[])[]) => rows[0]?.[0],
    });
    const settings = ["synchronous_commit", "client_min_messages", "search_path", "lock_timeout"];
    const answers = [];
    for (const name of settings) answers.push(await database.call(show(name), undefined));
    const values = answers.map((answer) => answer.kind === "done" && answer.value);
    expect(values).toEqual(["on", "notice", "pg_catalog, pg_temp", "5s"]);
  });

  test("RL4 whoever was fenced learns it at its next append, and sends nothing after it", async () => {
    const log = await logOf("fenced", open());
    await log.append(1, Buffer.from("1\n"));
    const next = await logOf("fenced", open(), 2);
    expect(next.lastSeq).toBe(1);
    expect(await log.append(2, Buffer.from("2\n"))).toEqual({ kind: "fenced" });
    expect(await next.append(2, Buffer.from("other\n"))).toEqual({ kind: "committed" });
    expect(await log.append(2, Buffer.from("2\n"))).toEqual({ kind: "fenced" });
    expect(await entriesOf("fenced")).toEqual(["1", "other"]);
  });

  test("a cancelled wait for the standby confirms nothing, until a commit without a warning follows", async () => {
    const database = open(named("doubt"));
    const log = await logOf("doubt", database);
    await configure("alter system set synchronous_standby_names = 'nobody'", "nobody");
    database.drop(); // A new backend has the new setting.
    let end: unknown;
    const appended = log.append(1, Buffer.from("doubted\n")).then((it) => {
      end = it;
      return it;
    });
    const cancel = `select pg_cancel_backend(pid) from pg_stat_activity
      where application_name = 'doubt' and wait_event = 'SyncRep'`;
    for (let cancelled = 0; cancelled < 3; cancelled++) {
      await until(
        "it waits for a standby",
        async () => (await operator.sql(cancel)).length > 0,
        () => end,
      );
    }
    expect(await entriesOf("doubt")).toEqual(["doubted"]); // It is there, and nobody was told.
    expect(end).toBeUndefined();
    await configure("alter system reset synchronous_standby_names", "");
    expect(await appended).toEqual({ kind: "committed" });
  });

  test("connections that the server ends in mid-statement lose and double nothing", async () => {
    const kills = amount(40, 1_000);
    let killed = 0;
    const log = await logOf("ended", open(named("victim")));
    const appending = appendUntil(log, () => killed >= kills);
    const kill = `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'victim' and state = 'active' and query like '%into holdfast.batches%' and random() < 0.3`;
    while (killed < kills) killed += (await operator.sql(kill)).length; // It looks as often as it can.
    const confirmed = await appending;
    expect(await entriesOf("ended")).toEqual(confirmed);
  });

  test("connections that the network cuts in mid-statement lose and double nothing", async () => {
    const cuts = amount(60, 1_000);
    const proxy = new CuttingProxy(place.port, seeded(23));
    const log = await logOf("cut", open(`postgres://by_trust@127.0.0.1:${proxy.port}/postgres`));
    proxy.rate = 0.25;
    const confirmed = await appendUntil(log, () => proxy.total >= cuts);
    expect(await entriesOf("cut")).toEqual(confirmed);
    expect(proxy.cuts.size).toBe(4);
    proxy.close();
  });

  test("a backend that is killed, and the server's recovery after it, lose and double nothing", async () => {
    // Its recovery syncs a whole new cluster, which takes seconds: not for every commit.
    const kills = amount(isInSample(6) ? 1 : 0, 20);
    let killed = 0;
    const log = await logOf("killed", open(named("killed")));
    const appending = appendUntil(log, () => killed >= kills);
    for (; killed < kills; killed += 1) {
      const find = "select pid from pg_stat_activity where application_name = 'killed'";
      const [pid] = await until(
        "it is connected",
        async () => nonEmpty(await again(find)),
        () => killed,
      );
      process.kill(Number(pid), "SIGKILL");
      await until(
        "the server is back",
        async () => nonEmpty(await again("select 1")),
        () => killed,
      );
    }
    const confirmed = await appending;
    expect(await entriesOf("killed")).toEqual(confirmed);
    expect((await open().call(LOOK, "killed")).kind).toBe("done");
  });
});

/** The operator loses its connection too. */
async function again(text: string): Promise<(string | null)[]> {
  try {
    return await operator.sql(text);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    operator.close();
    await until(
      "there is a connection",
      () => reconnected(),
      () => error.message,
    );
    return [];
  }
}

async function reconnected(): Promise<boolean> {
  try {
    operator = await Operator.at(place.url);
    return true;
  } catch {
    return false; // The server is in recovery.
  }
}

function nonEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
