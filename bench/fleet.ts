// fleet.append.<peer>: transactions a second of one writer, each of two events, committed in PostgreSQL (on a socket,
// with its default settings) before the next one begins. Ours is a batch of the home's log: compare-and-set, fence,
// lease and bytes in one statement.
//   inserts  a transaction with a row for each event, through Bun.sql: what a workflow engine on PostgreSQL does
//   bun      our own statement through Bun.sql, without fence: what the protocol client alone costs or gains
// fleet.read: MB/s of reading a home's log back, after small batches were merged; the peer is the same before that.
// fleet.blob: MB/s of storing a blob of 16 MB and reading it back; the peer is a file, with its sync.

import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { getBlob, putBlob } from "../src/fleet/blobs.ts";
import { LOOK, SNAPSHOT } from "../src/fleet/calls.ts";
import type { Database } from "../src/fleet/database.ts";
import { mergeBatches, readBatches } from "../src/fleet/history.ts";
import { initDatabase } from "../src/fleet/schema.ts";
import { APPEND as APPEND_SQL } from "../src/fleet/sql.ts";
import { eventBytes } from "./event.ts";
import { databaseOn, LEASE_MS, logOf, wanted } from "./fleet-home.ts";
import { Postgres } from "./postgres.ts";
import { type Contestant, inTurn, median, rates, timed } from "./rounds.ts";
import { type Row, rateRow } from "./row.ts";
import { type Bench, makePlace } from "./scratch.ts";

const BLOB = 16 << 20;
const READ_BATCHES = 2_000;
const READ_BYTES = 4_096;
const MB = 1e6;

const APPENDS = { inserts: "fleet.append.inserts", bun: "fleet.append.bun" };

export async function fleet(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const missing = Postgres.missing(bench);
  if (missing !== undefined) return bench.say(`fleet: left out: ${missing}`);
  const postgres = await Postgres.start(bench, join(makePlace(bench, "fleet"), "postgres"));
  try {
    const database = databaseOn(postgres);
    wanted(await initDatabase(database));
    if (Object.values(APPENDS).some((name) => names.includes(name))) await appends(postgres, names, bench, emit);
    if (names.includes("fleet.read")) emit(await reading(database, bench));
    if (names.includes("fleet.blob")) emit(await blobs(database, bench));
    database.drop();
  } finally {
    await postgres.end();
  }
}

async function appends(
  postgres: Postgres,
  names: readonly string[],
  bench: Bench,
  emit: (row: Row) => void,
): Promise<void> {
  bench.say(`fleet.append: ${bench.rounds} rounds`);
  const contestants = [await ours(postgres), await inserts(postgres), await sameByBun(postgres)];
  const [value = Number.NaN, pair = Number.NaN, same = Number.NaN] = await rates(contestants, bench, "transactions");
  const rows = [
    { name: APPENDS.inserts, value, peer: contestants[1]?.name ?? "", peerValue: pair },
    { name: APPENDS.bun, value, peer: contestants[2]?.name ?? "", peerValue: same },
  ];
  for (const row of rows) if (names.includes(row.name)) emit(rateRow(row, "tx/s"));
}

async function ours(postgres: Postgres): Promise<Contestant> {
  const database = databaseOn(postgres);
  const { log } = await logOf("append", database);
  const bytes = Buffer.concat([eventBytes(), eventBytes()]);
  const run = async (count: number) => {
    for (let left = count; left > 0; left -= 1) await log.append(log.lastSeq + 2, bytes);
  };
  return { name: "our log", run, close: () => log.close() };
}

function bunSql({ place }: Postgres): SQL {
  return new SQL({
    adapter: "postgres",
    path: join(place, ".s.PGSQL.5432"),
    username: "postgres",
    database: "postgres",
    max: 1,
  });
}

async function inserts(postgres: Postgres): Promise<Contestant> {
  const sql = bunSql(postgres);
  await sql`create table if not exists public.events (id bigserial primary key, run text not null, line bytea not null)`;
  const line = eventBytes();
  const run = async (count: number) => {
    for (let left = count; left > 0; left -= 1) {
      await sql.begin(async (tx) => {
        await tx`insert into public.events (run, line) values ('a', ${line})`;
        await tx`insert into public.events (run, line) values ('a', ${line})`;
      });
    }
  };
  return { name: "two inserts, Bun.sql", run, close: () => sql.close() };
}

async function sameByBun(postgres: Postgres): Promise<Contestant> {
  const [sql, database] = [bunSql(postgres), databaseOn(postgres)];
  const { log } = await logOf("same", database);
  const bytes = Buffer.concat([eventBytes(), eventBytes()]);
  let last = log.lastSeq;
  const run = async (count: number) => {
    for (let left = count; left > 0; left -= 1) {
      await sql.unsafe(APPEND_SQL, ["same", 1, "same", last, last + 2, bytes, LEASE_MS]);
      last += 2;
    }
  };
  const close = async () => {
    log.close();
    await sql.close();
  };
  return { name: "our statement, Bun.sql", run, close };
}

async function reading(database: Database, bench: Bench): Promise<Row> {
  bench.say(`fleet.read: ${bench.rounds} rounds of ${READ_BATCHES} batches, small and merged`);
  for (const home of ["small", "merged"]) {
    const { log, take } = await logOf(home, database);
    for (let batch = 0; batch < READ_BATCHES; batch++) await log.append(log.lastSeq + 1, new Uint8Array(READ_BYTES));
    if (home === "merged") {
      await database.call(SNAPSHOT, { take, seq: log.lastSeq });
      wanted(await mergeBatches(database, take));
    }
  }
  const read = (home: string) => async () =>
    (READ_BATCHES * READ_BYTES * 1_000) / MB / (await timed(() => readAll(database, home)));
  const [merged = [], small = []] = await inTurn(bench.rounds, [read("merged"), read("small")]);
  return rateRow(
    { name: "fleet.read", value: median(merged), peer: "before merging", peerValue: median(small) },
    "MB/s",
  );
}

async function readAll(database: Database, home: string): Promise<void> {
  const row = await database.call(LOOK, home);
  const end = row.kind === "done" ? (row.value?.lastSeq ?? 0) : 0;
  for (let after = 0; after < end; ) after = wanted(await readBatches(database, home, after)).at(-1)?.last ?? end;
}

async function blobs(database: Database, bench: Bench): Promise<Row> {
  bench.say(`fleet.blob: ${bench.rounds} rounds`);
  const { take } = await logOf("blob", database);
  const bytes = new Uint8Array(BLOB).fill(7);
  let seq = 0;
  const inDatabase = async () => {
    seq += 1;
    wanted(await putBlob(database, take, { path: "blob", seq, bytes }));
    wanted(await getBlob(database, take.home, "blob"));
  };
  const path = join(makePlace(bench, "fleet"), "blob");
  const inFile = () => {
    const fd = openSync(path, "w");
    writeSync(fd, bytes);
    fdatasyncSync(fd);
    closeSync(fd);
    readFileSync(path);
  };
  const speed = (work: () => Promise<void> | void) => async () => (BLOB * 1_000) / MB / (await timed(work));
  const [stored = [], file = []] = await inTurn(bench.rounds, [speed(inDatabase), speed(inFile)]);
  return rateRow({ name: "fleet.blob", value: median(stored), peer: "a file", peerValue: median(file) }, "MB/s");
}
