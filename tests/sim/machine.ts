// A whole machine in memory: a disk that forgets unsynced data, a process table, sockets, the real holders, and
// programs played by a test. Its daemon is the whole real one (holdfast/machine.ts).
// SM1. A daemon that dies alone leaves the disk's cache, the holders and their programs as they are; a machine that
//      goes down, none of them.
// SM2. Every call that changes the disk, every start of a holder and every effect is a moment at which either may
//      happen.
// SM3. The same seed, story and plan give the same life: nothing in here waits for anything real.
import { isFault } from "../../src/base/fault.ts";
import { holdOne, type Present, type ToHold } from "../../src/holder/hold-one.ts";
import type { HolderWorld } from "../../src/holder/holder.ts";
import { OrderedJournal } from "../../src/holder/ordered-journal.ts";
import { encodeSaid, type HolderOrder, parseOrder, SPARE } from "../../src/wire/holder/orders.ts";
import type {
  Children,
  Command,
  Ending,
  PipeChild,
  PipeEvents,
  PtyChild,
  PtyEvents,
  ToldChild,
  ToldEvents,
} from "../../src/world/children.ts";
import { type ForegroundProcess, isAlive, type Processes, type ProcessIdentity } from "../../src/world/process.ts";
import { SimClock } from "./clock.ts";
import { SimDisk } from "./disk.ts";
import { Crashed } from "./faults.ts";
import { Life, type Moment, mortalClock, mortalDisk } from "./mortal.ts";
import { SimProcesses } from "./processes.ts";
import { SimRandom } from "./random.ts";
import { SimSockets, type SocketFiles, type Wire } from "./sockets.ts";
import type { Chooser } from "./survive.ts";

export const HOME = "/h";
/** Starting a process takes a moment, and so does everything that a program does. */
const START_MS = 2;
export const ACT_MS = 15;
/**
 * Slow enough that the log syncs in the background (log/wal/sync-pace.ts): the first on its thread takes so long that
 * no other does.
 */
const SYNC_MS = 3;
const FIRST_SYNC_MS = 15;

/** A process: its life, and its place in the table. */
export type Born = { readonly life: Life; readonly who: ProcessIdentity; nudge(): void };

/** What a holder holds, and whether its program was started. */
type Kept = { present?: Present | undefined; holds?: boolean };

export abstract class Machine {
  readonly clock = new SimClock();
  readonly random: SimRandom;
  disk = new SimDisk();
  trouble: Error | undefined;
  /** The holders that hold only one program, as they live, with the one that is a spare. */
  readonly holders = new Set<Born>();
  /** How long the next holders take to start; Infinity: they die before they do anything. */
  readonly slowHolders: number[] = [];
  /** SM2 */
  moment: Moment = () => undefined;
  /** Called before a holder is started; what it throws, the start throws. */
  fork: () => void = () => undefined;
  #table = new SimProcesses();
  #sockets = new SimSockets(this.socketFiles(), this.#wire());
  #living = new Map<number, Born>();

  constructor(seed: number) {
    this.random = new SimRandom(seed);
    this.#slowDown();
  }

