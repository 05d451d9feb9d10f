// `holdfast fleet init|join|key rotate` as a new user meets them, with a real PostgreSQL: what is wrong is said at
// once, with what to do next, and nothing is left half done; and a role that may only use the tables.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SCHEMA_VERSION } from "../../src/fleet/schema.ts";
import { rejects } from "../cli/expect.ts";
import { cli, type Ended, removeHomes } from "../cli/homes.ts";
import { HAS_POSTGRES, Operator, startTestServer, type TestServer } from "./server.ts";

const ROLE = "fleet_host";
const NO_RIGHT = "42501";

let server: TestServer;
let operator: Operator;
let scratch: string;

/** A host with a configuration and a home of its own, that runs nothing. */
class Host {
  readonly place: string;
  readonly config: string;
  readonly key: string;

  constructor(name: string, settings = "") {
    this.place = join(scratch, name);
    mkdirSync(this.place, { recursive: true });
    this.config = join(this.place, "config.toml");
    this.key = join(this.place, "fleet.key");
    const homes = JSON.stringify(join(this.place, "homes"));
    writeFileSync(this.config, `[fleet]\nkey_file = ${JSON.stringify(this.key)}\nhomes = ${homes}\n${settings}`);
  }

  do(...words: readonly string[]): Promise<Ended> {
    const env = { HOLDFAST_HOME: join(this.place, "home"), HOLDFAST_CONFIG: this.config, HOME: this.place };
    return cli(["fleet", ...words], env);
  }

  async ok(...words: readonly string[]): Promise<string> {
    const { code, out, err } = await this.do(...words);
    expect({ words, code, err }).toEqual({ words, code: 0, err: expect.any(String) });
    return out;
  }

  /** It is refused like this, and not in the fleet. */
  async refused(words: readonly string[], message: string, hint: string): Promise<void> {
    const before = readFileSync(this.config, "utf8");
    const ended = await this.do(...words);
    rejects(ended, 1, message);
    expect(ended.err).toContain(hint);
    expect(readFileSync(this.config, "utf8")).toBe(before);
  }

  gets(key: string): this {
    writeFileSync(this.key, key, { mode: 0o600 });
    return this;
  }
}

function as(role: string): string {
  return server.url.replace("postgres@", `${role}@`);
}

function tcp(login: string): string {
  return `postgres://${login}@127.0.0.1:${server.port}/postgres`;
}

