// The fleet of a simulated home: its database, which has troubles of its own, and the other hosts, which take it over.
// FL1. Another host takes the home as a standby program does: once its lease has ended, or because an operator wants it
//      at once. What it makes of the database is a new disk, and nothing else of the home goes there.
// FL2. What a daemon starts, it starts only while its home is its own: its take is the one in the database, and its
//      lease lasts by the clock of the database. If an operator takes a home whose lease lasts, that is known later.
//      A fail-over that loses commits may lose a take. Each daemon has a take of its own.
// FL3. The database's log has no hole, opens with the fleet's key, and has every entry that the home's disk has, from
//      where it begins: a fail-over may have lost the home, which was enrolled again then.
// FL4. The clock of the database is another machine's: nobody sets it, and it does not sleep.
import { ok, type Result, refused } from "../../../src/base/result.ts";
import { LOOK } from "../../../src/fleet/calls.ts";
import { Database } from "../../../src/fleet/database.ts";
import { materialise } from "../../../src/fleet/materialise.ts";
import { Mirror } from "../../../src/fleet/mirror.ts";
import { FleetSeal } from "../../../src/fleet/seal.ts";
import { Shipper } from "../../../src/fleet/ship/shipper.ts";
import { takeHome } from "../../../src/fleet/take.ts";
import { readOwner } from "../../../src/home/fleet-files.ts";
import { IDENTITY } from "../../../src/home/layout.ts";
import { LogView } from "../../../src/log/inspect.ts";
import { decodeEntry } from "../../../src/log/session/entry.ts";
import { decodeFrame, entriesOf } from "../../../src/log/wal/frame.ts";
import type { Clock } from "../../../src/world/clock.ts";
import type { Postgres } from "../../../src/world/postgres.ts";
import { pause } from "../../../src/world/wait.ts";
import { NO_TARGET } from "../../fleet/model.ts";
import type { SimClock } from "../clock.ts";
import { SimDisk } from "../disk.ts";
import { type Born, HOME } from "../machine.ts";
import type { Life, Moment } from "../mortal.ts";
import { mortalPostgres } from "../mortal-postgres.ts";
import { SimPostgres, TROUBLES } from "../postgres.ts";
import { SimProcesses } from "../processes.ts";
import { SimRandom } from "../random.ts";

/**
 * `rate`: how likely a call of the database meets a trouble. `ships`: files are shipped, too. `containers`: the hosts
 * are containers of one machine, which have the same boot id, and pids of their own.
 */
export type FleetPlan = {
  readonly mode: "sync" | "async";
  readonly rate: number;
  readonly ships: boolean;
  readonly containers?: boolean;
};

export const HOME_ID = "0123456789abcdef0123456789abcdef";
const KEY_FILE = "/u/fleet.key";
const KEY = "a1".repeat(32);
export const LEASE_MS = 3_000;
export const FLEET_SETTINGS = `[fleet]
url = "postgres://holdfast@127.0.0.1/holdfast?sslmode=disable"
key_file = "${KEY_FILE}"
lease_s = ${LEASE_MS / 1_000}
`;
const TAPE_BYTES = 4_096;
const AGAIN_MS = 500;
/** What people have beside the home. */
const BESIDE = "/u";
/** A fail-over that loses what was confirmed is no subject where hosts take a home over: docs/FLEET.md says so. */
const WITHOUT_WARNINGS = TROUBLES.filter((trouble) => trouble !== "warning");

export class SimHomeFleet {
  readonly postgres: SimPostgres;
  /** The host that has it, by name. */
  host = "host-1";
  /** Whether this host cannot reach the database. */
  #isCut = false;
  readonly #clock: SimClock;
  readonly #theirs: Clock;
  readonly #random: SimRandom;
  readonly #seal: FleetSeal;
  readonly #plan: FleetPlan;
  readonly #connections = new Set<() => void>();
  #hosts = 1;
  /** Whether another host takes the home, or has it; and, if so, whether an operator wants that (FL2). */
  isMoving = false;
  #isForced = false;
  /** The daemons that have acted, by their takes. */
  readonly #users = new Map<string, number>();

