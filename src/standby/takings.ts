// Taking a home over: the take, making its directory, and starting it. What was begun is known by its record and by the
// row of the home in the database, so that a program that was killed in between goes on where it was.
// TN1. The record is durable before the take is sent (FH2 of home/fleet-host.ts). A take that is seen in the home's row
//      is ours, whatever this program heard of it, and however late it was carried out.
// TN2. What was watched counts only for a moment: a take that is not carried out by then is not sent again.
// TN3. One at a time. While it lasts, its lease is renewed, until the home's own daemon has taken it, or it is given
//      up: then others may take it.
// TN4. A failure is repeated after a while, and that while grows. It does not keep other homes from being taken.
// TN5. A home that was to move elsewhere when its owner died does not move any more: its daemon here would wait for
//      that.
import { type BackoffPolicy, backoffMs } from "../base/backoff.ts";
import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { ok, type Refusal, type Result, refused } from "../base/result.ts";
import { directoryName } from "../core/fleet/naming.ts";
import { DESCRIBE, HOLD, LOOK, MOVE_TO, type Take, type WatchedRow } from "../fleet/calls.ts";
import type { Database } from "../fleet/database.ts";
import { takeHome } from "../fleet/take.ts";
import { readOwner } from "../home/fleet-files.ts";
import { readTakings, type TakeRecord, writeTakings } from "../home/fleet-host.ts";
import { pause } from "../world/wait.ts";
import { tell } from "./events.ts";
import type { HomeFiles, StandbyPorts } from "./ports.ts";

export type TakingPorts = StandbyPorts & {
  readonly files: HomeFiles;
  /** For takes: a call that hangs delays nothing else. */
  readonly takes: Database;
  /** Starts the home in a directory. */
  start(directory: string): Promise<Refusal | undefined>;
  /** What it does now; undefined: nothing. */
  doing(words: string | undefined): void;
  failed(words: string): void;
};

const ID_BYTES = 16;
/** TN4 */
const RETRY: BackoffPolicy = { firstMs: 2_000, mostMs: 300_000, jitter: 0.2 };
/** TN3. How long its daemon may need to take it. */
const START_MS = 120_000;

type Failure = { readonly count: number; readonly until: number };
type Rows = ReadonlyMap<string, WatchedRow>;

export class Takings {
  readonly #ports: TakingPorts;
  readonly #failures = new Map<string, Failure>();
  #wishes: readonly TakeRecord[];
  /** The ids of those whose end was told. */
  readonly #told = new Set<string>();
  #job: { readonly home: string } | undefined;
  #isClosed = false;

  constructor(ports: TakingPorts) {
    this.#ports = ports;
    this.#wishes = readTakings(this.#place);
  }

  get isBusy(): boolean {
    return this.#job !== undefined;
  }

  /** Whether this take of it was begun here and is not over. */
  has({ take }: WatchedRow): boolean {
    return this.#wishes.some(({ id }) => id === take);
  }

