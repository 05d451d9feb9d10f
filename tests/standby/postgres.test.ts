// The real standby program and a real PostgreSQL: who is robbed, and who is taken over.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DESCRIBE, ENROL, EVENTS, HOMES, HOSTS, type Take } from "../../src/fleet/calls.ts";
import type { Database } from "../../src/fleet/database.ts";
import { RemoteLog } from "../../src/fleet/remote-log.ts";
import { initDatabase } from "../../src/fleet/schema.ts";
import { FleetSeal } from "../../src/fleet/seal.ts";
import { takeHome } from "../../src/fleet/take.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realProcesses } from "../../src/world/real/process.ts";
import { realRandom } from "../../src/world/real/random.ts";
import { databaseAt, HAS_POSTGRES, Operator, startTestServer, type TestServer } from "../fleet/server.ts";
import { until } from "../until.ts";
import { powerOff, runningBelow } from "./power.ts";
import { StandbyProgram } from "./program.ts";

const LEASE_S = 3;
const LEASE_MS = LEASE_S * 1_000;

/** Time is the subject of these tests: leases end by it. */
function passed(ms: number): Promise<true> {
  const end = performance.now() + ms;
  return until(
    `${ms} ms have passed`,
    () => performance.now() > end,
    () => end - performance.now(),
  );
}

/** The owner of a home on another host, as its daemon is. */
class Owner {
  readonly log: RemoteLog;
  readonly #database: Database;
  readonly #timer: Timer;
  troubles = 0;

  private constructor(database: Database, take: Take) {
    this.#database = database;
    const troubled = (why: string | undefined) => {
      if (why !== undefined) this.troubles += 1;
    };
    const ports = { database, clock: realClock(), random: realRandom(), troubled };
    this.log = new RemoteLog(ports, { take, lastSeq: 0, leaseMs: LEASE_MS });
    this.#timer = setInterval(() => void this.log.renew(), LEASE_MS / 3);
  }

  static async of(url: string, home: string, takeover = "auto"): Promise<Owner> {
    const database = databaseAt(`${url}&application_name=owner`);
    const take = { home, epoch: 1, id: `${home} of elsewhere` };
    await database.call(ENROL, { home, lastSeq: 0 });
    const ports = { database, clock: realClock(), random: realRandom(), troubled: () => undefined };
    const wish = { take, owner: "elsewhere", leaseMs: LEASE_MS, ifExpired: false };
    const taken = await takeHome({ ...ports, isWanted: () => true }, wish);
    if (!taken.ok) throw new Error(taken.error.message);
    await database.call(DESCRIBE, { take, name: `w-${home}`, takeover, host: "the id of elsewhere" });
    return new Owner(database, take);
  }

