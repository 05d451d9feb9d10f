// A simulated PostgreSQL with a standby, behind the same door as the real one. It is driven by a clock that tests move
// and by a seed, and what goes wrong is drawn for every call.
// SP1. In mode "sync", a commit that is answered without a warning is on the standby, and so is every commit before it.
// SP2. A cancelled wait for the standby is a success with a warning: the commit is there, and a fail-over loses it.
// SP3. A call whose connection is cut may have been committed, may never be, or be committed later by a backend that
//      nobody listens to (an orphan). Orphans do not survive a fail-over.
// SP4. In mode "async", no answer says anything about the standby: a fail-over loses a tail of what was confirmed.
import { ok, type Result, refused } from "../../src/base/result.ts";
import type { Clock } from "../../src/world/clock.ts";
import type {
  Postgres,
  PostgresConnection,
  PostgresOutcome,
  PostgresStatement,
  PostgresValue,
} from "../../src/world/postgres.ts";
import { pause } from "../../src/world/wait.ts";
import type { SimClock } from "./clock.ts";
import { FleetTables } from "./fleet-tables.ts";
import type { SimRandom } from "./random.ts";

export const TROUBLES = [
  "refused",
  "cut before",
  "cut after",
  "cut after, not on the standby",
  "cut, and committed later",
  "warning",
  "no answer while frozen",
  "fail-over before",
  "fail-over after",
  "not prepared",
] as const;
export type Trouble = (typeof TROUBLES)[number];

export type SimPostgresOptions = {
  readonly clock: Clock;
  readonly random: SimRandom;
  readonly mode: "sync" | "async";
  /** How likely each call is to meet one of `troubles`. */
  readonly rate: number;
  readonly troubles?: readonly Trouble[];
};

const WARNING = {
  severity: "WARNING",
  sqlstate: "01000",
  message: "canceling wait for synchronous replication due to user request",
};
const NO_TABLE = { kind: "refused", sqlstate: "42P01", message: "the relation does not exist" } as const;
const LATENCY_MS = 20;
const FREEZE_MS = 12_000;
/** An hour: longer than any trouble. */
const MAX_DRIVEN_MS = 3_600_000;
/** It is on the standby, or not yet. */
type Commit = { readonly undo: () => void };

export class SimPostgres implements Postgres {
  readonly tables = new FleetTables();
  readonly #options: SimPostgresOptions;
  #rate: number;
  #troubles: readonly Trouble[];
  #commits: Commit[] = [];
  #onStandby = 0;
  #orphans: (() => void)[] = [];
  #connections = new Set<SimConnection>();
  #frozenUntil = 0;
  /** The calls that met each of them. */
  readonly met = new Map<Trouble, number>();
  failOvers = 0;
  /** All that were sent. */
  statements = 0;
  /** The statement of which a table was dropped. */
  lacksTableOf: string | undefined;
  /** Called with each. */
  sent: (name: string, values: readonly PostgresValue[]) => void = () => undefined;

  constructor(options: SimPostgresOptions) {
    this.#options = options;
    this.#rate = options.rate;
    this.#troubles = options.troubles ?? TROUBLES;
  }

  get connections(): number {
    return this.#connections.size;
  }

