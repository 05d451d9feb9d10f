// A small home on a simulated disk whose log is in a simulated database, shipped from there, and made again elsewhere.
import { expect } from "bun:test";
import { ok, type Result } from "../../src/base/result.ts";
import { APPEND, type Call, ENROL, TAKE, type Take } from "../../src/fleet/calls.ts";
import { Database } from "../../src/fleet/database.ts";
import { type Materialised, materialise } from "../../src/fleet/materialise.ts";
import { Mirror } from "../../src/fleet/mirror.ts";
import { FleetSeal } from "../../src/fleet/seal.ts";
import { Shipper } from "../../src/fleet/ship/shipper.ts";
import { writeOwner } from "../../src/home/fleet-files.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { writeAtomic } from "../../src/log/file/atomic-file.ts";
import { makeDirectories, readWhole } from "../../src/log/file/file.ts";
import { archivedLog } from "../../src/log/session/archived-log.ts";
import { archivedName, isArchived, listArchived, listSessions } from "../../src/log/session/places.ts";
import { decodeFrame, lastOf } from "../../src/log/wal/frame.ts";
import type { Disk } from "../../src/world/disk.ts";
import type { Postgres, PostgresConnection, PostgresOutcome } from "../../src/world/postgres.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { driven, SimPostgres } from "../sim/postgres.ts";
import { SimProcesses } from "../sim/processes.ts";
import { SimRandom } from "../sim/random.ts";
import { NO_TARGET } from "./model.ts";

export const HOME_ID = "0123456789abcdef0123456789abcdef";
export const AGENT = "agents/a1";
export const TERMINAL = "terminals/t1";
export const RUN = "state/repo/sessions/r1";
const LEASE_MS = 60_000;
/** Long enough that no frame is overwritten; a session's file soon becomes a segment. */
const OPTIONS = { segmentBytes: 64 << 10, pageBytes: 256, ballastBytes: 0, sessionBytes: 400 };

export type Entries = Readonly<Record<string, readonly string[]>>;

/** Lets through so many statements, and then nothing. */
class Stopping implements Postgres {
  left = Number.POSITIVE_INFINITY;
  /** Happens instead of stopping, before the last of them. */
  meanwhile: (() => Promise<void>) | undefined;
  readonly #postgres: Postgres;
  readonly #clock: SimClock;

  constructor(postgres: Postgres, clock: SimClock) {
    this.#postgres = postgres;
    this.#clock = clock;
  }

  /** The clock goes on during it. */
  async #ticking(work: () => Promise<void>): Promise<void> {
    let cancel: () => void = () => undefined;
    const tick = () => {
      cancel = this.#clock.after(1, tick);
    };
    tick();
    await work();
    cancel();
  }

  async connect(...given: Parameters<Postgres["connect"]>): Promise<Result<PostgresConnection>> {
    const made = await this.#postgres.connect(...given);
    if (!made.ok) return made;
    const connection = made.value;
    const run: PostgresConnection["run"] = async (...call): Promise<PostgresOutcome> => {
      this.left -= 1;
      const { meanwhile } = this;
      if (this.left <= 0 && meanwhile !== undefined) {
        this.left = Number.POSITIVE_INFINITY;
        this.meanwhile = undefined;
        await this.#ticking(meanwhile);
      }
      if (this.left >= 0) return connection.run(...call);
      return { kind: "refused", sqlstate: "57P01", message: "stopped by the test" };
    };
    return ok({
      host: "a test",
      get isOpen() {
        return connection.isOpen;
      },
      run,
      cancel: () => connection.cancel(),
      close: () => connection.close(),
    });
  }
}

export class ShippedHome {
  readonly clock = new SimClock();
  readonly random = new SimRandom(1);
  readonly postgres = new SimPostgres({ clock: this.clock, random: new SimRandom(2), mode: "sync", rate: 0 });
  readonly stopping = new Stopping(this.postgres, this.clock);
  readonly seal = new FleetSeal(this.random, [Uint8Array.from(this.random.bytes(32))]);
  readonly disk = new SimDisk();
  readonly home = "/a/home";
  take: Take = { home: HOME_ID, epoch: 1, id: "take 1" };
  log: EventLog | undefined;
  shipper = this.newShipper();
  #sent = 0;

  get place() {
    return { disk: this.disk, clock: this.clock, home: this.home };
  }

  get opened(): EventLog {
    if (this.log === undefined) throw new Error("the log is not open");
    return this.log;
  }

  newShipper(tapeBytes = 20): Shipper {
    const database = new Database({ postgres: this.stopping, target: NO_TARGET, clock: this.clock });
    return new Shipper({ ...this.place, tapeBytes, database, seal: this.seal });
  }

  database(postgres: Postgres = this.postgres): Database {
    return new Database({ postgres, target: NO_TARGET, clock: this.clock });
  }

  async call<P, R>(call: Call<P, R>, parameters: P): Promise<R> {
    const answer = await driven(this.clock, this.database().call(call, parameters));
    if (answer.kind !== "done") throw new Error(Bun.inspect(answer));
    return answer.value;
  }

