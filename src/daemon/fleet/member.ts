// This home as a member of a fleet: taken in the database when the daemon starts, and its log made equal there, before
// anything is recovered; then its lease is renewed for as long as the daemon runs.
// FM1. What is sent is remembered first: after a crash between the two, the take that the database has is recognised.
// FM2. Whatever the database has and this disk lacks is in the write-ahead log before recovery reads it; what this disk
//      has and the database lacks is appended there before anything new is (invariant 11 of a fleet).
// FM3. Nothing is begun before the home is ours, however long the database is away.
// FM4. Once another host has the home, that is on disk, and the process ends. The next one follows. If the disk does
//      not take it, the database says it too; a follower notes it as soon as it can.
// FM5. What other hosts may do, and the home's name, is recorded before the home is used: with `manual` it may go on
//      while the database is away, because nobody takes it by himself.
// FM6. On a full disk it uses the space that was set aside for that (ballast), and waits for more when that is gone: a
//      process that ended would only be started again.
// FM7. If the database has lost our take, and another host has appended to the home since, there are two histories: we
//      follow, and what only this disk has stays on it.
import { backoffMs } from "../../base/backoff.ts";
import { isFault } from "../../base/fault.ts";
import { newId } from "../../base/ids.ts";
import { baseName } from "../../base/path.ts";
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import { homeName } from "../../core/fleet/naming.ts";
import { decideStart, isOwnTake } from "../../core/fleet/start.ts";
import { ENROL, type HomeRow, LOOK, RELEASE, TAKEOVER, type Take } from "../../fleet/calls.ts";
import { Database, RETRIES } from "../../fleet/database.ts";
import { type Ownership, RemoteLog } from "../../fleet/remote-log.ts";
import { initDatabase } from "../../fleet/schema.ts";
import { FleetSeal } from "../../fleet/seal.ts";
import { takeHome } from "../../fleet/take.ts";
import { postgresTarget } from "../../fleet/target.ts";
import { readFenced, readOwner, removeFenced, writeOwner } from "../../home/fleet-files.ts";
import { readUpgrade } from "../../home/upgrade.ts";
import { readWanted } from "../../home/wanted.ts";
import { framesAfter } from "../../log/entries-after.ts";
import type { EventLog } from "../../log/event-log.ts";
import { giveUpBallast } from "../../log/file/ballast.ts";
import { importFrames, solidEndOf } from "../../log/import.ts";
import type { Config } from "../../wire/files/config-schema.ts";
import { type FleetStatus, followsRefusal } from "../../wire/rpc/rpc.ts";
import type { Postgres, PostgresTarget } from "../../world/postgres.ts";
import { pause } from "../../world/wait.ts";
import type { DaemonPorts, FleetDesk } from "../ports.ts";
import { batchesBehind, comparedLogs } from "./both-logs.ts";
import { noteFenced } from "./fenced-note.ts";
import { Holding, RENEWALS } from "./holding.ts";
import { Lease } from "./lease.ts";
import { CLOSED, certainly, FINAL, faultOf, missingBehind, NEEDS_MENDING, waiting } from "./member-refusals.ts";
import { type DatabaseTrouble, SecondLog } from "./second-log.ts";

/** A call without an answer is given up in time for another one before the lease ends: connections can die silently. */
const MIN_CALL_MS = 1_000;
const MAX_CALL_MS = 10_000;

type World = DaemonPorts["world"];
export type MemberPorts = {
  readonly world: World;
  readonly postgres: Postgres;
  readonly config: Config["fleet"];
  /** The id of this home, and the name of this host. */
  readonly home: string;
  readonly host: string;
  say(words: string): void;
  /** Ends the process: another host has the home. */
  gone(): void;
};

type Opened = MemberPorts & { readonly target: PostgresTarget; readonly seal: FleetSeal };

export class FleetMember {
  readonly #ports: Opened;
  readonly #database: Database;
  readonly lease: Lease;
  readonly #leaseMs: number;
  readonly #holding: Holding;
  #role: FleetStatus["role"] = "waiting";
  #owner: string | null = null;
  #trouble: DatabaseTrouble | undefined;
  #epoch = 0;
  #own: Ownership | undefined;
  #remote: RemoteLog | undefined;
  #second: SecondLog | undefined;
  #cancel: () => void = () => undefined;
  readonly #ears = new Set<() => void>();
  /** When it was known last whether other hosts ask something of this home. */
  #toldAt = 0;
  #isClosed = false;
  /** FM7 */
  #isForked = false;
  #parting: Promise<void> | undefined;