  async connect(): Promise<Result<PostgresConnection>> {
    await this.latency();
    if (this.#options.random.chance(this.#rate / 2)) return refused("postgres-unreachable", "It does not answer.", "");
    const connection = new SimConnection(this);
    this.#connections.add(connection);
    return ok(connection);
  }

  /** From now on every call meets this. */
  always(trouble: Trouble): void {
    this.#rate = 1;
    this.#troubles = [trouble];
  }

  /** From now on nothing goes wrong any more, and orphans have come to their end. */
  calm(): void {
    this.#rate = 0;
    this.#orphansCommit(1);
  }

  /** The standby has everything. */
  catchUp(): void {
    this.#onStandby = this.#commits.length;
  }

  /** The standby becomes the primary: what it does not have is gone. */
  failOver(): void {
    this.failOvers += 1;
    const { random, mode } = this.#options;
    const unsent = this.#commits.length - this.#onStandby;
    const keep = mode === "sync" ? 0 : random.int(unsent + 1);
    for (const { undo } of this.#commits.splice(this.#onStandby + keep).reverse()) undo();
    this.#commits = [];
    this.#onStandby = 0;
    this.#orphans = [];
    for (const connection of this.#connections) connection.close();
  }

  draw(): Trouble | undefined {
    const { random } = this.#options;
    this.statements += 1;
    this.#orphansCommit(0.3);
    if (!random.chance(this.#rate)) return undefined;
    const trouble = random.pick(this.#troubles);
    this.met.set(trouble, (this.met.get(trouble) ?? 0) + 1);
    return trouble;
  }

  /** `isOnStandby`: with all before it. */
  commit(name: string, values: readonly PostgresValue[], isOnStandby: boolean): PostgresOutcome {
    const { rows, undo } = this.tables.run(name, values, this.#options.clock.now());
    if (undo !== undefined) this.#commits.push({ undo });
    // A statement that has written nothing waits for nothing.
    if (undo !== undefined && isOnStandby && this.#options.mode === "sync") this.#onStandby = this.#commits.length; // SP1
    return { kind: "done", rows, notices: [] };
  }

  orphan(act: () => void): void {
    this.#orphans.push(act);
  }

  freeze(): void {
    const { clock, random } = this.#options;
    this.#frozenUntil = clock.elapsed() + random.int(FREEZE_MS);
  }

  async latency(): Promise<void> {
    const { clock, random } = this.#options;
    await pause(clock, 1 + random.int(LATENCY_MS) + Math.max(0, this.#frozenUntil - clock.elapsed()));
  }

  after(ms: number, fn: () => void): () => void {
    return this.#options.clock.after(ms, fn);
  }

  closed(connection: SimConnection): void {
    this.#connections.delete(connection);
  }

  #orphansCommit(chance: number): void {
    const now = this.#orphans.filter(() => this.#options.random.chance(chance));
    this.#orphans = this.#orphans.filter((orphan) => !now.includes(orphan));
    for (const orphan of now) orphan();
  }
}

class SimConnection implements PostgresConnection {
  readonly host = "simulated";
  readonly #server: SimPostgres;
  readonly #gone = Promise.withResolvers<PostgresOutcome>();
  #isOpen = true;

  constructor(server: SimPostgres) {
    this.#server = server;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  async run(statement: PostgresStatement, values: readonly PostgresValue[], ms: number): Promise<PostgresOutcome> {
    if (!this.#isOpen) return { kind: "refused", sqlstate: "08006", message: "closed" };
    const cancel = this.#server.after(ms, () => this.close());
    const outcome = await Promise.race([this.#gone.promise, this.#answer(statement.name, values)]);
    cancel();
    return outcome;
  }

  async cancel(): Promise<void> {
    await this.#server.latency();
  }

  close(): void {
    this.#isOpen = false;
    this.#server.closed(this);
    this.#gone.resolve({ kind: "unknown", why: "cut" });
  }

  async #answer(name: string, values: readonly PostgresValue[]): Promise<PostgresOutcome> {
    this.#server.sent(name, values);
    const trouble = this.#server.draw();
    if (trouble === "no answer while frozen") this.#server.freeze();
    await this.#server.latency();
    // Whoever has gone by now has sent it all the same: it is carried out, and nobody hears of it.
    const outcome = this.#carriedOut(name, values, trouble);
    await this.#server.latency();
    return this.#isOpen ? outcome : this.#gone.promise;
  }

  #carriedOut(name: string, values: readonly PostgresValue[], trouble: Trouble | undefined): PostgresOutcome {
    const server = this.#server;
    if (name === server.lacksTableOf) return NO_TABLE;
    const commit = (isOnStandby: boolean) => server.commit(name, values, isOnStandby);
    switch (trouble) {
      case undefined:
      case "no answer while frozen":
        return commit(true);
      case "refused":
        return { kind: "refused", sqlstate: "40001", message: "could not serialize access" };
      case "not prepared":
        return this.#cut({ kind: "refused", sqlstate: "08006", message: "cut while preparing" });
      case "cut before":
        return this.#cut();
      case "cut after":
        commit(true);
        return this.#cut();
      case "cut after, not on the standby":
        commit(false); // SP3
        return this.#cut();
      case "cut, and committed later":
        server.orphan(() => void commit(true)); // SP3
        return this.#cut();
      case "warning": {
        const outcome = commit(false); // SP2
        return outcome.kind === "done" ? { ...outcome, notices: [WARNING] } : outcome;
      }
      case "fail-over before":
        server.failOver();
        return { kind: "unknown", why: "fail-over" };
      case "fail-over after":
        commit(false);
        server.failOver();
        return { kind: "unknown", why: "fail-over" };
    }
  }

  #cut(outcome: PostgresOutcome = { kind: "unknown", why: "cut" }): PostgresOutcome {
    this.#isOpen = false;
    this.#server.closed(this);
    this.#gone.resolve(outcome);
    return outcome;
  }
}

/** What comes `soon` may let something else come soon. */
const TURNS = 4;

/** Moves the clock until the promise is settled. */
export async function driven<T>(clock: SimClock, promise: Promise<T>): Promise<T> {
  let isDone = false;
  const done = () => {
    isDone = true;
  };
  promise.then(done, done);
  const until = clock.elapsed() + MAX_DRIVEN_MS;
  for (;;) {
    for (let turn = 0; turn < TURNS && !isDone; turn += 1) await clock.settle();
    if (isDone) return promise;
    if (clock.nextTimer === undefined || clock.elapsed() > until) throw new Error("it never comes to an end");
    clock.advance((clock.nextTimer ?? clock.elapsed()) - clock.elapsed());
  }
}
