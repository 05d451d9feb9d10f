// Owners of one home on a simulated database, and the check of what they were told against what the database has. A
// batch has a line for each of its entries, `seq owner`, so that each entry in the database says who has written it.

import { ENROL, LOOK, SNAPSHOT, type Take } from "../../src/fleet/calls.ts";
import { type Answer, Database } from "../../src/fleet/database.ts";
import { mergeBatches } from "../../src/fleet/history.ts";
import { RemoteLog } from "../../src/fleet/remote-log.ts";
import { type TakeWish, takeHome } from "../../src/fleet/take.ts";
import type { PostgresTarget } from "../../src/world/postgres.ts";
import { pause } from "../../src/world/wait.ts";
import { SimClock } from "../sim/clock.ts";
import { driven, SimPostgres, type SimPostgresOptions } from "../sim/postgres.ts";
import { SimRandom } from "../sim/random.ts";

export const HOME = "home";
export const LEASE_MS = 3_000;
export const NO_TARGET: PostgresTarget = {
  ...{ hosts: [], user: "", database: "", authority: undefined, channelBinding: "prefer", session: "read-write" },
  ...{ connectTimeoutMs: 1_000, applicationName: "" },
};

type Owner = {
  readonly name: string;
  readonly database: Database;
  readonly log: RemoteLog;
  /** What its own disk has, whether it is confirmed or not. */
  readonly local: Map<number, string>;
};

export class Model {
  readonly clock = new SimClock();
  readonly random: SimRandom;
  readonly postgres: SimPostgres;
  /** The entries that were confirmed, and by whom they were written. */
  readonly confirmed = new Map<number, string>();
  readonly problems: string[] = [];
  readonly owners: Owner[] = [];
  fenced = 0;
  behind = 0;
  #epoch = 0;
  #names = 0;
  #waiting: Promise<void>[] = [];

  constructor(seed: number, options: Omit<SimPostgresOptions, "clock" | "random">) {
    this.random = new SimRandom(seed);
    this.postgres = new SimPostgres({ clock: this.clock, random: new SimRandom(seed + 1), ...options });
  }

  database(): Database {
    return new Database({ postgres: this.postgres, target: NO_TARGET, clock: this.clock });
  }

  ports(database: Database, isWanted = () => true) {
    return { database, clock: this.clock, random: this.random, troubled: () => undefined, isWanted };
  }

  async begin(): Promise<void> {
    await this.#enrol(this.database());
    await this.take();
  }

  async #enrol(database: Database): Promise<void> {
    await this.#certainly(() => database.call(ENROL, { home: HOME, lastSeq: 0 }));
  }

  async #certainly<T>(ask: () => Promise<Answer<T>>): Promise<T> {
    for (;;) {
      const answer = await ask();
      if (answer.kind === "done" && !answer.isDoubtful) return answer.value;
      await pause(this.clock, 1_000);
    }
  }

  get owner(): Owner | undefined {
    return this.owners.at(-1);
  }

  /** A new owner. The one before is not told. Undefined: somebody else was faster. */
  async take(): Promise<void> {
    const database = this.database();
    const name = `o${this.#names++}`;
    for (;;) {
      const take: Take = { home: HOME, epoch: this.#epoch + 1, id: `${name} ${this.#epoch}` };
      const wish: TakeWish = { take, owner: name, leaseMs: LEASE_MS, ifExpired: false };
      const taken = await takeHome(this.ports(database), wish);
      if (taken.ok) {
        this.#epoch = take.epoch;
        this.owners.push({ name, database, log: new RemoteLog(this.ports(database), taken.value), local: new Map() });
        return;
      }
      // In mode "async" a fail-over may have taken the epoch back, or the whole home.
      const home = await this.#certainly(() => database.call(LOOK, HOME));
      if (home === undefined) await this.#enrol(database);
      this.#epoch = home?.epoch ?? 0;
    }
  }

  /** Does not wait for the outcome. An owner that is busy is left alone. */
  append(which: number, entries: number): void {
    const owner = this.owners[which];
    if (owner === undefined || this.#busy.has(owner)) return;
    this.#busy.add(owner);
    this.#waiting.push(this.#append(owner, owner.log.lastSeq + entries).finally(() => this.#busy.delete(owner)));
  }

  readonly #busy = new Set<Owner>();

  async #append(owner: Owner, last: number): Promise<void> {
    for (;;) {
      const entries = range(owner.log.lastSeq + 1, last);
      for (const seq of entries) if (!owner.local.has(seq)) owner.local.set(seq, `${seq} ${owner.name}`);
      const buffer = Buffer.from(entries.map((seq) => `${owner.local.get(seq)}\n`).join(""));
      const ending = owner.log.append(last, buffer);
      buffer.fill(0x2a); // The log reuses its buffer at once.
      const { kind } = await ending;
      if (kind === "committed") for (const seq of entries) this.#confirm(seq, owner);
      if (kind === "fenced") this.fenced += 1;
      if (kind !== "behind") return;
      this.behind += 1;
    }
  }

  #confirm(seq: number, { name }: Owner): void {
    const before = this.confirmed.get(seq);
    if (before !== undefined && before !== name) this.problems.push(`${seq} was confirmed to ${before} and to ${name}`);
    this.confirmed.set(seq, name);
  }

  async renew(which: number): Promise<void> {
    const owner = this.owners[which];
    if (owner !== undefined && !this.#busy.has(owner)) await owner.log.renew();
  }

  /** The process of an owner ends, whatever it waits for. */
  kill(which: number): void {
    this.owners[which]?.log.close();
  }

  async merge(): Promise<void> {
    const take = this.#lastTake;
    if (take === undefined) return;
    const database = this.database();
    await database.call(SNAPSHOT, { take, seq: this.random.int(1 + (this.owner?.log.lastSeq ?? 0)) });
    await mergeBatches(database, take);
    database.drop();
  }

  get #lastTake(): Take | undefined {
    const owner = this.owner;
    return owner && { home: HOME, epoch: this.#epoch, id: `${owner.name} ${this.#epoch - 1}` };
  }

  async idle(): Promise<void> {
    await Promise.all(this.#waiting);
  }

  /** Everything that was begun comes to its end, and nothing goes wrong any more. */
  async finish(): Promise<void> {
    this.postgres.calm();
    await this.idle();
  }

  /** What is wrong: with the log in the database, or with what was confirmed. */
  check(): string[] {
    const stored: string[] = [""];
    const problems = [...this.problems];
    for (const { first, last, bytes } of this.postgres.tables.batchesOf(HOME)) {
      if (first !== stored.length) problems.push(`a batch begins at ${first} and not at ${stored.length}`);
      stored.push(...Buffer.from(bytes).toString().split("\n").slice(0, -1));
      if (last !== stored.length - 1)
        problems.push(`the batch from ${first} ends at ${stored.length - 1}, not at ${last}`);
    }
    const isAnothers = (line: string, seq: number) => seq > 0 && !line.startsWith(`${seq} `);
    problems.push(...stored.filter(isAnothers).map((line) => `the entry ${line} is at another place`));
    for (const [seq, name] of this.confirmed) {
      if (stored[seq] !== `${seq} ${name}`) problems.push(`${seq} was confirmed to ${name}, and is ${stored[seq]}`);
    }
    return problems;
  }
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

export function drive<T>(model: Model, promise: Promise<T>): Promise<T> {
  return driven(model.clock, promise);
}
