// Fail-overs of the database under owners that append without a pause.
// FO1. What was confirmed to an owner is in its log, once, in order, and nothing that it did not send.
// FO2. With a synchronous standby no owner ever finds that the database has lost what it had confirmed (`behind`).
import { ENROL } from "../../../src/fleet/calls.ts";
import type { Database } from "../../../src/fleet/database.ts";
import { readBatches } from "../../../src/fleet/history.ts";
import { RemoteLog } from "../../../src/fleet/remote-log.ts";
import { initDatabase } from "../../../src/fleet/schema.ts";
import { takeHome } from "../../../src/fleet/take.ts";
import { realClock } from "../../../src/world/real/clock.ts";
import { realRandom } from "../../../src/world/real/random.ts";
import type { SimRandom } from "../../sim/random.ts";
import { until } from "../../until.ts";
import { databaseAt } from "../server.ts";
import type { Databases, FailOver } from "./databases.ts";

const OWNERS = 8;
const LEASE_MS = 60_000;
const MAX_CANCELS = 8;
const WAYS: readonly FailOver[] = ["killed", "cut off", "both"];
/** A call that is lost in a network is given up after this. */
const CALL_MS = 3_000;

export type FailOvers = {
  readonly failOvers: number;
  readonly appended: number;
  readonly cancelled: number;
  readonly troubles: number;
  readonly faults: readonly string[];
};

class Owner {
  readonly confirmed: string[] = [];
  readonly #database: Database;
  readonly #home: string;
  troubles = 0;
  fault: string | undefined;

  constructor(url: string, home: string) {
    this.#home = home;
    this.#database = databaseAt(url, CALL_MS);
  }

  async work(isOver: () => boolean): Promise<void> {
    const ports = {
      database: this.#database,
      clock: realClock(),
      random: realRandom(),
      troubled: () => this.#troubled(),
    };
    await this.#database.call(ENROL, { home: this.#home, lastSeq: 0 });
    const take = { home: this.#home, epoch: 1, id: `${this.#home} 1` };
    const wish = { take, owner: "an owner", leaseMs: LEASE_MS, ifExpired: false };
    const taken = await takeHome({ ...ports, isWanted: () => true }, wish);
    if (!taken.ok) throw new Error(taken.error.message);
    const log = new RemoteLog(ports, taken.value);
    while (!isOver() && this.fault === undefined) {
      const seq = log.lastSeq + 1;
      const { kind } = await log.append(seq, Buffer.from(`${seq}\n`));
      if (kind === "committed") this.confirmed.push(`${seq}`);
      else this.fault = `${this.#home}: append ${seq} ended ${kind}`; // FO2
    }
  }

  #troubled(): void {
    this.troubles += 1;
  }

  /** FO1 */
  async check(): Promise<string[]> {
    const entries: string[] = [];
    for (;;) {
      const read = await readBatches(this.#database, this.#home, entries.length);
      if (!read.ok) throw new Error(read.error.message);
      if (read.value.length === 0) break;
      entries.push(...read.value.map(({ bytes }) => Buffer.from(bytes).toString().trimEnd()));
    }
    this.#database.drop();
    const isSame = entries.join() === this.confirmed.join();
    const said = isSame ? [] : [`${this.#home}: ${this.confirmed.length} confirmed, ${entries.length} in the log`];
    return this.fault === undefined ? said : [...said, this.fault];
  }
}

export async function tryFailOvers(
  databases: Databases,
  url: string,
  wanted: number,
  random: SimRandom,
): Promise<FailOvers> {
  const first = databaseAt(url);
  const made = await initDatabase(first);
  if (!made.ok) throw new Error(made.error.message);
  first.drop();
  const owners = Array.from({ length: OWNERS }, (_, at) => new Owner(url, `f${at}`));
  let isOver = false;
  const working = owners.map((owner) => owner.work(() => isOver));
  for (let done = 0; done < wanted; done++) {
    await allAppend(owners);
    if (random.chance(0.3)) {
      databases.standby.node.unplug();
      await databases.cancelWaits(1 + random.int(MAX_CANCELS));
      databases.standby.node.plug();
    }
    await databases.failOver(WAYS[done % WAYS.length] ?? "killed");
  }
  await allAppend(owners);
  isOver = true;
  await Promise.all(working);
  const faults = (await Promise.all(owners.map((owner) => owner.check()))).flat();
  const sum = (of: (owner: Owner) => number) => owners.reduce((total, owner) => total + of(owner), 0);
  const { promotions, cancelled } = databases;
  const appended = sum(({ confirmed }) => confirmed.length);
  return { failOvers: promotions, appended, cancelled, troubles: sum(({ troubles }) => troubles), faults };
}

/** Everyone has appended something since. */
async function allAppend(owners: readonly Owner[]): Promise<void> {
  const before = owners.map(({ confirmed }) => confirmed.length);
  const seen = () => owners.map(({ confirmed, fault }) => fault ?? confirmed.length);
  const isDone = () =>
    owners.every(({ confirmed, fault }, at) => fault !== undefined || confirmed.length > (before[at] ?? 0));
  await until("all owners go on", isDone, seen, 120_000);
}
