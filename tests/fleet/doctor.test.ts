// What `holdfast doctor` says of a fleet with a real PostgreSQL. No daemon is needed: it only looks.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ANNOUNCE, APPEND, DESCRIBE, ENROL, TAKE, type Take } from "../../src/fleet/calls.ts";
import { initDatabase } from "../../src/fleet/schema.ts";
import { FleetSeal } from "../../src/fleet/seal.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { realRandom } from "../../src/world/real/random.ts";
import { ours } from "../ours.ts";
import { databaseAt, HAS_POSTGRES, Operator, startTestServer, type TestServer } from "./server.ts";

const ID = "a".repeat(32);

let server: TestServer;
const place = mkdtempSync(join(tmpdir(), "hf-doctor-"));
const [home, homes, key] = [join(place, "home"), join(place, "homes"), join(place, "fleet.key")];

beforeAll(async () => {
  for (const directory of [join(home, "recovery"), join(homes, ".host")]) mkdirSync(directory, { recursive: true });
  writeFileSync(join(home, "recovery/home.json"), JSON.stringify({ v: 1, id: ID, directory: "", path: home }));
  writeFileSync(join(homes, ".host/id.json"), JSON.stringify({ v: 1, id: "b".repeat(32) }));
  writeFileSync(key, FleetSeal.newFile(realRandom()), { mode: 0o600 });
  if (HAS_POSTGRES) server = await startTestServer();
});

afterAll(async () => {
  await server?.stop();
  rmSync(place, { recursive: true, force: true });
});

type Check = { name: string; status: string; what: string; why: string | null; next: string | null };

/** The checks of the fleet, by their names. */
async function doctor(url: string): Promise<Readonly<Record<string, Check>>> {
  const config = join(place, "config.toml");
  const lines = [`url = "${url}"`, `key_file = "${key}"`, 'host = "web1"', `homes = "${homes}"`, 'take = ["x"]'];
  writeFileSync(config, ["[fleet]", ...(url === "" ? [] : lines), ""].join("\n"));
  const env = { PATH: process.env["PATH"] ?? "", HOME: place, HOLDFAST_CONFIG: config };
  const child = Bun.spawn(ours("src/cli/main.ts", "doctor", "--json", "--home", home), { env, stderr: "pipe" });
  const { checks } = (await new Response(child.stdout).json()) as { checks: readonly Check[] };
  const found = checks.filter(({ name }) => name.startsWith("fleet-"));
  return Object.fromEntries(found.map((check) => [check.name, check]));
}

function statuses(found: Readonly<Record<string, Check>>): Record<string, string> {
  return Object.fromEntries(Object.values(found).map(({ name, status }) => [name, status]));
}

/** This home is web1's, with a batch in its log, and another host is there. */
async function fill(takes: readonly string[]): Promise<void> {
  const database = databaseAt(server.url);
  const seal = FleetSeal.read({ disk: realDisk(), random: realRandom() }, key);
  if (!seal.ok) throw new Error(seal.error.message);
  const take: Take = { home: ID, epoch: 1, id: "t" };
  const bytes = seal.value.batch(ID, 1, 1, Buffer.from("entry"));
  const host = { labels: [], capacity: 0, version: "1", address: "" };
  await initDatabase(database);
  await database.call(ENROL, { home: ID, lastSeq: 0 });
  await database.call(TAKE, { take, owner: "web1", leaseMs: 60_000, ifExpired: false });
  await database.call(APPEND, { take, batch: { first: 1, last: 1, bytes }, leaseMs: 60_000 });
  await database.call(DESCRIBE, { take, name: "web1-work", takeover: "auto", host: "b".repeat(32) });
  await database.call(ANNOUNCE, { ...host, id: "b".repeat(32), name: "web1", takes: ["*"] });
  await database.call(ANNOUNCE, { ...host, id: "c".repeat(32), name: "web2", takes });
  database.drop();
}

test("without a fleet, doctor says nothing of one", async () => {
  expect(await doctor("")).toEqual({});
});

describe.skipIf(!HAS_POSTGRES)("with a real PostgreSQL (needs postgresql)", () => {
  test("doctor only looks: tables that are missing are a problem, and stay missing", async () => {
    for (let times = 0; times < 2; times++) {
      const found = await doctor(server.url);
      expect(found["fleet-schema"]).toMatchObject({ status: "problem", next: expect.stringContaining("holdfast up") });
      expect(statuses(found)).toMatchObject({ "fleet-connection": "ok", "fleet-clock": "ok", "fleet-key": "ok" });
    }
  }, 120_000);

  test("it says whose the home is, whether the key fits, and that nobody would take it over", async () => {
    await fill(["other-*"]);
    const found = await doctor(server.url);
    expect(statuses(found)).toEqual({
      ...{ "fleet-database": expect.any(String), "fleet-connection": "ok", "fleet-schema": "ok", "fleet-clock": "ok" },
      ...{ "fleet-fail-over": "ok", "fleet-key": "ok", "fleet-home": "warning", "fleet-standby": "problem" },
      ...{ "fleet-takeover": "warning", "fleet-room": expect.any(String) },
    });
    expect(found["fleet-key"]?.what).toContain("opens the logs of 1 home");
    expect(found["fleet-fail-over"]?.what).toContain("may lose the last commits");
    expect(found["fleet-home"]?.what).toContain("web1's (epoch 1), its lease lasts for");
    expect(found["fleet-takeover"]?.why).toBe("there is web2, without [fleet] take for web1-work");
    await fill(["web1-*"]);
    expect((await doctor(server.url))["fleet-takeover"]).toMatchObject({
      status: "ok",
      what: "web2 would take it over",
    });
  }, 120_000);

  test("a role without rights, a key of another fleet or for others to read, and a database that is gone are problems", async () => {
    const operator = await Operator.at(server.url);
    await operator.sql("create role reader login");
    await operator.sql("grant usage on schema holdfast to reader");
    await operator.sql("grant select on all tables in schema holdfast to reader");
    operator.close();
    const reader = `postgres://reader@127.0.0.1:${server.port}/postgres`;
    expect((await doctor(reader))["fleet-schema"]).toMatchObject({
      status: "problem",
      what: expect.stringContaining("may not write"),
    });
    chmodSync(key, 0o644);
    expect((await doctor(server.url))["fleet-key"]).toMatchObject({ status: "problem", next: `chmod 600 ${key}` });
    writeFileSync(key, FleetSeal.newFile(realRandom()));
    chmodSync(key, 0o600);
    expect((await doctor(server.url))["fleet-key"]).toMatchObject({
      status: "problem",
      what: expect.stringContaining("does not open"),
    });
    await server.server.stop();
    const found = await doctor(server.url);
    expect(found["fleet-database"]).toMatchObject({
      status: "problem",
      what: expect.stringContaining("cannot be used"),
    });
    expect(found["fleet-standby"]?.status).toBe("problem");
  }, 120_000);
});