  /** It dies without a word. */
  die(): void {
    clearInterval(this.#timer);
    this.log.close();
    this.#database.drop();
  }
}

describe.skipIf(!HAS_POSTGRES)("with a real PostgreSQL (needs postgresql)", () => {
  let server: TestServer;
  let url: string;
  let look: Database;
  const owners: Owner[] = [];
  const standbys: StandbyProgram[] = [];
  const places: string[] = [];

  beforeAll(async () => {
    server = await startTestServer();
    url = server.url;
    look = databaseAt(url);
    expect(await initDatabase(look)).toMatchObject({ ok: true });
  });
  afterEach(async () => {
    for (const standby of standbys.splice(0)) await standby.kill();
    for (const owner of owners.splice(0)) owner.die();
    for (const place of places.splice(0)) {
      await powerOff(() => runningBelow(place)); // A home that was taken over runs by itself.
      rmSync(place, { recursive: true, force: true });
    }
  });
  afterAll(async () => {
    look.drop();
    await server.stop();
  });

  async function owner(home: string, takeover?: string): Promise<Owner> {
    const made = await Owner.of(url, home, takeover);
    owners.push(made);
    return made;
  }

  function host(name: string, take: readonly string[]): StandbyProgram {
    const place = mkdtempSync(join(tmpdir(), "hf-host-"));
    places.push(place);
    mkdirSync(join(place, "home/run"), { recursive: true });
    const homes = join(place, "homes");
    const key_file = join(place, "fleet.key");
    writeFileSync(key_file, FleetSeal.newFile(realRandom()), { mode: 0o600 });
    const made = new StandbyProgram(join(place, "home"), { url, host: name, lease_s: LEASE_S, take, homes, key_file });
    standbys.push(made);
    made.start();
    return made;
  }

  async function row(home: string) {
    const answer = await look.call(HOMES, undefined);
    return answer.kind === "done" ? answer.value.find(({ id }) => id === home) : undefined;
  }

  async function acts(name: string, standby: StandbyProgram): Promise<void> {
    await until(
      `${name} is announced`,
      async () => {
        const answer = await look.call(HOSTS, undefined);
        return answer.kind === "done" && answer.value.some((found) => found.name === name);
      },
      () => standby.said,
    );
  }

  /** PostgreSQL with all its processes; or without some. */
  function processesOf(without: readonly number[] = []): number[] {
    const processes = realProcesses().list();
    const below = (parent: number): number[] =>
      processes.filter(({ ppid }) => ppid === parent).flatMap((child) => [child.pid, ...below(child.pid)]);
    const { pid } = server.server;
    return [pid, ...below(pid)].filter((each) => !without.includes(each));
  }

  /** A server's program may have ended since it was found. */
  function signal(pids: readonly number[], name: "SIGSTOP" | "SIGCONT"): void {
    for (const pid of pids)
      try {
        process.kill(pid, name);
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
      }
  }

  async function backendsOf(application: string): Promise<number[]> {
    const operator = await Operator.at(url);
    const pids = await operator.sql(`select pid::text from pg_stat_activity where application_name = '${application}'`);
    operator.close();
    return pids.map(Number);
  }

  test("a database that stands still for longer than a lease costs no healthy owner its home", async () => {
    const healthy = [await owner("f1"), await owner("f2"), await owner("f3")];
    const hosts = ["h1", "h2"].map((name) => host(name, ["w-f*"]));
    for (const [at, each] of hosts.entries()) await acts(`h${at + 1}`, each);
    for (const pauseMs of [LEASE_MS + 1_500, 2 * LEASE_MS]) {
      const ofOwners = await backendsOf("owner");
      expect(ofOwners.length).toBe(healthy.length);
      signal(processesOf(), "SIGSTOP");
      await passed(pauseMs);
      signal(processesOf(ofOwners), "SIGCONT"); // Which of them the system lets go on first is chance.
      await passed(LEASE_MS / 2);
      signal(ofOwners, "SIGCONT");
      await passed(2 * LEASE_MS);
      expect(healthy.map(({ log }) => log.isFenced)).toEqual([false, false, false]);
    }
    for (const home of ["f1", "f2", "f3"]) expect(await row(home)).toMatchObject({ owner: "elsewhere", epoch: 1 });
  });

  test("of two hosts, one takes a dead owner's home within two leases; one that is manual, or not named, stays", async () => {
    const [dead, manual, other] = [await owner("d1"), await owner("d2", "manual"), await owner("x1")];
    const hosts = ["h3", "h4"].map((name) => host(name, ["w-d*"]));
    for (const [at, each] of hosts.entries()) await acts(`h${at + 3}`, each);
    await passed(7_000 + LEASE_MS); // Until the first sight is over (WA3 of core/fleet/watch.ts).
    const diedAt = performance.now();
    for (const each of [dead, manual, other]) each.die();
    await until(
      "it is taken",
      async () => ((await row("d1"))?.epoch ?? 0) > 1,
      async () => [await row("d1"), hosts.map(({ said }) => said)],
    );
    expect(performance.now() - diedAt).toBeGreaterThan(LEASE_MS * 0.6);
    await until(
      "that is an event",
      async () => {
        const answer = await look.call(EVENTS, { after: 0 });
        const words = answer.kind === "done" ? answer.value.map((event) => event.words) : [];
        return words.filter((each) => each.startsWith("w-d1 was taken over from elsewhere by h")).length === 1;
      },
      () => hosts.map(({ said }) => said),
    );
    await passed(2 * LEASE_MS);
    for (const home of ["d2", "x1"]) expect(await row(home)).toMatchObject({ owner: "elsewhere", epoch: 1 });
  });
});
