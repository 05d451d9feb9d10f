// A daemon in a fleet, as a real process with a real PostgreSQL: what is acknowledged is on both sides, and a home that
// another host has taken is left alone.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { UPGRADE_MS } from "../../src/daemon/fleet/holding.ts";
import { HOMES, LOOK, type Take } from "../../src/fleet/calls.ts";
import { readBatches } from "../../src/fleet/history.ts";
import { type Ownership, RemoteLog } from "../../src/fleet/remote-log.ts";
import { initDatabase } from "../../src/fleet/schema.ts";
import { FleetSeal } from "../../src/fleet/seal.ts";
import { takeHome } from "../../src/fleet/take.ts";
import { readLease } from "../../src/home/fleet-files.ts";
import { WATCHDOG_LOCK } from "../../src/home/layout.ts";
import { writeUpgrade } from "../../src/home/upgrade.ts";
import { takeLock } from "../../src/log/file/lock.ts";
import { LogView } from "../../src/log/inspect.ts";
import { decodeEntry } from "../../src/log/session/entry.ts";
import { decodeFrame, entriesOf } from "../../src/log/wal/frame.ts";
import { ANOTHER_RUNS } from "../../src/wire/heartbeat.ts";
import { identify } from "../../src/world/process.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { realRandom } from "../../src/world/real/random.ts";
import { realWorld } from "../../src/world/world.ts";
import { type DaemonHome, daemonHomes, processes } from "../daemon/home.ts";
import { ours } from "../ours.ts";
import { until } from "../until.ts";
import { databaseAt, HAS_POSTGRES, startTestServer, type TestServer } from "./server.ts";

const newHome = daemonHomes();
const SLEEP = ["sleep", "1000"];
const LEASE_S = 3;
let place: TestServer;
let homes = 0;

type Member = { readonly home: DaemonHome; readonly id: string };

/** A home with an id and the configuration of a fleet. */
function member(): Member {
  const home = newHome();
  homes += 1;
  const id = `${homes}`.padStart(32, "0");
  writeFileSync(home.file("recovery/home.json"), JSON.stringify({ v: 1, id, directory: "", path: home.path }));
  configure(home);
  return { home, id };
}

function configure(home: DaemonHome): void {
  writeFileSync(home.file("fleet.key"), FleetSeal.newFile(realRandom()), { mode: 0o600 });
  const [url, key] = [`url = "${place.url}"`, `key_file = "${home.file("fleet.key")}"`];
  const config = ["[fleet]", url, key, 'host = "host-a"', `lease_s = ${LEASE_S}`];
  appendFileSync(home.file(".config/holdfast/config.toml"), `\n${config.join("\n")}\n`);
}

/** `seq session event` of all that the database has. */
async function entriesThere({ home, id }: Member): Promise<string[]> {
  const seal = FleetSeal.read({ disk: realDisk(), random: realRandom() }, home.file("fleet.key"));
  const rows = await readBatches(databaseAt(place.url), id, 0);
  if (!seal.ok || !rows.ok) throw new Error("the database cannot be read");
  return rows.value.flatMap((row) => {
    const opened = seal.value.openBatches(id, row);
    if (!opened.ok) throw new Error(opened.error.message);
    return opened.value.flatMap(({ bytes }) => linesOf(bytes));
  });
}

function linesOf(bytes: Uint8Array): string[] {
  const lines = Buffer.from(bytes).toString("latin1").split("\n").slice(0, -1);
  return lines.flatMap((line) => {
    const frame = decodeFrame(Buffer.from(line, "latin1"), 0);
    if (frame === undefined) throw new Error(`no frame: ${line}`);
    return entriesOf(frame).map(({ session, line: entry }) => {
      const { seq, event } = decodeEntry(entry) ?? { seq: 0, event: "" };
      return `${seq} ${session} ${event}`;
    });
  });
}

/** The same of what is on the disk. */
function entriesHere({ home }: Member): string[] {
  const view = new LogView(realDisk(), home.path);
  const all = view.sessions.flatMap((session) =>
    [...view.read(session)].flatMap((reading) =>
      reading.kind === "entry" ? [{ seq: reading.entry.seq, text: `${session} ${reading.entry.event}` }] : [],
    ),
  );
  return all.toSorted((a, b) => a.seq - b.seq).map(({ seq, text }) => `${seq} ${text}`);
}

