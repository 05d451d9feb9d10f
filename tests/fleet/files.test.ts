// A home of a real daemon, whose log and files are in a real PostgreSQL, is made again in another directory, and a real
// daemon goes on there.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOOK } from "../../src/fleet/calls.ts";
import { HomesHere } from "../../src/fleet/homes-here.ts";
import { initDatabase } from "../../src/fleet/schema.ts";
import { FleetSeal } from "../../src/fleet/seal.ts";
import { Shipper } from "../../src/fleet/ship/shipper.ts";
import { takeHome } from "../../src/fleet/take.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { LogView } from "../../src/log/inspect.ts";
import { TapeReader } from "../../src/log/tape/reader.ts";
import { readWal } from "../../src/log/wal/wal-files.ts";
import { realWorld } from "../../src/world/world.ts";
import { type DaemonHome, daemonHomes } from "../daemon/home.ts";
import { until } from "../until.ts";
import { databaseAt, HAS_POSTGRES, startTestServer, type TestServer } from "./server.ts";

const newHome = daemonHomes();
const world = realWorld();
const ID = "00000000000000000000000000000001";
const TAPE_BYTES = 4096;
let place: TestServer;
let elsewhere: string;

/** `seq prev event` of every session. */
function entriesIn(home: string): Record<string, string[]> {
  const view = new LogView(world.disk, home);
  const read = (session: string) =>
    [...view.read(session)].map((reading) => {
      if (reading.kind !== "entry") throw new Error(`${session}: ${Bun.inspect(reading)}`);
      const { seq, prev, event } = reading.entry;
      return `${seq} ${prev} ${event}`;
    });
  return Object.fromEntries(view.sessions.map((session) => [session, read(session)]));
}

function sealOf(home: DaemonHome): FleetSeal {
  const seal = FleetSeal.read(world, home.file("fleet.key"));
  if (!seal.ok) throw new Error(seal.error.message);
  return seal.value;
}

function member(): DaemonHome {
  const home = newHome();
  writeFileSync(home.file("recovery/home.json"), JSON.stringify({ v: 1, id: ID, directory: "", path: home.path }));
  writeFileSync(home.file("fleet.key"), FleetSeal.newFile(world.random), { mode: 0o600 });
  const config = ["[fleet]", `url = "${place.url}"`, `key_file = "${home.file("fleet.key")}"`, 'host = "host-a"'];
  appendFileSync(home.file(".config/holdfast/config.toml"), `\n${config.join("\n")}\n`);
  return home;
}

/** Another host takes it, whatever its lease says. */
async function taken() {
  const database = databaseAt(place.url);
  const row = await database.call(LOOK, ID);
  if (row.kind !== "done" || row.value === undefined) throw new Error("there is no such home");
  const take = { home: ID, epoch: row.value.epoch + 1, id: "of host-b" };
  const ports = { database, clock: world.clock, random: world.random, troubled: () => undefined, isWanted: () => true };
  const own = await takeHome(ports, { take, owner: "host-b", leaseMs: 10_000, ifExpired: false });
  if (!own.ok) throw new Error(own.error.message);
  return { take, snapshot: row.value.snapshot };
}

/** A terminal with more output than is shipped, and one that has ended. */
async function used(home: DaemonHome): Promise<string> {
  const id = await home.open("long", ["sh", "-c", "seq 1 20000; echo THE-END; exec sleep 1000"]);
  const ended = await home.open("short", ["sh", "-c", "exit 3"]);
  await home.is(ended, "ended");
  const text = () => {
    const tape = new TapeReader(world.disk, home.file(`terminals/${id}/tape`));
    const read = tape.read(tape.end - 20, 20);
    return read.kind === "bytes" ? Buffer.from(read.bytes).toString() : "";
  };
  await until("it has printed all", () => text().includes("THE-END"), text);
  return id;
}

describe("the files of a home in a fleet (needs postgresql)", () => {
  beforeAll(async () => {
    if (!HAS_POSTGRES) return;
    elsewhere = mkdtempSync(join(tmpdir(), "holdfast-b-"));
    place = await startTestServer();
    await initDatabase(databaseAt(place.url));
  });
  afterAll(async () => {
    await place?.stop();
    if (elsewhere !== undefined) rmSync(elsewhere, { recursive: true, force: true });
  });

  test.skipIf(!HAS_POSTGRES)(
    "a home that is shipped is made elsewhere: log, files and ends of tapes are the same (needs postgresql)",
    async () => {
      const home = member();
      const daemon = await home.live();
      const id = await used(home);
      const seal = sealOf(home);
      const ports = { disk: world.disk, clock: world.clock, home: home.path, tapeBytes: TAPE_BYTES };
      const shipper = new Shipper({ ...ports, database: databaseAt(place.url), seal });
      const drained = () => readWal(world.disk, home.path).view.drained;
      let names = 0;
      const isDrained = async () => {
        names += 1; // The mark comes with the next entry, and a name that it has makes none.
        await home.must("terminal.rename", { id, name: `name-${names}` });
        return drained() > 0;
      };
      await until("the log says that sessions have its entries", isDrained, drained);
      expect(await shipper.round()).toMatchObject({ ok: true, value: { round: "snapshot" } });
      const homes = join(elsewhere, "homes");
      mkdirSync(homes, { mode: 0o700 });
      const database = databaseAt(place.url);
      const here = new HomesHere({ world, database, seal, mirrors: join(homes, ".mirrors"), step: () => undefined });
      expect(await here.mirror(ID)).toMatchObject({ ok: true });
      expect(await here.forget(ID)).toMatchObject({ ok: true });
      expect(readdirSync(join(homes, ".mirrors"))).toEqual([]);
      expect(await here.mirror(ID)).toMatchObject({ ok: true });
      await home.must("terminal.rename", { id, name: "renamed" });
      await home.kill(daemon);
      expect(await shipper.round()).toMatchObject({ ok: true });
      const { take, snapshot } = await taken();
      expect(snapshot).toBeGreaterThan(0);
      expect(await shipper.round()).toMatchObject({ ok: true, value: { count: 0 } });
      const directory = join(homes, "one");
      expect(await here.make({ take, directory, from: "host-a" })).toMatchObject({ ok: true });
      await sameHome(home.path, directory, id);
    },
    300_000,
  );
});

/** Both are opened as a daemon would; then every session has the same entries, and every shipped file is the same. */
async function sameHome(from: string, to: string, id: string): Promise<void> {
  const tapes = [from, to].map((home) => new TapeReader(world.disk, `${home}/terminals/${id}/tape`));
  expect(tapes[1]?.end).toBe(tapes[0]?.end ?? -1);
  const start = tapes[1]?.start ?? 0;
  expect((tapes[1]?.end ?? 0) - start).toBe(TAPE_BYTES);
  expect(tapes[1]?.read(start, TAPE_BYTES)).toEqual(tapes[0]?.read(start, TAPE_BYTES) ?? { kind: "end", end: 0 });
  for (const file of [`terminals/${id}/claim.json`, `terminals/${id}/holder.json`, "recovery/prompt-key"])
    expect(await Bun.file(`${to}/${file}`).bytes()).toEqual(await Bun.file(`${from}/${file}`).bytes());
  for (const home of [from, to]) {
    const log = await EventLog.open({ disk: world.disk, clock: world.clock, home }, { ballastBytes: 0 });
    expect(log.report).toMatchObject({ lost: [], frozen: [], torn: [], quarantined: [], walMissing: false });
    await log.close();
  }
  expect(entriesIn(to)).toEqual(entriesIn(from));
  expect(Object.values(entriesIn(to)).flat().length).toBeGreaterThan(5);
}