describe.skipIf(!HAS_POSTGRES)("setting up a fleet (needs postgresql)", () => {
  beforeAll(async () => {
    server = await startTestServer();
    operator = await Operator.at(server.url);
    await operator.sql(`create role ${ROLE} login`);
    await operator.sql("create role by_scram login password 'secret'");
    await operator.sql("create role reader login");
    await operator.sql("alter role reader set default_transaction_read_only = on");
  }, 60_000);

  beforeEach(async () => {
    scratch = mkdtempSync(join(tmpdir(), "hf-setup-"));
    await operator.sql("drop schema if exists holdfast cascade");
  });

  afterEach(() => rmSync(scratch, { recursive: true, force: true }));

  afterAll(async () => {
    operator?.close();
    await server?.stop();
    removeHomes();
  });

  test("a role may use the tables, and neither change them nor read any others", async () => {
    const ann = new Host("ann");
    const missing = 'There is no role "nobody_such" in the database.';
    await ann.refused(["init", server.url, "--role", "nobody_such"], missing, 'create role "nobody_such" login');
    await ann.refused(["init", server.url, "--role", 'x"; drop'], "not the name of a role", "in psql");
    const made = JSON.parse(await ann.ok("init", server.url, "--role", ROLE, "--json"));
    expect(made).toMatchObject({ schema: SCHEMA_VERSION, role: ROLE, key: ann.key, config: ann.config });
    expect(readFileSync(ann.config, "utf8")).toContain(`url = ${JSON.stringify(as(ROLE))}`); // Not the owner's.
    expect(await ann.ok("ls", "--json")).toBe("[]\n");
    await ann.ok("init", server.url, "--role", ROLE); // It can be repeated.
    await operator.sql("create schema if not exists theirs");
    await operator.sql("create table if not exists theirs.secrets (it text)");
    const role = await Operator.at(as(ROLE));
    const tables = await operator.sql("select tablename from pg_tables where schemaname = 'holdfast'");
    for (const table of tables) {
      expect(await role.sql(`select count(*)::text from holdfast.${table}`)).toHaveLength(1);
      for (const change of ["alter table holdfast.T add column x int", "drop table holdfast.T", "truncate holdfast.T"])
        await expect(role.sql(change.replace("T", String(table)))).rejects.toThrow(NO_RIGHT);
    }
    const others = [
      ...["create table holdfast.more (x int)", "drop schema holdfast cascade", "select * from theirs.secrets"],
      ...["update holdfast.version set version = 99, least = 99", "create role more", "select * from pg_authid"],
    ];
    for (const other of others) await expect(role.sql(other)).rejects.toThrow(NO_RIGHT);
    role.close();
  });

  test("a role that was granted nothing is told who grants it", async () => {
    const ann = new Host("ann");
    const hint = "holdfast fleet init URL --role ROLE";
    await ann.refused(["init", as(ROLE)], "The database refused", hint);
    await ann.ok("init", server.url);
    const bob = new Host("bob").gets(readFileSync(ann.key, "utf8"));
    await bob.refused(["join", as(ROLE)], "permission denied", hint);
    await ann.ok("init", server.url, "--role", ROLE); // In a fleet already: it only grants.
    expect(readFileSync(ann.config, "utf8")).toContain(`url = ${JSON.stringify(server.url)}`);
    await bob.ok("join", as(ROLE));
  });

  test("an address, a password or a server that does not do is named", async () => {
    const ann = new Host("ann");
    await ann.refused(["init", "mysql://x@y/z"], "does not begin with postgres://", "postgres://user@host/database");
    await ann.refused(["init", "postgres://a@127.0.0.1:1/b"], "127.0.0.1:1", "Check that the server runs");
    await ann.refused(["init", tcp("by_scram:wrong")], "28P01", "pgpass");
    await ann.refused(["init", tcp("by_scram")], "there is none", "pgpass");
    const strict = `?sslmode=verify-full&sslrootcert=${server.other}`;
    await ann.refused(["init", `${tcp("by_scram:secret")}${strict}`], "certificate", "Check sslrootcert");
    await ann.refused(["init", as("reader")], "It only reads", "postgres://user@one,two/database");
    expect(existsSync(ann.key)).toBe(false);
  });

  test("a key that is missing, open to others, or another one is refused before anything is written", async () => {
    const [ann, bob] = [new Host("ann"), new Host("bob")];
    await bob.gets(`${"ab".repeat(32)}\n`).refused(["join", server.url], "no fleet in this database", "fleet init");
    rmSync(bob.key);
    await ann.ok("init", server.url);
    await bob.refused(["join", server.url], `There is no file ${bob.key}`, "Copy it from another host");
    await bob.refused(["init", server.url], "a fleet in this database already", "holdfast fleet join");
    expect(existsSync(bob.key)).toBe(false);
    bob.gets(`${"ab".repeat(32)}\n`);
    await bob.refused(["join", server.url], "does not open what the fleet has", "Copy the file with the keys");
    await bob.refused(["init", server.url], "does not open what the fleet has", "Copy the file with the keys");
    bob.gets(readFileSync(ann.key, "utf8"));
    chmodSync(bob.key, 0o640);
    await bob.refused(["join", server.url], "can be read or written by others", "chmod 600");
    chmodSync(bob.key, 0o600);
    await bob.ok("join", server.url);
    await bob.refused(["join", server.url], "in a fleet already", "fleet leave");
  });

  test("tables of a newer version, and a name that another host has, are refused", async () => {
    const ann = new Host("ann");
    await ann.ok("init", server.url, "--host", "ann");
    await operator.sql("update holdfast.version set version = 99, least = 99");
    const bob = new Host("bob").gets(readFileSync(ann.key, "utf8"));
    await bob.refused(["join", server.url], "have version 99", "Upgrade Holdfast");
    await operator.sql(`update holdfast.version set version = ${SCHEMA_VERSION}, least = 2`);
    await operator.sql("insert into holdfast.hosts values ('1', 'ann', '', 0, '1', '', clock_timestamp())");
    await bob.refused(
      ["join", server.url, "--host", "ann"],
      'Another host of the fleet is called "ann"',
      "--host NAME",
    );
    const before = readFileSync(bob.config, "utf8");
    await bob.ok("join", server.url, "--host", "bob");
    expect(readFileSync(bob.config, "utf8")).toContain('host = "bob"');
    await bob.ok("leave");
    expect(readFileSync(bob.config, "utf8")).toBe(before);
    const cid = new Host("cid", 'host = "ann"\n').gets(readFileSync(ann.key, "utf8"));
    await cid.refused(["join", server.url, "--host", "cid"], "The host has a name in", "without --host");
    await operator.sql("update holdfast.hosts set seen = 'epoch'"); // Long away: perhaps this one, made anew.
    await cid.ok("join", server.url);
  });

  test("a new key is put above the old, and both open", async () => {
    const [ann, bob] = [new Host("ann"), new Host("bob")];
    await ann.refused(["key", "rotate"], `There is no file ${ann.key}`, "Copy it");
    await ann.ok("init", server.url);
    const old = readFileSync(ann.key, "utf8");
    expect(JSON.parse(await ann.ok("key", "rotate", "--json"))).toEqual({ key: ann.key, keys: 2 });
    const [first = "", ...rest] = readFileSync(ann.key, "utf8").split("\n");
    expect([first.length, rest.join("\n"), statSync(ann.key).mode & 0o777]).toEqual([64, old, 0o600]);
    await bob.gets(`${first}\n`).refused(["join", server.url], "does not open", "Copy the file");
    await bob.gets(readFileSync(ann.key, "utf8")).ok("join", server.url);
  });
});
