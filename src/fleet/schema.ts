// The tables, and how they come to be: by migrations, each of them one transaction under one lock.
// SM1. However many hosts do this at once, each migration is carried out once.
// SM2. Whoever finds the tables as they should be needs no right to make them.
// SM3. Tables of a newer version are left alone. They say which programs may use them as they are: hosts are upgraded
//      one after the other, and a daemon must be able to start beside newer ones.
import { ok, type Result, refused } from "../base/result.ts";
import type { PostgresStatement } from "../world/postgres.ts";
import { type Call, type Tables, VERSION } from "./calls.ts";
import type { Answer, Database } from "./database.ts";

/** Any number that nobody else is likely to have chosen. */
const LOCK = 4_846_300_023;
/** Waits for others that do the same. */
const MIGRATION_MS = 60_000;
/** No such schema, and no such table. */
const MISSING: readonly string[] = ["3F000", "42P01"];
const NO_RIGHT = "42501";

/** The first one makes version 1. Never changed, only added to. One that older programs cannot live with raises
 *  `version.least` to its own number, and has to wait until all hosts know it. */
const MIGRATIONS: readonly string[] = [
  `create table holdfast.homes (
     id text primary key, epoch bigint not null, take text not null, owner text not null,
     lease_until timestamptz not null, last_seq bigint not null, snapshot bigint not null
   ) with (fillfactor = 50);
   create table holdfast.batches (
     home text not null, first bigint not null, last bigint not null, epoch bigint not null, bytes bytea not null,
     primary key (home, first), check (first <= last));
   alter table holdfast.batches alter column bytes set storage external;
   create table holdfast.blobs (
     home text not null, path text not null, seq bigint not null, part int not null, parts int not null,
     hash bytea not null, bytes bytea not null, primary key (home, path, seq, part), check (part < parts));
   alter table holdfast.blobs alter column bytes set storage external;`,
  `alter table holdfast.homes
     add column name text not null default '', add column takeover text not null default 'auto',
     add column host text not null default '', add column move_to text not null default '';
   create table holdfast.hosts (
     id text primary key, name text not null, labels text not null, capacity int not null, version text not null,
     address text not null, seen timestamptz not null);
   create table holdfast.events (
     n bigint generated always as identity primary key, at timestamptz not null default clock_timestamp(),
     home text not null, host text not null, kind text not null, words text not null);
   create table holdfast.queue (
     n bigint generated always as identity primary key, id text not null unique, at timestamptz not null,
     asker text not null, kind text not null, labels text not null, bytes bytea not null, state text not null,
     home text not null default '', epoch bigint not null default 0, host text not null default '',
     words text not null default '');
   create index on holdfast.queue (state, n);`,
  `create table holdfast.listings (
     home text primary key, epoch bigint not null, at timestamptz not null, bytes bytea not null) with (fillfactor = 50);
   create table holdfast.asks (
     id text primary key, home text not null, host text not null, until timestamptz not null, bytes bytea not null,
     answer bytea not null default '');
   create index on holdfast.asks (home) where answer = '';`,
  "alter table holdfast.hosts add column takes text not null default '';",
  "alter table holdfast.version add column least int not null default 2;",
];
export const SCHEMA_VERSION = MIGRATIONS.length;

/** SM1 */
function statementOf(version: number, changes: string): PostgresStatement {
  const text = `do $holdfast$ begin
    perform pg_advisory_xact_lock(${LOCK});
    create schema if not exists holdfast;
    create table if not exists holdfast.version (one bool primary key default true check (one), version int not null);
    if coalesce((select version from holdfast.version), 0) >= ${version} then return; end if;
    ${changes}
    insert into holdfast.version (version) values (${version})
      on conflict (one) do update set version = excluded.version;
  end $holdfast$`;
  return { name: `holdfast.migration.${version}`, text };
}

/** Makes the tables, or brings them up to date, or finds that they are. It can be repeated whatever came of it. */
export async function initDatabase(database: Database): Promise<Result<undefined>> {
  const before = judged(await database.call(VERSION, undefined));
  if (before !== "older") return before;
  for (const [index, changes] of MIGRATIONS.entries()) {
    const migration: Call<undefined, undefined> = {
      statement: statementOf(index + 1, changes),
      encode: () => [],
      decode: () => undefined,
    };
    const answer = await database.call(migration, undefined, MIGRATION_MS);
    if (answer.kind !== "done") return notDone(answer);
  }
  const after = judged(await database.call(VERSION, undefined));
  return after === "older" ? refused("fleet-schema", "The tables were made, and are not there.", AGAIN) : after;
}

/** Only looks. Refused if the tables are missing, of another version, or not to be written to by this role. */
export async function schemaOf(database: Database): Promise<Result<number>> {
  const found = judged(await database.call(VERSION, undefined));
  if (found === "older") return refused("fleet-schema", "The tables are missing, or of an older version.", OLDER);
  return found.ok ? ok(SCHEMA_VERSION) : found;
}

const OLDER = "The next start makes them, if the role may: holdfast down; holdfast up";
const AGAIN = "Try it again: it does nothing twice.";

function judged(answer: Answer<Tables>): Result<undefined> | "older" {
  if (answer.kind === "refused" && MISSING.includes(answer.sqlstate)) return "older";
  if (answer.kind !== "done") return notDone(answer);
  const { version, least, mayWrite } = answer.value;
  if (version < SCHEMA_VERSION) return "older";
  if (version > SCHEMA_VERSION && least > SCHEMA_VERSION) {
    const message = `The tables in the database have version ${version}; this program knows ${SCHEMA_VERSION}.`;
    return refused("fleet-schema-newer", message, "Upgrade Holdfast on this host."); // SM3
  }
  if (!mayWrite) return refused("fleet-rights", "The role may not write to the tables of Holdfast.", GRANT);
  return ok(undefined);
}

const GRANT = "With the URL of the owner of the tables: holdfast fleet init URL --role ROLE grants ROLE what it needs.";

function notDone(answer: Exclude<Answer<unknown>, { kind: "done" }>): Result<undefined> {
  if (answer.kind === "unknown")
    return refused("fleet-database", `It is not known what came of it: ${answer.why}`, AGAIN);
  if (answer.sqlstate === NO_RIGHT) return refused("fleet-rights", `The database refused: ${answer.message}.`, GRANT);
  return refused("fleet-database", `The database refused: ${answer.message} (${answer.sqlstate}).`, AGAIN);
}