  /** The log's syncs take a while, as on a slow disk: acting before they are done is detected. */
  #slowDown(): void {
    this.disk.onCall = ({ operation, path }) => {
      if (operation === "datasyncBlocking" && path.endsWith(".wal")) this.clock.lag(FIRST_SYNC_MS);
    };
    this.disk.gate = ({ path }) =>
      path.endsWith(".wal") ? new Promise((synced) => this.clock.after(SYNC_MS, synced)) : Promise.resolve();
  }

  /** The disk takes so many bytes more, until there is room again. */
  fill(room: number): void {
    this.disk.capacity = this.disk.tree.used([]) + room;
  }

  makeRoom(): void {
    this.disk.capacity = Number.POSITIVE_INFINITY;
  }

  get isFull(): boolean {
    return this.disk.capacity !== Number.POSITIVE_INFINITY;
  }

  /** Whoever is killed in the middle of something has said all that it will. */
  crashedOr(error: unknown): void {
    if (!(error instanceof Crashed)) this.failed(error);
  }

  /** Records an unexpected failure, which was not injected. */
  failed(error: unknown): void {
    this.trouble ??= error instanceof Error ? error : new Error(String(error));
  }

  /** Somebody is started. */
  born(nudge: () => void = () => undefined, variables: Readonly<Record<string, string>> = {}): Born {
    const who = this.#table.spawn(undefined, { variables });
    const born = { life: new Life(), who, nudge };
    this.#living.set(who.pid, born);
    born.life.onEnd(() => {
      this.#living.delete(who.pid);
      if (this.#table.alive(who)) this.#table.exit(who.pid);
    });
    return born;
  }

  /** From now on this one is in front of the terminal of `pid`. */
  putInFront(pid: number, front: ForegroundProcess): void {
    this.#table.putInFront(pid, front);
  }

  /** What a process reaches of the machine. */
  doors({ life, who }: Born) {
    return {
      disk: mortalDisk(this.disk, life, (what) => this.moment(what)),
      clock: mortalClock(this.clock, life),
      processes: this.#processes(who.pid),
      sockets: this.#sockets.door(life, who.pid),
      children: this.#children(life),
      random: this.random,
      home: HOME,
    };
  }

  /** Cuts the power: of the disk, `choose` decides what is left. */
  powerCut(choose: Chooser): void {
    this.goOnWith(() => this.disk.powerCut(choose));
  }

  /** The machine goes down. From now on this is its disk, or that of another machine in its place. */
  protected goOnWith(disk: () => SimDisk, isSameBoot = false): void {
    for (const { life } of [...this.#living.values()]) life.end();
    this.disk = disk();
    this.#slowDown();
    this.#table.reboot(isSameBoot);
    this.#sockets = new SimSockets(this.socketFiles(), this.#wire());
  }

  #wire(): Wire {
    return {
      cut: (bytes) => this.cut(bytes),
      taken: (length) => this.taken(length),
      later: (drain) => void this.clock.after(ACT_MS, drain),
    };
  }

  /** SO4 of sockets.ts */
  protected taken(length: number): number {
    return length;
  }

  /** SO3 of sockets.ts */
  protected cut(bytes: Uint8Array): readonly Uint8Array[] {
    return [bytes];
  }

  /** Undefined: sockets have no files on the disk. */
  protected socketFiles(): SocketFiles | undefined {
    return undefined;
  }

  #processes(pid: number): Processes {
    const table = this.#table;
    return {
      pid,
      startTime: (of) => table.startTime(of),
      bootId: () => table.bootId(),
      alive: (who) => isAlive(table, who),
      isTaken: (of) => table.isTaken(of),
      waitsForDisk: (of) => table.waitsForDisk(of),
      isStopped: (of) => table.isStopped(of),
      list: () => table.list(),
      kin: (of) => table.kin(of),
      executable: () => null,
      parent: () => table.kin(pid)?.ppid ?? 0,
      variable: (of, name) => table.variable(of, name),
      foreground: (of) => table.foreground(of),
      origin: (of) => table.origin(of),
      ticks: () => table.ticks(),
      kill: (who, signal) => {
        const born = isAlive(table, who) ? this.#living.get(who.pid) : undefined;
        if (signal === "SIGHUP") born?.nudge();
        else born?.life.end();
        return born !== undefined;
      },
    };
  }

  #children(life: Life): Children {
    return {
      detached: (command) => this.startDetached(life, command),
      told: ({ env }, events) => {
        this.fork();
        return this.#startOrdered(life, events, env[SPARE] !== undefined);
      },
      pipes: (command, events) => this.startProgram(command, events, life),
      pty: (command, _, events) => this.startOnTerminal(command, events, life),
      watched: (command, ended) => this.startWatched(life, command, ended),
    };
  }

  protected startDetached(starter: Life, { argv }: Command): number {
    starter.mustLive();
    this.fork();
    this.moment("the holder starts");
    starter.mustLive();
    const kept: Kept = {};
    const born = this.born(() => void kept.present?.keeper.look());
    this.#isHolder(born);
    const hold = async (): Promise<void> => {
      await this.#hold(born, { directory: argv.at(-1) ?? "", secrets: {} }, kept);
      born.life.end();
    };
    const start = () => void hold().catch((error) => this.#holderFailed(born, kept, error));
    this.#startLater(born, start);
    return born.who.pid;
  }

  #isHolder(born: Born): void {
    this.holders.add(born);
    born.life.onEnd(() => this.holders.delete(born));
  }

  #startLater({ life }: Born, start: () => void): void {
    const startMs = this.slowHolders.shift() ?? START_MS;
    if (startMs === Number.POSITIVE_INFINITY) this.clock.after(0, () => life.end());
    else mortalClock(this.clock, life).after(startMs, start);
  }

  /** One that cannot even write that it is there leaves, and nothing was started; a disk that fails ends no other. */
  #holderFailed({ life }: Born, { holds = false }: Kept, error: unknown): void {
    if (!holds && isFault(error)) life.end();
    else this.crashedOr(error);
  }

  /** What a holder reaches of the machine. */
  protected holderDoors(born: Born) {
    return this.doors(born);
  }

  /** A holder that takes one order after the other, and exits with the giver of the orders. A spare gets only one. */
  #startOrdered(starter: Life, { said, ended }: ToldEvents, isSpare: boolean): ToldChild {
    starter.mustLive();
    this.moment("the holder starts");
    starter.mustLive();
    const kept: Kept = {};
    const born = this.born(() => void kept.present?.keeper.look());
    if (isSpare) this.#isHolder(born);
    const { promise: leaving, resolve: leave } = Promise.withResolvers<undefined>();
    const orders: PromiseWithResolvers<HolderOrder>[] = [Promise.withResolvers()];
    const journals = new OrderedJournal({ ...this.holderDoors(born), rest: () => undefined });
    const tell = (directory: string) => starter.act(() => said?.(encodeSaid(directory)));
    const work = async (): Promise<void> => {
      for (;;) {
        const order = await Promise.race([orders[0]?.promise, leaving]);
        if (order === undefined) break;
        orders.shift();
        const say = () => void Promise.resolve().then(() => tell(order.directory));
        await this.#hold(born, { ...order, journal: journals.of(order.journal), say }, kept);
      }
      born.life.end();
    };
    starter.onEnd(() => leave(undefined));
    born.life.onEnd(() => {
      if (!starter.dead) ended();
    });
    this.#startLater(born, () => void work().catch((error) => this.#holderFailed(born, kept, error)));
    return {
      pid: born.who.pid,
      tell: (bytes) => {
        const order = parseOrder(new TextDecoder().decode(bytes));
        if (order === undefined) return leave(undefined);
        orders.at(-1)?.resolve(order);
        orders.push(Promise.withResolvers());
      },
      release: () => leave(undefined),
    };
  }

  /** As src/holder/hold.ts does it. */
  #hold(born: Born, held: ToHold, kept: Kept): Promise<void> {
    kept.holds = false;
    const doors = this.holderDoors(born);
    const children: Children = {
      ...doors.children,
      pipes: (command, events) => {
        kept.holds = true;
        return doors.children.pipes(command, events);
      },
      pty: (command, size, events) => {
        kept.holds = true;
        return doors.children.pty(command, size, events);
      },
    };
    const world: HolderWorld = { ...doors, children, rest: () => undefined };
    return holdOne(world, held, (now) => {
      kept.present = now;
    });
  }

  /** A program on pipes that decides for itself what it does. */
  protected abstract startProgram(command: Command, events: PipeEvents, starter: Life): PipeChild;

  protected startWatched(_starter: Life, _command: Command, _ended: (ending: Ending) => void): number {
    return absent();
  }

  /** The same on a terminal. */
  protected startOnTerminal(_command: Command, _events: PtyEvents, _starter: Life): PtyChild {
    return absent();
  }
}

function absent(): never {
  throw new Error("nobody here starts such a thing");
}