  /** What is in the configuration, read: address, password, authority and keys. */
  static of(ports: MemberPorts): Result<FleetMember> {
    const { world, config } = ports;
    const target = postgresTarget(config.url, { disk: world.disk, environment: world.self.environment() });
    if (!target.ok) return target;
    const seal = FleetSeal.read(world, config.keyFile);
    return seal.ok ? ok(new FleetMember({ ...ports, target: target.value, seal: seal.value })) : seal;
  }

  private constructor(ports: Opened) {
    const { world, config, postgres, target } = ports;
    this.#ports = ports;
    this.#leaseMs = config.leaseS * 1_000;
    const callMs = Math.min(Math.max(this.#leaseMs / RENEWALS, MIN_CALL_MS), MAX_CALL_MS);
    this.#database = new Database({ postgres, target, clock: world.clock }, callMs);
    this.lease = new Lease(world, this.#leaseMs);
    const { lease } = this;
    this.#holding = new Holding({ database: this.#database, clock: world.clock, lease, leaseMs: this.#leaseMs });
  }

  /** A healthy owner is back long before its lease ends. */
  get #retryMs(): number {
    return Math.min(RETRIES.mostMs, this.#leaseMs / RENEWALS);
  }

  /** For what else the home does in the database: on a connection of its own (DB1 of fleet/database.ts). */
  desk(): FleetDesk {
    const { world, config, postgres, target, seal, home, host } = this.#ports;
    const database = new Database({ postgres, target, clock: world.clock });
    const take = () => (this.#role === "owner" && this.lease.isHeld ? this.#own?.take : undefined);
    const onAsked = (heard: () => void) => void this.#ears.add(heard);
    return { database, seal, home, host, take, labels: config.labels, capacity: config.capacity, onAsked };
  }

  get #isManual(): boolean {
    return this.#ports.config.takeover === "manual";
  }

  status(): FleetStatus {
    const { home, host } = this.#ports;
    const leaseMs = Math.round(this.lease.left);
    const why = this.#trouble?.words ?? null;
    return { home, host, role: this.#role, owner: this.#owner, epoch: this.#epoch, leaseMs, why };
  }

  /** What everything but the status is refused with, unless the home is ours. */
  get refusal(): Refusal | undefined {
    if (this.#role === "owner") return undefined;
    if (this.#role === "waiting") return waiting(this.#trouble);
    return followsRefusal(this.#owner);
  }

  get away(): Refusal | undefined {
    return this.#second?.away;
  }

  /** FM3. Resolves when it is certain whose the home is. Throws a Fault if this disk or the database is at fault. */
  async begin(): Promise<"owner" | "follower"> {
    for (let failures = 1; !this.#isClosed; failures++) {
      const done = await this.#withRoom(() => this.#tryToTake());
      if (done.ok) {
        if (done.value !== "again") return done.value;
        continue;
      }
      if (FINAL.includes(done.error.code)) throw faultOf(done.error);
      this.#troubled(`${done.error.message} ${done.error.hint}`, NEEDS_MENDING.includes(done.error.code));
      const { clock, random } = this.#ports.world;
      await pause(clock, backoffMs(failures, random.fraction(), RETRIES));
    }
    throw faultOf(CLOSED);
  }

  /** FM6 */
  async #withRoom<T>(act: () => Promise<Result<T>>): Promise<Result<T>> {
    const { disk, home } = this.#ports.world;
    for (;;) {
      try {
        return await act();
      } catch (error) {
        if (!isFault(error, "ENOSPC", "EDQUOT")) throw error;
        if (!(await giveUpBallast(disk, home)))
          return refused("disk", `this disk is full: ${error.message}.`, error.hint);
      }
    }
  }

  async #tryToTake(): Promise<Result<"owner" | "follower" | "again">> {
    const ready = await initDatabase(this.#database);
    if (!ready.ok) return ready;
    const row = await this.#look();
    if (!row.ok) return row;
    const remembered = this.#remembered();
    const decision = decideStart(row.value, remembered, this.#ports.host);
    if (decision.kind === "follow") return this.#follow(decision, isOwnTake(row.value, remembered));
    const follows = decision.isDoubtful ? await this.#followsOther(row.value) : undefined;
    return follows ?? this.#take(decision.epoch, remembered?.take ?? null);
  }

  /** FM7. Undefined: the home may be taken. */
  async #followsOther({ owner, epoch, lastSeq }: HomeRow): Promise<Result<"follower"> | undefined> {
    const { world, home, seal, host } = this.#ports;
    const found = await comparedLogs({ database: this.#database, seal, home }, world, lastSeq);
    if (!found.ok) return found;
    if (found.value === "one history" || (found.value === "unknown" && owner === host)) return undefined;
    this.#isForked = true;
    const has = found.value === "unknown" ? "what it has of it cannot be compared" : "has another history of it";
    const words = `it has lost that this host had the home, and ${has} up to entry ${lastSeq}, from ${owner}`;
    this.#troubled(`${words}; what is on this disk stays as it is`, true);
    return this.#follow({ owner, epoch }, false);
  }

  #remembered() {
    const { world, home } = this.#ports;
    const [record, fenced] = [readOwner(world), readFenced(world)];
    return record?.home === home ? { ...record, ...(fenced && { lostAt: fenced.epoch }) } : undefined;
  }

  /** The home's row, which is made if the fleet does not know the home yet. */
  async #look(): Promise<Result<HomeRow>> {
    const { home, world } = this.#ports;
    const found = certainly(await this.#database.call(LOOK, home));
    if (!found.ok) return found;
    if (found.value !== undefined) return ok(found.value);
    const enrolled = certainly(await this.#database.call(ENROL, { home, lastSeq: solidEndOf(world) }));
    if (!enrolled.ok) return enrolled;
    const made = certainly(await this.#database.call(LOOK, home));
    if (!made.ok) return made;
    return made.value === undefined
      ? refused("fleet-database", "The home was enrolled, and is not there.", "")
      : ok(made.value);
  }

  /** FM1 */
  async #take(epoch: number, before: { epoch: number; id: string } | null): Promise<Result<"owner" | "again">> {
    const { world, home, host } = this.#ports;
    const take: Take = { home, epoch, id: newId(world.random.bytes(16)) };
    const wished = { epoch, id: take.id };
    await writeOwner(world, { home, take: before, wished });
    const taken = await takeHome(this.#settlingPorts(take), {
      ...{ take, owner: host, leaseMs: this.#leaseMs, ifExpired: false },
    });
    if (!taken.ok) return taken.error.code === "fleet-not-taken" ? ok("again") : taken;
    await writeOwner(world, { home, take: wished, wished: null });
    if (readFenced(world) !== undefined) await removeFenced(world);
    this.#own = taken.value;
    this.#epoch = epoch;
    const name = homeName(baseName(world.home), host);
    const facts = { take, takeover: this.#ports.config.takeover, name };
    const recorded = certainly(await this.#database.call(TAKEOVER, facts)); // FM5
    if (!recorded.ok) return recorded;
    if (this.#isManual) this.lease.endless(take);
    this.#holding.start(take);
    return this.#catchUp(taken.value.lastSeq);
  }

  #settlingPorts(take: Take) {
    const { clock, random } = this.#ports.world;
    return {
      ...{ database: this.#database, clock, random, retries: { ...RETRIES, mostMs: this.#retryMs } },
      troubled: (why: string | undefined, isLasting: boolean) => this.#troubled(why, isLasting),
      held: (sentAt: number) => this.lease.renewed(take, sentAt),
      asked: (isAsked: boolean) => this.#told(isAsked),
      isWanted: () => !this.#isClosed,
    };
  }

  /** FM2: what only the database has. */
  async #catchUp(lastSeq: number): Promise<Result<"owner">> {
    const { world, home, seal, say } = this.#ports;
    const end = solidEndOf(world);
    const frames = await batchesBehind({ database: this.#database, seal, home }, end, lastSeq);
    if (!frames.ok) return frames;
    if (frames.value.length > 0) {
      const imported = await importFrames(world, frames.value, 0);
      if (!imported.ok) return imported;
      say(`entries ${end + 1} to ${lastSeq} were read from the database of the fleet`);
    }
    this.#role = "owner";
    this.#owner = this.#ports.host;
    return ok("owner");
  }

  /** `isOurs`: it is still to be handed over. */
  async #follow(at: { owner: string; epoch: number }, isOurs: boolean): Promise<Result<"follower">> {
    const { owner, epoch } = at;
    if (!isOurs) await noteFenced(this.#ports, owner, epoch);
    this.#role = "follower";
    this.#owner = owner;
    this.#epoch = epoch;
    this.#ports.say(`this home is on ${owner} now, or moves there (epoch ${epoch}): this daemon follows`);
    this.#watch();
    return ok("follower");
  }

  /** A follower looks whether the home is its own again; then the next process takes it. */
  #watch(): void {
    if (this.#isClosed) return;
    this.#cancel = this.#ports.world.clock.after(this.#leaseMs, () => {
      void this.#look().then(async (row) => {
        if (row.ok) await this.#seen(row.value);
        this.#watch();
      });
    });
  }

  async #seen(row: HomeRow): Promise<void> {
    const { world, host, gone } = this.#ports;
    const remembered = this.#remembered();
    const decision = decideStart(row, remembered, host);
    const isOurs = decision.kind === "take" && !(decision.isDoubtful && this.#isForked);
    if (isOurs) gone();
    else if (readFenced(world) === undefined && !isOwnTake(row, remembered))
      await noteFenced(this.#ports, row.owner, row.epoch);
  }

  /** FM2: what only this disk has. Then everything that is appended goes to both, and the lease is renewed. */
  async join(log: EventLog): Promise<void> {
    const { world, home, seal } = this.#ports;
    const own = this.#own;
    if (own === undefined) throw new Error("the home is taken first");
    const { take } = own;
    const remote = new RemoteLog(this.#settlingPorts(take), own);
    this.#remote = remote;
    const second = new SecondLog({
      ...{ clock: world.clock, home, seal, remote, mayFallBehind: this.#isManual },
      why: () => this.#trouble,
      broken: (error) => log.halt(error),
    });
    if (log.end > own.lastSeq) await this.#push(second, log, own.lastSeq);
    log.commitTo(second);
    this.#second = second;
    this.#holding.stop();
    this.#renew(second);
  }

  async #push(second: SecondLog, log: EventLog, after: number): Promise<void> {
    const { world, say } = this.#ports;
    const frames = framesAfter(world, log.sessions, after);
    if (frames === undefined) throw faultOf(missingBehind(after));
    await second.commit(log.end, frames);
    say(`entries ${after + 1} to ${log.end} were appended to the database of the fleet`);
  }

  #renew(second: SecondLog): void {
    this.#cancel = this.#ports.world.clock.after(this.#leaseMs / RENEWALS, () => {
      void second.renew().then(async () => {
        await this.halted();
        if (this.#ports.world.clock.elapsed() - this.#toldAt > this.#leaseMs) this.#told(true);
        if (!this.#isClosed) this.#renew(second);
      });
    });
  }

  /** A log that is always busy renews by its batches, which do not tell: then it is looked once in a lease. */
  #told(isAsked: boolean): void {
    this.#toldAt = this.#ports.world.clock.elapsed();
    if (isAsked) for (const heard of this.#ears) heard();
  }

  /** FM4. Called for whatever ends the process: returns if another host has not taken the home. */
  async halted(): Promise<void> {
    if (this.#remote?.isFenced !== true) return;
    this.#parting ??= this.#part();
    await this.#parting;
  }

  async #part(): Promise<void> {
    this.#role = "follower";
    const row = certainly(await this.#database.call(LOOK, this.#ports.home));
    const { owner, epoch } = (row.ok ? row.value : undefined) ?? { owner: "another host", epoch: 0 };
    await noteFenced(this.#ports, owner, epoch);
    this.#ports.say(`${owner} has taken this home over: nothing is done here any more`);
    this.close();
    this.#ports.gone();
  }

  #troubled(words: string | undefined, isLasting: boolean): void {
    const { say } = this.#ports;
    const isNew = this.#trouble === undefined || (isLasting && !this.#trouble.isLasting);
    if (words !== undefined && isNew) say(`the database of the fleet${isLasting ? " has to be mended" : ""}: ${words}`);
    if (words === undefined && this.#trouble !== undefined) say("the database of the fleet answers again");
    this.#trouble = words === undefined ? undefined : { words, isLasting };
  }

  /** The log is closed. If the operator wants the home down, or only replaces us, no other host takes it over. */
  async finish(): Promise<void> {
    const { disk, home } = this.#ports.world;
    const own = this.#isClosed || this.#remote?.isFenced === true ? undefined : this.#own;
    this.#cancel();
    this.#holding.stop();
    if (own !== undefined && readWanted(disk, home) === "down") await this.#database.call(RELEASE, { take: own.take });
    else if (own !== undefined && readUpgrade(disk, home) !== undefined) await this.#holding.leaveBehind(own.take);
    this.close();
  }

  /** Before the log is closed: what waits for a database that is away would wait for ever. */
  leave(): void {
    if (this.#second?.away !== undefined) this.close();
  }

  /** Nothing is sent any more; what waits for the database is given up. */
  close(): void {
    this.#isClosed = true;
    this.#cancel();
    this.#holding.stop();
    this.#remote?.close();
    this.#database.drop();
  }
}
