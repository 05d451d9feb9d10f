// Holders for attempts: each holds one at a time, and takes the next when that has ended. Starting a holder costs more
// than most steps.
// HP1. Only its claim records which holder an attempt has: whichever process dies, the pool can be forgotten.
// HP2. A holder is returned to the pool only when the end of its attempt was found on disk; after a lost, prevented or
//      unclaimed attempt it never is, because it is not known what that holder is doing.
// HP3. If a holder died before it carried out its order, the order is given to another. A new one that dies of its
//      first order is replaced a few times: it may have been killed, or it cannot run here.
// HP4. Idle holders leave soon; when we end, idle ones leave at once, and the others after their attempt.
// HP5. The holders of a daemon that died wait a moment for the next one (OR2 of wire/holder/orders.ts): we take those
//      before we start others.
// HP6. A holder that we started says when there is something to see of its attempt (OR3), and so does its end. One that
//      we took over says nothing.
// HP7. A few are started at once. Beyond that an attempt waits for one that comes back, for about as long as a start
//      takes: most steps are over sooner, and a start costs more than many of them.
// HP8. While nothing may be started, none of them gets an order: a start of another is refused as well, and the attempt
//      is tried again.

import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import { RUN, TOKEN } from "../../home/layout.ts";
import { readWhole } from "../../log/file/file.ts";
import type { JournalUse } from "../../log/file/journal.ts";
import {
  encodeOrder,
  GO_HOME,
  type HolderOrder,
  ORPHANED_MS,
  ordersSocket,
  saidIn,
  waitingIn,
} from "../../wire/holder/orders.ts";
import type { Variables } from "../../wire/holder/secrets.ts";
import { ordersStart } from "../../wire/holder/start.ts";
import { LineReader } from "../../wire/lines.ts";
import type { ToldChild } from "../../world/children.ts";
import { identify } from "../../world/process.ts";
import type { HolderCommand } from "../held/holder-program.ts";
import type { DaemonWorld } from "../ports.ts";
import type { Journals } from "./journals.ts";

/** HP4. Keeping them longer than people pause between two commands would waste memory. */
const REST_MS = 3_000;
/** As many as the workers that one run may have. */
const MAX_AT_REST = 64;
/** HP7: beyond one for each core. While one waits for the disk, another can run. */
const FEW_MORE = 2;
const PATIENCE_MS = 60;
/** HP3 */
const MAX_NEW = 3;
/** Its memory grows a little with each attempt, so it is replaced eventually. */
const MAX_USES = 200;

export type PoolPorts = {
  holderCommand(): HolderCommand;
  /** HP6 */
  heard(attempt: string): void;
  readonly journals: Pick<Journals, "take" | "giveBack">;
};

/** `token`: of a holder that we took over (HP5), which has no journal of ours. */
type Member = {
  readonly child: ToldChild;
  readonly token: string | undefined;
  readonly journal: JournalUse | undefined;
  uses: number;
  gone: boolean;
};
type PoolWorld = Pick<
  DaemonWorld,
  "children" | "clock" | "disk" | "home" | "mayStart" | "processes" | "self" | "sockets"
>;
/** `news`: how many new holders the order was given to. */
type Given = { readonly member: Member; readonly order: HolderOrder; readonly news: number };
type Waiting = { readonly order: HolderOrder; readonly news: number; readonly since: number };

export class HolderPool {
  readonly #world: PoolWorld;
  readonly #ports: PoolPorts;
  readonly #atRest: Member[] = [];
  readonly #given = new Map<string, Given>();
  /** HP7, in the order in which they came. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #few: number;
  /** Holders that we started, and that are being started; and how many of them wait for a journal. */
  #count = 0;
  #starting = 0;
  #cancelWait: (() => void) | undefined;
  #cancel: () => void = () => undefined;
  /** From this time on, no holder of another daemon is left to take over. */
  readonly #alone: number;
  readonly #knockedAt = new Set<number>();
  #taking: Promise<void> = Promise.resolve();

