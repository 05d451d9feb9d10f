// Hosts with their standby programs on one simulated database. What a home's files and its daemon would do is played: a
// home is made by its directory, and its daemon takes it a second after its start.
import { ok, refused } from "../../src/base/result.ts";
import { DESCRIBE, ENROL, HOMES, RELEASE, TAKE, type Take, type WatchedRow } from "../../src/fleet/calls.ts";
import { type Answer, Database, RETRIES } from "../../src/fleet/database.ts";
import { RemoteLog } from "../../src/fleet/remote-log.ts";
import { takeHome } from "../../src/fleet/take.ts";
import { readOwner, writeOwner } from "../../src/home/fleet-files.ts";
import type { MakeWish } from "../../src/standby/ports.ts";
import { type StandbySettings, startStandby } from "../../src/standby/standby.ts";
import { StatusFile } from "../../src/standby/status.ts";
import { pause } from "../../src/world/wait.ts";
import { NO_TARGET } from "../fleet/model.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { Life, type Moment, mortalClock, mortalDisk } from "../sim/mortal.ts";
import { mortalPostgres } from "../sim/mortal-postgres.ts";
import { driven, SimPostgres, type SimPostgresOptions } from "../sim/postgres.ts";
import { SimProcesses } from "../sim/processes.ts";
import { SimRandom } from "../sim/random.ts";

export const LEASE_S = 3;
const LEASE_MS = 3_000;
const HOME = "/h";
export const HOMES_AT = "/homes";
const CONFIG: StandbySettings["config"] = {
  ...{
    url: "x",
    keyFile: "",
    host: "",
    ssh: "",
    leaseS: LEASE_S,
    takeover: "auto",
    take: ["w*"],
    mirror: [],
    homes: HOMES_AT,
  },
  ...{ labels: [], capacity: 0, page: "", tapeBytes: 0, carryBytes: 1 << 20 },
};

export class SimFleet {
  readonly clock = new SimClock();
  readonly postgres: SimPostgres;
  readonly #seed: number;
  readonly #running: RemoteLog[] = [];
  #daemons = 0;

  constructor(seed: number, more: Partial<SimPostgresOptions> = {}) {
    this.#seed = seed;
    const random = new SimRandom(seed);
    this.postgres = new SimPostgres({ clock: this.clock, random, mode: "sync", rate: 0, ...more });
  }

  database(): Database {
    return new Database({ postgres: this.postgres, target: NO_TARGET, clock: this.clock });
  }

  do<T>(work: Promise<T>): Promise<T> {
    return driven(this.clock, work);
  }

  async wait(ms: number): Promise<void> {
    await this.do(pause(this.clock, ms));
  }