  /** Opens its log, and takes it in the database. */
  async begin(): Promise<void> {
    await this.open();
    await this.call(ENROL, { home: HOME_ID, lastSeq: 0 });
    await this.call(TAKE, { take: this.take, owner: "a", leaseMs: LEASE_MS, ifExpired: true });
    await writeOwner(this.place, { home: HOME_ID, take: this.take, wished: null });
  }

  async open(): Promise<void> {
    this.log = await EventLog.open(this.place, OPTIONS);
  }

  /** Acknowledged, and in the database. */
  async append(session: string, ...texts: readonly string[]): Promise<void> {
    for (const text of texts) {
      const ts = "2026-01-01T00:00:00.000Z";
      const done = this.opened.append([{ session, ts, event: "message.enqueued", data: { text } }]);
      if (!done.ok) throw new Error(done.error.message);
      await done.value.durable;
    }
    await this.send();
  }

  /** What the database lacks of the log, one batch for each frame. */
  async send(): Promise<void> {
    for (const line of walLines(this.disk, this.home)) {
      const frame = decodeFrame(line.subarray(0, -1), 0);
      if (frame === undefined || frame.first !== this.#sent + 1) continue;
      const last = lastOf(frame);
      const batch = { first: frame.first, last, bytes: this.seal.batch(HOME_ID, frame.first, last, line) };
      expect(await this.call(APPEND, { take: this.take, batch, leaseMs: LEASE_MS })).toBe(true);
      this.#sent = last;
    }
  }

  async put(path: string, text: string): Promise<void> {
    const whole = `${this.home}/${path}`;
    makeDirectories(this.disk, whole.slice(0, whole.lastIndexOf("/")));
    await writeAtomic(this.disk, whole, Buffer.from(text));
  }

  archive(session: string): void {
    this.disk.rename(`${this.home}/${session}`, `${this.home}/${archivedName(session)}`);
  }

  bringBack(session: string): void {
    this.disk.rename(`${this.home}/${archivedName(session)}`, `${this.home}/${session}`);
  }

  /** A round, in which a snapshot is due if one may be. */
  ship(shipper = this.shipper, sinceMs = 700_000) {
    this.clock.advance(sinceMs);
    return driven(this.clock, shipper.round());
  }

  mirror(disk: Disk, postgres: Postgres = this.postgres): Mirror {
    const database = this.database(postgres);
    return new Mirror({ disk, database, homeId: HOME_ID, path: "/b/mirror", step: () => undefined });
  }

  /** On another disk. */
  materialise(disk: SimDisk, mirror = this.mirror(disk), take = this.take): Promise<Result<Materialised>> {
    const world = { disk, clock: this.clock, processes: new SimProcesses() };
    const wish = { take, directory: "/b/home", from: "host a" };
    return driven(this.clock, materialise({ world, mirror, seal: this.seal }, wish));
  }

  entries(): Entries {
    return entriesIn(this.opened, this.place);
  }
}

/** All whole frames, each with its newline, in the order of the log. */
export function walLines(disk: Disk, home: string): Buffer[] {
  const lines = disk.list(`${home}/wal`).flatMap((name) => {
    const text = Buffer.from(readWhole(disk, `${home}/wal/${name}`) ?? []).toString("latin1");
    return text.replaceAll(/\0+/g, "").split("\n");
  });
  const frames = lines.flatMap((line) => {
    const frame = decodeFrame(Buffer.from(line, "latin1"), 0);
    return frame !== undefined && frame.count > 0
      ? [{ first: frame.first, line: Buffer.from(`${line}\n`, "latin1") }]
      : [];
  });
  return frames.toSorted((a, b) => a.first - b.first).map(({ line }) => line);
}

/** `seq prev text` of every entry of every session. */
export function entriesIn(log: EventLog, { disk, home }: { disk: Disk; home: string }): Entries {
  const names = new Set([...listSessions(disk, home), ...listArchived(disk, home)]);
  const found: Record<string, string[]> = {};
  for (const name of [...names].sort()) {
    const lines: string[] = [];
    const from =
      isArchived(disk, home, name) && disk.stat(`${home}/${name}`) === undefined ? archivedLog(disk, home) : log;
    for (const reading of from.read(name)) {
      if (reading.kind !== "entry") throw new Error(`${name}: ${Bun.inspect(reading)}`);
      const { seq, prev, data } = reading.entry;
      lines.push(`${seq} ${prev} ${JSON.stringify(data)}`);
    }
    if (lines.length > 0) found[name] = lines;
  }
  return found;
}

/** Opens the home that was made, compares its log, and writes to it. */
export async function expectWhole(disk: SimDisk, expected: Entries): Promise<void> {
  const place = { disk, clock: new SimClock(), home: "/b/home" };
  const log = await EventLog.open(place, OPTIONS);
  const { lost, frozen, torn } = log.report;
  expect({ lost, frozen, torn }).toEqual({ lost: [], frozen: [], torn: [] });
  expect(entriesIn(log, place)).toEqual(expected);
  const done = log.append([
    { session: AGENT, ts: "2026-01-01T00:00:00.000Z", event: "tested", data: { text: "more" } },
  ]);
  if (!done.ok) throw new Error(done.error.message);
  await done.value.durable;
  const last = Object.values(expected).flatMap((lines) => lines.map((line) => Number.parseInt(line, 10)));
  expect(done.value.first).toBe(Math.max(...last) + 1);
  await log.close();
}