  constructor(world: PoolWorld, ports: PoolPorts) {
    this.#world = world;
    this.#ports = ports;
    this.#alone = world.clock.elapsed() + 2 * ORPHANED_MS;
    this.#few = world.self.capacity().cores + FEW_MORE;
  }

  /** Takes over waiting holders, while there may be any (HP5). */
  takeOver(): Promise<void> {
    if (this.#world.clock.elapsed() <= this.#alone) this.#taking = this.#taking.then(() => this.#takeOver());
    return this.#taking;
  }

  /** If the disk fails, none is taken over now: new ones do the same, and every step waits for this. */
  async #takeOver(): Promise<void> {
    const { disk, home } = this.#world;
    try {
      const pids = waitingIn(disk.list(joinPath(home, RUN))).filter((pid) => !this.#knockedAt.has(pid));
      const token = pids.length === 0 ? undefined : readWhole(disk, joinPath(home, TOKEN));
      if (token === undefined) return;
      for (const pid of pids) this.#knockedAt.add(pid);
      await Promise.all(pids.map((pid) => this.#adopt(pid, new TextDecoder().decode(token).trim())));
    } catch (error) {
      if (!isFault(error)) throw error;
    }
  }

  async #adopt(pid: number, token: string): Promise<void> {
    try {
      const { home, sockets } = this.#world;
      let member: Member | undefined;
      const closed = () => member && this.#ended(member);
      const line = await sockets.connect(ordersSocket(home, pid), { bytes: () => undefined, closed });
      const child = { pid, tell: (bytes: Uint8Array) => line.send(bytes), release: () => line.end() };
      member = { child, token, journal: undefined, uses: 1, gone: false };
      this.#rest(member);
    } catch (error) {
      if (!isFault(error)) throw error; // It has left in the meantime.
    }
  }

  /** Has this attempt held: by a holder at rest, a new one, or the next free one. A Fault if none can be started. */
  async give(attempt: string, order: HolderOrder): Promise<void> {
    const news = this.#given.get(attempt)?.news ?? 0;
    this.#given.delete(attempt);
    this.#waiting.set(attempt, { order, news, since: this.#world.clock.elapsed() });
    this.#serve();
    if (!this.#waiting.has(attempt)) return;
    if (this.#mayStart && this.#count >= this.#few) return this.#wait();
    try {
      await this.#startOne();
    } catch (error) {
      if (this.#waiting.delete(attempt)) throw error;
    }
  }

  /** HP8 */
  get #mayStart(): boolean {
    return this.#world.mayStart?.() !== false;
  }

  /** Those at rest take what waits. */
  #serve(): void {
    if (!this.#mayStart) return; // HP8
    for (const [attempt, { order, news }] of [...this.#waiting]) {
      const member = this.#atRest.pop();
      if (member === undefined) return;
      this.#waiting.delete(attempt);
      this.#given.set(attempt, { member, order, news: news + (member.uses === 0 ? 1 : 0) });
      member.uses += 1;
      member.child.tell(encodeOrder({ ...order, journal: member.journal }, member.token));
    }
  }

  /** HP7 */
  #wait(): void {
    this.#cancelWait ??= this.#world.clock.after(PATIENCE_MS / 2, () => {
      this.#cancelWait = undefined;
      const since = this.#world.clock.elapsed() - PATIENCE_MS;
      const late = [...this.#waiting].filter(([, waiting]) => waiting.since <= since);
      for (const [attempt] of late.slice(this.#starting, this.#few))
        void this.#startOne().catch((error: unknown) => this.#notStarted(error, attempt));
      if (this.#waiting.size > 0) this.#wait();
    });
  }

  /** It is tried again on the next round. */
  #notStarted(error: unknown, attempt: string): void {
    if (!isFault(error)) throw error;
    if (this.#waiting.delete(attempt)) this.#ports.heard(attempt);
  }

  /** Whether the holder that this attempt was given to lives. */
  has(attempt: string): boolean {
    return this.#waiting.has(attempt) || this.#given.get(attempt)?.member.gone === false;
  }

  /** Whether its holder says when there is something to see (HP6). */
  tells(attempt: string): boolean {
    return this.#given.get(attempt)?.member.token === undefined;
  }

  /** For an attempt that was given to a holder and not claimed yet (HP3). */
  giveAgain(attempt: string): void {
    const given = this.#given.get(attempt);
    if (given?.member.gone !== true || given.news >= MAX_NEW) return;
    void this.give(attempt, given.order).catch((error: unknown) => this.#notStarted(error, attempt));
  }

  /** Called when the attempt's end is on disk (HP2). */
  giveBack(attempt: string): void {
    const member = this.#given.get(attempt)?.member;
    this.#given.delete(attempt);
    if (member === undefined || member.gone) return;
    if (member.uses >= MAX_USES || this.#atRest.length >= MAX_AT_REST) sendHome(member);
    else this.#rest(member);
  }

  #rest(member: Member): void {
    this.#atRest.push(member);
    this.#cancel();
    this.#cancel = this.#world.clock.after(REST_MS, () => this.#sendHome()); // HP4
    this.#serve();
  }

  /** Whatever became of the attempt, its holder no longer belongs to the pool (HP2). */
  forget(attempt: string): void {
    const member = this.#given.get(attempt)?.member;
    if (member !== undefined) sendHome(member);
    this.#given.delete(attempt);
    this.#waiting.delete(attempt);
  }

  /** Kills the holder that this attempt was given to: it hangs, and can claim nothing any more. */
  kill(attempt: string): void {
    const member = this.#given.get(attempt)?.member;
    this.#given.delete(attempt);
    this.#waiting.delete(attempt);
    const holder = member?.gone === false ? identify(this.#world.processes, member.child.pid) : undefined;
    if (holder !== undefined) this.#world.processes.kill(holder, "SIGKILL");
  }

  close(): void {
    this.#cancel();
    this.#cancelWait?.();
    this.#waiting.clear();
    this.#sendHome();
  }

  #sendHome(): void {
    for (const member of this.#atRest.splice(0)) sendHome(member);
  }

  /** For whoever has waited the longest. */
  async #startOne(): Promise<void> {
    this.#starting += 1;
    this.#count += 1;
    const journal = await this.#ports.journals.take();
    this.#starting -= 1;
    let member: Member | undefined;
    try {
      if (this.#waiting.size > 0) member = this.#start(journal);
    } finally {
      if (member === undefined) this.#count -= 1;
      if (member === undefined && journal !== undefined) this.#ports.journals.giveBack(journal);
    }
    if (member !== undefined) this.#rest(member);
  }

  #start(journal: JournalUse | undefined): Member {
    const { runtime, entry } = this.#ports.holderCommand();
    const ours: Variables = this.#world.self.environment();
    const { home, children } = this.#world;
    const lines = new LineReader();
    const events = {
      said: (bytes: Uint8Array) => {
        for (const line of lines.push(bytes) ?? []) this.#said(member, saidIn(line));
      },
      ended: () => {
        this.#count -= 1;
        this.#ended(member);
      },
    };
    const child = children.told(ordersStart(runtime, entry, home, ours), events);
    const member: Member = { child, token: undefined, journal, uses: 0, gone: false };
    return member;
  }

  /** HP6. `directory`: undefined for whatever it has. */
  #said(member: Member, directory?: string): void {
    for (const [attempt, given] of [...this.#given])
      if (given.member === member && (directory === undefined || given.order.directory === directory))
        this.#ports.heard(attempt);
  }

  #ended(member: Member): void {
    member.gone = true;
    if (member.journal !== undefined) this.#ports.journals.giveBack(member.journal);
    const at = this.#atRest.indexOf(member);
    if (at >= 0) this.#atRest.splice(at, 1);
    this.#said(member);
  }
}

/** The holder leaves when it has carried out its order. */
function sendHome({ child }: Member): void {
  child.tell(GO_HOME);
  child.release();
}