  /** A home of another host, which has this lease from now on. */
  async enrol(home: string, leaseMs: number): Promise<Take> {
    const database = this.database();
    const take = { home, epoch: 1, id: `${home} 1` };
    const order = { take, owner: "elsewhere", leaseMs, ifExpired: false };
    const ports = { database, clock: this.clock, random: new SimRandom(this.#seed + 5), troubled: () => undefined };
    await this.#certainly(() => database.call(ENROL, { home, lastSeq: 0 }));
    await this.do(takeHome({ ...ports, isWanted: () => true }, order));
    const words = { take, name: `w-${home}`, takeover: "auto", host: "elsewhere's id" };
    await this.#certainly(() => database.call(DESCRIBE, words));
    database.drop();
    return take;
  }

  async #certainly(ask: () => Promise<Answer<unknown>>): Promise<void> {
    while ((await this.do(ask())).kind !== "done") await this.wait(1_000);
  }

  release(take: Take) {
    return this.do(this.database().call(RELEASE, { take }));
  }

  /** Its owner is alive and well, and renews as a daemon does. */
  owner(take: Take): RemoteLog {
    const database = new Database({ postgres: this.postgres, target: NO_TARGET, clock: this.clock }, LEASE_MS / 3);
    const retries = { ...RETRIES, mostMs: LEASE_MS / 3 };
    const ports = { database, clock: this.clock, random: new SimRandom(this.#seed + 7), retries };
    const log = new RemoteLog({ ...ports, troubled: () => undefined }, { take, lastSeq: 0, leaseMs: LEASE_MS });
    const renew = async () => {
      while (!log.isFenced) {
        await log.renew();
        await pause(this.clock, LEASE_MS / 3);
      }
    };
    void renew();
    return log;
  }

  async row(home: string): Promise<WatchedRow | undefined> {
    const database = this.database();
    for (;;) {
      const answer = await this.do(database.call(HOMES, undefined));
      if (answer.kind === "done") return answer.value.find(({ id }) => id === home);
      await this.wait(1_000);
    }
  }

  /** The words of its events, in their order. */
  events(kind?: string): string[] {
    const all = this.postgres.tables.events.map(({ values }) => ({ kind: values[2], words: String(values[3]) }));
    return all.filter((event) => kind === undefined || event.kind === kind).map(({ words }) => words);
  }

  /** The machine of all homes that were started has lost its power. */
  powerOff(disk: SimDisk, directory: string): void {
    for (const log of this.#running.splice(0)) log.close();
    disk.removeDirectory(`${directory}/up`);
  }

  /** Starts a home as a watchdog would: once, however often it is asked for. */
  async boot(disk: SimDisk, directory: string, host: string): Promise<undefined> {
    const place = { disk, home: directory };
    if (disk.stat(`${directory}/up`) !== undefined) return;
    disk.makeDirectory(`${directory}/up`);
    const owner = readOwner(place);
    if (owner?.take == null) throw new Error("it is started without an owner's record");
    const next = { home: owner.home, epoch: owner.take.epoch + 1, id: `daemon ${this.#daemons++}` };
    const takes = async () => {
      await pause(this.clock, 1_000);
      await writeOwner(place, { ...owner, wished: { epoch: next.epoch, id: next.id } });
      const order = { take: next, owner: host, leaseMs: LEASE_MS, ifExpired: false };
      const answer = await this.database().call(TAKE, order);
      if (answer.kind !== "done" || !answer.value) return;
      await writeOwner(place, { home: owner.home, take: { epoch: next.epoch, id: next.id }, wished: null });
      this.#running.push(this.owner(next));
    };
    void takes();
  }
}

/** A host with a disk that survives its standby programs. */
export class SimHost {
  readonly disk = new SimDisk();
  readonly said: string[] = [];
  made: MakeWish[] = [];
  /** Homes of which it has a copy. */
  readonly copies = new Set<string>();
  /** How many times making a home fails. */
  failures = 0;
  readonly #fleet: SimFleet;
  readonly #name: string;
  readonly #processes = new SimProcesses();
  #lives = 0;

  constructor(fleet: SimFleet, name: string) {
    this.#fleet = fleet;
    this.#name = name;
    for (const path of [HOME, `${HOME}/run`, HOMES_AT]) this.disk.makeDirectory(path);
  }

  /** Starts a standby program; `moment` is told before each change of the disk, and around each call. */
  async start(told: (life: Life, what: string) => void = () => undefined): Promise<Life> {
    const life = new Life();
    const moment: Moment = (what) => told(life, what);
    this.#lives += 1;
    this.#processes.restart();
    const world = {
      clock: mortalClock(this.#fleet.clock, life),
      disk: mortalDisk(this.disk, life, moment),
      random: new SimRandom(this.#lives * 1_000 + this.#name.length),
      processes: this.#processes,
      postgres: mortalPostgres(this.#fleet.postgres, life, moment),
    };
    const settings: StandbySettings = {
      ...{ world, home: HOME, config: CONFIG, hostName: this.#name, address: "", target: NO_TARGET },
      files: () => ({
        make: (wish) => this.#make(wish, moment),
        mirror: async (home) => ok(this.copies.add(home).size),
        forget: async (home) => ok(void this.copies.delete(home)),
      }),
      shipper: () => ({ round: async () => ok(undefined), pauseMs: 60_000 }),
      lister: () => ({ round: async () => ok(undefined), pauseMs: 60_000, close: () => undefined }),
      start: (directory) => this.#fleet.boot(this.disk, directory, this.#name),
      ...{ daemon: { role: async () => undefined, handOver: async () => undefined }, leave: () => undefined },
      say: (words) => void this.said.push(words),
      broken: (error) => {
        if (!life.dead) throw error;
      },
      status: new StatusFile(world, HOME),
    };
    const started = startStandby(settings).catch((error: unknown) => {
      if (!life.dead) throw error;
    });
    for (let turn = 0; turn < 50 && !life.dead; turn++) await this.#fleet.clock.settle();
    if (!life.dead) await started;
    return life;
  }

  async #make(wish: MakeWish, moment: Moment) {
    await pause(this.#fleet.clock, 500);
    moment("making");
    this.made.push(wish);
    if (this.failures-- > 0) return refused("fleet-hole", "There is a hole.", "Mend it.");
    const { directory, take } = wish;
    if (this.disk.stat(directory) === undefined) {
      const temporary = `${directory}.taking`;
      for (const path of [temporary, `${temporary}/fleet`]) this.disk.makeDirectory(path);
      const record = { home: take.home, take: { epoch: take.epoch, id: take.id }, wished: null };
      await writeOwner({ disk: this.disk, home: temporary }, record);
      this.disk.rename(temporary, directory);
    }
    return ok(undefined);
  }
}