  /** Whether it may be tried now (TN4). */
  mayTry(home: string): boolean {
    return (this.#failures.get(home)?.until ?? 0) <= this.#ports.world.clock.elapsed();
  }

  close(): void {
    this.#isClosed = true;
  }

  /**
   * Goes on with what was begun, and forgets what is over: only once that is told, and the wish to move is fulfilled.
   * Called with each look.
   */
  async look(rows: Rows): Promise<void> {
    const over = this.#wishes.filter((wish) => this.#isOver(wish, rows.get(wish.home)));
    const settled: TakeRecord[] = [];
    for (const wish of over) if (await this.#isSettled(wish, rows.get(wish.home))) settled.push(wish);
    if (settled.length > 0) await this.#keep(this.#wishes.filter((wish) => !settled.includes(wish)));
    const ours = this.#wishes.find((wish) => rows.get(wish.home)?.take === wish.id && this.mayTry(wish.home));
    if (ours !== undefined && !this.isBusy) this.#goOn(ours); // TN1
  }

  /** `isFresh`: whether what was watched still counts (TN2). */
  async begin(row: WatchedRow, isMove: boolean, isFresh: () => boolean): Promise<void> {
    const { world, host, takes, say } = this.#ports;
    const isThere = (name: string) => world.disk.lstat(joinPath(host.homes, name)) !== undefined;
    const epoch = row.epoch + 1;
    const id = world.random.bytes(ID_BYTES).toHex();
    const name = directoryName({ ...row, epoch }, isThere);
    const wish = { home: row.id, from: row.owner, name, takeover: row.takeover, epoch, id, isMove };
    await this.#keep([...this.#wishes, wish]); // TN1
    this.#ports.doing(`takes ${row.name}`);
    const ports = { database: takes, clock: world.clock, random: world.random, troubled: () => undefined };
    const take = { home: row.id, epoch, id };
    const order = { take, owner: host.name, leaseMs: host.leaseMs, ifExpired: true };
    const taken = await takeHome({ ...ports, isWanted: () => isFresh() && !this.#isClosed }, order);
    this.#ports.doing(undefined);
    if (taken.ok) return this.#goOn(wish);
    say(`${row.name} was not taken: ${taken.error.message}`);
    this.#fail(row.id);
    if (taken.error.code === "fleet-not-taken") await this.#keep(this.#wishes.filter((other) => other !== wish));
  }

  get #place() {
    return { disk: this.#ports.world.disk, homes: this.#ports.host.homes };
  }

  async #keep(wishes: readonly TakeRecord[]): Promise<void> {
    await writeTakings(this.#place, wishes);
    this.#wishes = wishes;
  }

  /** Another take is in its place: its daemon's, or another host's. It may be that of a home that was forgotten. */
  #isOver(wish: TakeRecord, row: WatchedRow | undefined): boolean {
    return row === undefined || row.epoch > wish.epoch || (row.epoch === wish.epoch && row.take !== wish.id);
  }

  /** Whether its end is told, once, and the home's wish to move here is fulfilled. */
  async #isSettled(wish: TakeRecord, row: WatchedRow | undefined): Promise<boolean> {
    if (!this.#told.has(wish.id)) await this.#ended(wish, row);
    this.#told.add(wish.id); // The disk or the database may refuse what follows, again and again.
    if (!wish.isMove || row?.moveTo !== this.#ports.host.name) return true;
    const answer = await this.#ports.database.call(MOVE_TO, { home: wish.home, host: "" });
    return answer.kind === "done" && !answer.isDoubtful;
  }

  async #ended(wish: TakeRecord, row: WatchedRow | undefined): Promise<void> {
    const owner = readOwner({ disk: this.#place.disk, home: this.#directory(wish) });
    const isHere = row !== undefined && [owner?.take?.id, owner?.wished?.id].includes(row.take);
    if (!isHere) {
      if (this.#job?.home !== wish.home) return;
      const words = `${wish.name} was lost to ${row?.owner ?? "nobody"} while it was taken over`;
      return tell(this.#ports, { home: wish.home, kind: "lost", words });
    }
    this.#failures.delete(wish.home);
    await tell(this.#ports, {
      home: wish.home,
      kind: "running",
      words: `${wish.name} runs on ${this.#ports.host.name}`,
    });
  }

  #directory({ name }: TakeRecord): string {
    return joinPath(this.#ports.host.homes, name);
  }

  /** TN3 */
  #goOn(wish: TakeRecord): void {
    this.#job = { home: wish.home };
    const done = () => {
      this.#job = undefined;
      this.#ports.doing(undefined);
    };
    void this.#carryOut(wish).then(done, (error: unknown) => this.#ports.broken(error));
  }

  async #carryOut(wish: TakeRecord): Promise<void> {
    const take = { home: wish.home, epoch: wish.epoch, id: wish.id };
    const work = { isOver: false };
    const held = this.#hold(take, work);
    try {
      const done = await this.#made(wish, take);
      if (done.ok) await this.#taken(wish, work);
      else await this.#gaveUp(wish, done.error);
    } catch (error) {
      if (!isFault(error)) throw error;
      await this.#gaveUp(wish, { code: error.code, message: error.message, hint: error.hint });
    } finally {
      work.isOver = true;
      await held;
    }
  }

  async #made(wish: TakeRecord, take: Take): Promise<Result<undefined>> {
    const { files, database, host, start, doing } = this.#ports;
    const directory = this.#directory(wish);
    const event = (kind: "taken" | "made" | "started", words: string) =>
      tell(this.#ports, { home: wish.home, kind, words });
    await event("taken", `${wish.name} was taken over from ${wish.from} by ${host.name}`);
    await database.call(DESCRIBE, { take, name: wish.name, takeover: wish.takeover, host: host.id });
    if (!wish.isMove) await this.#callOffMove(wish.home);
    doing(`makes ${wish.name}`);
    const made = await files.make({ take, directory, from: wish.from });
    if (!made.ok) return made;
    await event("made", `${wish.name} is made at ${directory}`);
    doing(`starts ${wish.name}`);
    const refusal = await start(directory);
    if (refusal !== undefined) return { ok: false, error: refusal };
    await event("started", `${wish.name} is started at ${directory}`);
    return ok(undefined);
  }

  /** TN5 */
  async #callOffMove(home: string): Promise<void> {
    const { database, host } = this.#ports;
    const row = await database.call(LOOK, home);
    const isToMove = row.kind === "done" && row.value !== undefined && !["", host.name].includes(row.value.moveTo);
    if (isToMove) await database.call(MOVE_TO, { home, host: "" });
  }

  /** Waits until its daemon has taken it. */
  async #taken(wish: TakeRecord, work: { isOver: boolean }): Promise<void> {
    const { clock } = this.#ports.world;
    const until = clock.elapsed() + START_MS;
    while (!work.isOver && !this.#isClosed && this.#wishes.includes(wish)) {
      if (clock.elapsed() > until) return this.#gaveUp(wish, NOT_STARTED.error);
      await pause(clock, this.#ports.host.leaseMs / 3);
    }
  }

  /** Renews the lease for as long as the work lasts. It ends by itself when the home has another take. */
  async #hold(take: Take, work: { isOver: boolean }): Promise<void> {
    const { database, host, world } = this.#ports;
    while (!work.isOver && !this.#isClosed) {
      const answer = await database.call(HOLD, { take, leaseMs: host.leaseMs });
      if (answer.kind === "done" && answer.value === undefined) return;
      await pause(world.clock, host.leaseMs / 3);
    }
  }

  async #gaveUp(wish: TakeRecord, { message, hint }: Refusal): Promise<void> {
    this.#fail(wish.home);
    const words = `${wish.name} could not be taken over: ${message} ${hint}`;
    this.#ports.failed(words);
    await tell(this.#ports, { home: wish.home, kind: "failed", words });
  }

  /** TN4 */
  #fail(home: string): void {
    const { clock, random } = this.#ports.world;
    const count = (this.#failures.get(home)?.count ?? 0) + 1;
    this.#failures.set(home, { count, until: clock.elapsed() + backoffMs(count, random.fraction(), RETRY) });
  }
}

const NOT_STARTED = refused("fleet-not-started", "Its daemon did not take it.", "See `holdfast logs` of that home.");