  constructor(clock: SimClock, seed: number, plan: FleetPlan) {
    this.#clock = clock;
    this.#random = new SimRandom(seed);
    this.#plan = plan;
    this.#seal = new FleetSeal(new SimRandom(seed + 1), [Uint8Array.fromHex(KEY)]);
    this.#theirs = anotherMachines(clock);
    const { mode, rate } = plan;
    const troubles = mode === "sync" ? TROUBLES : WITHOUT_WARNINGS;
    this.postgres = new SimPostgres({ clock: this.#theirs, random: new SimRandom(seed + 2), mode, rate, troubles });
  }

  /** What a home needs to be in the fleet. */
  static plant(disk: SimDisk): void {
    const identity = { v: 1, id: HOME_ID, directory: "", path: HOME };
    disk.plant(`${HOME}/${IDENTITY}`, Buffer.from(`${JSON.stringify(identity)}\n`));
    disk.plant(KEY_FILE, Buffer.from(`${KEY}\n`));
  }

  /** The database as a process of this host reaches it. */
  door(life: Life, moment: Moment): Postgres {
    const reached: Postgres = { connect: () => this.#connect() };
    return mortalPostgres(reached, life, moment);
  }

  async #connect(): ReturnType<Postgres["connect"]> {
    const made = await this.postgres.connect();
    if (!made.ok) return made;
    if (this.#isCut) {
      made.value.close();
      return refused("postgres-unreachable", "There is no way to it.", "");
    }
    const connection = made.value;
    this.#connections.add(() => connection.close());
    return ok(connection);
  }

  /** From now on, or until then, this host cannot reach the database. */
  cut(isCut: boolean): void {
    this.#isCut = isCut;
    for (const close of isCut ? this.#connections : []) close();
    this.#connections.clear();
  }

  get isOfContainers(): boolean {
    return this.#plan.containers ?? false;
  }

  /** Nothing goes wrong any more. */
  calm(): void {
    this.postgres.calm();
  }

  /** Ships the files of the home for as long as this process lives. */
  ship({ life }: Born, doors: ShipDoors) {
    if (!this.#plan.ships) return;
    const database = this.#database(this.door(life, () => undefined));
    const shipper = new Shipper({ ...doors, home: HOME, tapeBytes: TAPE_BYTES, database, seal: this.#seal });
    const rounds = async () => {
      while (!life.dead) {
        if (readOwner({ disk: doors.disk, home: HOME }) !== undefined) await shipper.round();
        await pause(doors.clock, shipper.pauseMs);
      }
    };
    return rounds();
  }

  #database(postgres: Postgres = this.postgres): Database {
    return new Database({ postgres, target: NO_TARGET, clock: this.#theirs });
  }

  /** FL1. Returns the disk of the other host. */
  async takeOver(isForced: boolean, beside: SimDisk): Promise<SimDisk> {
    this.isMoving = true;
    this.#isForced = isForced;
    this.#hosts += 1;
    const host = `host-${this.#hosts}`;
    const database = this.#database();
    const take = await this.#take(database, host, isForced);
    const disk = new SimDisk();
    for (const path of filesIn(beside, BESIDE)) disk.plant(path, bytesOf(beside, path));
    const world = { disk, clock: this.#clock, processes: new SimProcesses() };
    const mirror = new Mirror({ disk, database, homeId: HOME_ID, path: "/mirror", step: () => undefined });
    const wish = { take, directory: HOME, from: this.host };
    await this.#certainly(() => materialise({ world, mirror, seal: this.#seal }, wish));
    this.host = host;
    return disk;
  }

  /** It goes on there. */
  arrived(): void {
    this.cut(false);
    this.#isForced = false;
    this.isMoving = false;
  }

  async #take(database: Database, owner: string, isForced: boolean) {
    const ports = { database, clock: this.#theirs, random: this.#random, troubled: () => undefined };
    const taken = await this.#certainly(async () => {
      const row = await database.call(LOOK, HOME_ID);
      if (row.kind !== "done" || row.value === undefined) return refused("no-answer", "It does not answer.", "");
      const take = { home: HOME_ID, epoch: row.value.epoch + 1, id: `${owner} ${this.#random.int(1e9)}` };
      const wish = { take, owner, leaseMs: LEASE_MS, ifExpired: !isForced };
      return takeHome({ ...ports, isWanted: () => true }, wish);
    });
    return taken.take;
  }

  async #certainly<T>(work: () => Promise<Result<T>>): Promise<T> {
    for (;;) {
      const done = await work();
      if (done.ok) return done.value;
      await pause(this.#theirs, AGAIN_MS);
    }
  }

  /** FL2: what is wrong with starting something now. */
  wrongWithActing(disk: SimDisk, pid: number): string | undefined {
    const row = this.#row;
    const owner = readOwner({ disk, home: HOME });
    if (this.#plan.mode === "async") return undefined;
    if (row === undefined) return "it acts before the database knows its home";
    const ours = [owner?.take?.id, owner?.wished?.id].includes(row.take);
    if (!ours) return this.#isForced ? undefined : `it acts for a home that ${row.owner} has`;
    const first = this.#users.get(row.take) ?? pid;
    this.#users.set(row.take, first);
    if (first !== pid) return "it acts under the take of a daemon before it";
    const late = this.#theirs.now() - row.leaseUntil;
    return late >= 0 ? `it acts ${late} ms after its lease has ended` : undefined;
  }

  get #row() {
    return this.postgres.tables.homes.find(([id]) => id === HOME_ID)?.[1];
  }

  /** Whether the home has an owner in the database. */
  get isKnown(): boolean {
    return (this.#row?.epoch ?? 0) > 0;
  }

  /** Whether a daemon may end with this code of its own: its home is not its own any more. */
  mayEnd(said: readonly string[]): boolean {
    const isLost = said.some((words) => words.includes("nothing is done here any more"));
    return isLost && (this.isMoving || this.#plan.mode === "async");
  }

  /** Whether its log may have stopped because the database has lost what it had confirmed. */
  mayStop(said: readonly string[]): boolean {
    return this.#plan.mode === "async" && said.some((words) => words.includes("has lost what it had confirmed"));
  }

  /** FL3 */
  wrong(disk: SimDisk): string[] {
    const there = new Map<number, string>();
    const problems: string[] = [];
    let end = (this.postgres.tables.batchesOf(HOME_ID)[0]?.first ?? 1) - 1;
    const began = end;
    for (const row of this.postgres.tables.batchesOf(HOME_ID)) {
      const opened = this.#seal.openBatches(HOME_ID, row);
      if (!opened.ok) return [opened.error.message];
      for (const [seq, text] of opened.value.flatMap(({ bytes }) => [...entriesIn(bytes)])) {
        if (seq !== end + 1) problems.push(`the database has ${seq} behind ${end}`);
        there.set(seq, text);
        end = seq;
      }
      if (row.last !== end) problems.push(`a batch up to ${row.last} ends at ${end}`);
    }
    for (const [seq, text] of entriesOn(disk)) {
      if (seq > began && there.get(seq) !== text)
        problems.push(`${seq} is ${text} here, and ${there.get(seq)} in the database`);
    }
    return problems;
  }
}

/** FL4 */
function anotherMachines(clock: SimClock): Clock {
  const began = clock.now() - clock.sinceBoot();
  return {
    now: () => Math.floor(began + clock.sinceBoot()),
    minutesAhead: () => 0,
    elapsed: () => clock.elapsed(),
    sinceBoot: () => clock.sinceBoot(),
    after: (ms, fn) => clock.after(ms, fn),
    soon: (fn) => clock.soon(fn),
  };
}

type ShipDoors = Pick<ConstructorParameters<typeof Shipper>[0], "disk" | "clock">;

function* entriesIn(bytes: Uint8Array): Generator<[number, string]> {
  for (const line of Buffer.from(bytes).toString("latin1").split("\n").slice(0, -1)) {
    const frame = decodeFrame(Buffer.from(line, "latin1"), 0);
    if (frame === undefined) throw new Error(`no frame: ${line}`);
    for (const { session, line: entry } of entriesOf(frame)) {
      const { seq, event } = decodeEntry(entry) ?? { seq: 0, event: "" };
      yield [seq, `${session} ${event}`];
    }
  }
}

function* entriesOn(disk: SimDisk): Generator<[number, string]> {
  const view = new LogView(disk, HOME);
  for (const session of view.sessions)
    for (const reading of view.read(session))
      if (reading.kind === "entry") yield [reading.entry.seq, `${session} ${reading.entry.event}`];
}

function* filesIn(disk: SimDisk, directory: string): Generator<string> {
  for (const name of disk.list(directory)) {
    const path = `${directory}/${name}`;
    if (disk.stat(path)?.kind === "directory") yield* filesIn(disk, path);
    else yield path;
  }
}

function bytesOf(disk: SimDisk, path: string): Uint8Array {
  const file = disk.open(path, "read");
  const bytes = new Uint8Array(file.size());
  file.read(bytes, 0);
  file.close();
  return bytes;
}