/** Another host takes the home, as an operator may. */
async function takenBy(owner: string, id: string): Promise<{ readonly log: RemoteLog; readonly own: Ownership }> {
  const database = databaseAt(place.url);
  const ports = { database, clock: realClock(), random: realRandom(), troubled: () => undefined };
  const row = await database.call(LOOK, id);
  if (row.kind !== "done" || row.value === undefined) throw new Error("there is no such home");
  const take: Take = { home: id, epoch: row.value.epoch + 1, id: `of ${owner}` };
  const wish = { take, owner, leaseMs: LEASE_S * 1_000, ifExpired: false };
  const own = await takeHome({ ...ports, isWanted: () => true }, wish);
  if (!own.ok) throw new Error(own.error.message);
  return { log: new RemoteLog(ports, own.value), own: own.value };
}

/** Stops every process of the database. */
function freeze(): { goOn(): void } {
  const [main] = readFileSync(join(place.server.place, "data/postmaster.pid"), "utf8").split("\n");
  const children = readFileSync(`/proc/${main}/task/${main}/children`, "utf8").split(" ").filter(Boolean);
  const pids = [Number(main), ...children.map(Number)];
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  return { goOn: () => pids.forEach((pid) => void process.kill(pid, "SIGCONT")) };
}

/** What a command says that fails. */
async function failed(home: DaemonHome, ...words: readonly string[]): Promise<string> {
  const argv = [...ours("src/cli/main.ts"), ...words, "--home", home.path];
  const env = { PATH: "/usr/bin:/bin", HOME: home.path };
  const child = Bun.spawn(argv, { cwd: home.path, env, stdio: ["ignore", "pipe", "pipe"] });
  const said = (await child.stdout.text()) + (await child.stderr.text());
  expect(await child.exited).not.toBe(0);
  return said;
}

async function fleetOf(home: DaemonHome) {
  return (await home.must("status", {})).fleet;
}

describe("a daemon in a fleet (needs postgresql)", () => {
  beforeAll(async () => {
    if (!HAS_POSTGRES) return;
    place = await startTestServer();
    await initDatabase(databaseAt(place.url));
  });
  afterAll(async () => {
    await place?.stop();
  });

  test.skipIf(!HAS_POSTGRES)(
    "what is acknowledged is in the database, and a start raises the epoch (needs postgresql)",
    async () => {
      const one = member();
      const first = await one.home.live();
      const id = await one.home.open("one", SLEEP);
      expect((await entriesThere(one)).some((entry) => entry.includes(`terminals/${id}`))).toBe(true);
      expect(await fleetOf(one.home)).toMatchObject({ role: "owner", owner: "host-a", epoch: 1, why: null });
      const rows = await databaseAt(place.url).call(HOMES, undefined);
      const named = rows.kind === "done" && rows.value.find((row) => row.id === one.id)?.name;
      expect(named).toBe(`host-a-${basename(one.home.path)}`); // No standby program runs here.
      await one.home.is(id, "running");
      await one.home.kill(first);
      await one.home.live();
      await one.home.is(id, "running");
      expect(await fleetOf(one.home)).toMatchObject({ role: "owner", epoch: 2 });
      await one.home.open("two", SLEEP);
      const there = await entriesThere(one);
      expect(entriesHere(one).slice(0, there.length)).toEqual(there);
    },
  );

  test.skipIf(!HAS_POSTGRES)(
    "HL2 a daemon that an upgrade replaces leaves a longer lease behind, and the next one takes it (needs postgresql)",
    async () => {
      const one = member();
      const lease = async () => {
        const row = await databaseAt(place.url).call(LOOK, one.id);
        return row.kind === "done" ? row.value?.leaseMs : undefined;
      };
      writeFileSync(one.home.file("recovery/wanted.json"), '{"v":1,"wanted":"up"}');
      mkdirSync(one.home.file("run"), { recursive: true });
      const us = identify(processes, process.pid);
      const watchdog = us && takeLock(realWorld(), one.home.file(WATCHDOG_LOCK), us); // So that no daemon starts one.
      if (watchdog?.ok !== true) throw new Error("the lock is taken");
      const first = await one.home.live();
      await one.home.stop(first);
      expect(await lease()).toBeLessThanOrEqual(LEASE_S * 1_000);
      const daemon = await one.home.live();
      const release = { version: "1", file: "1" };
      const by = { pid: 1, startTime: 1, bootId: "" };
      const record = {
        v: 1,
        path: "/x",
        from: release,
        to: release,
        by,
        limitMs: 1,
        page: false,
        safeMode: false,
      } as const;
      await writeUpgrade(realDisk(), one.home.path, record);
      await one.home.stop(daemon);
      expect(await lease()).toBeGreaterThan(UPGRADE_MS / 2);
      expect(readLease({ disk: realDisk(), home: one.home.path })?.until).toBeGreaterThan(
        realClock().sinceBoot() + UPGRADE_MS / 2,
      );
      await one.home.live();
      expect(await fleetOf(one.home)).toMatchObject({ role: "owner", epoch: 3 });
      expect(await lease()).toBeLessThanOrEqual(LEASE_S * 1_000);
      watchdog.value.release();
    },
  );

  test.skipIf(!HAS_POSTGRES)(
    "a home that another host has taken follows, and says where it is (needs postgresql)",
    async () => {
      const one = member();
      const daemon = await one.home.live();
      const id = await one.home.open("one", ["sh", "-c", "while :; do sleep 0.1; done"]);
      const { pid } = await one.home.is(id, "running");
      const before = await entriesThere(one);
      await takenBy("host-b", one.id);
      const refused = await one.home.ask("terminal.new", one.home.wish("two", SLEEP));
      expect(refused?.ok).not.toBe(true);
      expect(await daemon.process.exited).toBe(ANOTHER_RUNS);
      expect(daemon.said()).not.toContain("because of a bug");
      expect((await entriesThere(one)).slice(0, before.length)).toEqual(before);
      expect(JSON.parse(one.home.text("fleet/fenced.json"))).toMatchObject({ owner: "host-b", epoch: 2 });
      one.home.start();
      await until(
        "the next daemon follows",
        async () => {
          const status = await one.home.ask("status", {});
          return status?.ok === true && status.value.fleet?.role === "follower";
        },
        () => one.home.daemon.said(),
      );
      const answer = await one.home.ask("terminal.new", one.home.wish("two", SLEEP));
      expect(answer).toMatchObject({ ok: false, error: { code: "fleet-follows" } });
      // Settled: nothing here ends a terminal.
      expect(processes.startTime(pid)).toBeDefined();
    },
  );

  test.skipIf(!HAS_POSTGRES)("what only one side has is on both after the next start (needs postgresql)", async () => {
    const one = member();
    const first = await one.home.live();
    await one.home.open("one", SLEEP);
    await one.home.kill(first);
    // Without the fleet for a while: these entries are on this disk alone.
    const config = one.home.text(".config/holdfast/config.toml");
    writeFileSync(one.home.file(".config/holdfast/config.toml"), config.replace(/url = .*/, 'url = ""'));
    const alone = await one.home.live();
    await one.home.open("two", SLEEP);
    await one.home.kill(alone);
    writeFileSync(one.home.file(".config/holdfast/config.toml"), config);
    const third = await one.home.live();
    expect((await entriesThere(one)).length).toBeGreaterThan(0);
    const there = await entriesThere(one);
    expect(entriesHere(one).slice(0, there.length)).toEqual(there);
    expect(third.said()).toContain("were appended to the database of the fleet");
  });

  test.skipIf(!HAS_POSTGRES)(
    "while the database is away, new work is refused, and goes on when it is back (needs postgresql)",
    async () => {
      const one = member();
      await one.home.live();
      await one.home.open("one", SLEEP);
      const frozen = freeze();
      const waits = one.home.must("terminal.new", one.home.wish("waits", SLEEP));
      const told = failed(one.home, "rename", "one", "two");
      const refusals: string[] = [];
      const wish = (n: number) => one.home.wish(`more-${n}`, SLEEP);
      const note = (answer: Awaited<ReturnType<typeof one.home.ask<"terminal.new">>>) => {
        if (answer?.ok === false) refusals.push(answer.error.code);
      };
      let asked = 0;
      await until(
        "new work is refused",
        async () => {
          asked += 1;
          if (asked <= 40) void one.home.ask("terminal.new", wish(asked)).then(note);
          await Bun.sleep(200);
          return refusals.length > 0;
        },
        () => one.home.daemon.said(),
      );
      expect(refusals).toContain("fleet-away");
      // On a busy machine it comes so late that it is refused like the others.
      expect(await told).toMatch(/The database of the fleet (?:cannot be used now|does not answer, so nothing)/);
      frozen.goOn();
      expect((await waits).name).toBe("waits");
      const back = await until(
        "work is taken again",
        async () => (await one.home.ask("terminal.new", one.home.wish("back", SLEEP)))?.ok === true,
        () => one.home.daemon.said(),
      );
      expect(back).toBe(true);
    },
  );

  test.skipIf(!HAS_POSTGRES)(
    "status names a daemon that was started before its home was in the fleet (needs postgresql)",
    async () => {
      const home = newHome();
      await home.live();
      configure(home);
      const said = await failed(home, "fleet", "status");
      expect(said).toContain("its daemon was started before it was in the fleet: holdfast down");
    },
  );
});
