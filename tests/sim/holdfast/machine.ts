// The simulated machine with the whole daemon on it: src/daemon/run.ts as it is, from its locks to its exit code, with
// the real holders, the real screens, and programs that only this machine knows.
// HM1. A daemon gets everything that its process gets in the real world; only the watchdog ends at once (HM4), nothing
//      can listen for HTTP, requests reach only the scripted model (agent/sim-model.ts), and only some stories have
//      tmux (tmux/client.ts).
// HM2. A daemon that exits by itself with another code than 0 is a failure, unless one of its calls failed and may have
//      ended it (HA1 of harm.ts). A watchdog whose call failed may start a second one, which leaves at once.
// HM3. One that goes on reporting is ended here: it has lost its log, and tries again for ever without a pause.
// HM4. Only if the story has a watchdog, that has a life (watchdog-program.ts).
// HM5. Only some stories are in a fleet (fleet.ts): then nothing is started for a home that is not, or no longer, ours.
import { Fault } from "../../../src/base/fault.ts";
import { refused } from "../../../src/base/result.ts";
import { runDaemon } from "../../../src/daemon/run.ts";
import { SEARCH_SOURCE } from "../../../src/daemon/search/indexing.ts";
import { SCREEN_SOURCE } from "../../../src/daemon/terminal/screens.ts";
import { ANOTHER_RUNS } from "../../../src/wire/heartbeat.ts";
import type { Command, PipeChild, PipeEvents, PtyChild, PtyEvents } from "../../../src/world/children.ts";
import type { Clock } from "../../../src/world/clock.ts";
import type { HttpClient } from "../../../src/world/http.ts";
import { SimModel } from "../../agent/sim-model.ts";
import type { SimDisk } from "../disk.ts";
import { Crashed } from "../faults.ts";
import { type Born, HOME, Machine } from "../machine.ts";
import type { Life } from "../mortal.ts";
import type { SocketFiles } from "../sockets.ts";
import type { Chooser } from "../survive.ts";
import { actingDoors } from "./acting-doors.ts";
import { AgentPrograms } from "./agent-programs.ts";
import { type Before, faultyDisk } from "./faulty-disk.ts";
import { faultyDoors } from "./faulty-doors.ts";
import type { SimHomeFleet } from "./fleet.ts";
import { Harm } from "./harm.ts";
import { startScreens } from "./screen-program.ts";
import { SocketPaths } from "./socket-paths.ts";
import { startStep } from "./step-program.ts";
import { startOnTerminal } from "./terminal-program.ts";
import type { SimTmux } from "./tmux/client.ts";
import { type Ended, startWatchdog, startWatched } from "./watchdog-program.ts";
import { Witness } from "./witness.ts";

const CONFIG = "/u/config.toml";
/** What has ended is archived as soon as possible. */
export const SETTINGS =
  "[log]\nsegment_bytes = 2097152\nballast_bytes = 0\nsession_bytes = 2048\n[retention]\narchive_after_min = 0\n";
const ENVIRONMENT = { HOME: "/u", SHELL: "/bin/sh", PATH: "/bin", HOLDFAST_CONFIG: CONFIG };
const WATCHDOG = "src/watchdog/main.ts";
export const AGENT = "agent";
const FAILED = 1;
const MAX_TURNS = 100_000;
const NEAR_MS = 50;
const MAX_IN_A_ROW = 30;
/** A life has a few words to say. */
const MAX_WORDS = 1_000;
/** How likely it is that what is sent arrives in one piece, and that it is taken at once. */
const WHOLE = 0.8;
const TAKEN = 0.95;

const SELF = {
  environment: () => ENVIRONMENT,
  collect: () => undefined,
  command: (entry: string, ...args: readonly string[]) => ["bun", entry, ...args] as const,
  lasting: (entry: string, ...args: readonly string[]) => ["bun", entry, ...args] as const,
  files: () => ["bun"],
  binary: () => undefined,
  holder: async () => undefined,
  capacity: () => ({ cores: 4, memoryBytes: 8 * 2 ** 30 }),
};
const HTTP = { listen: () => refuse("EACCES", "listen", "127.0.0.1") };
/** It is in no fleet. */
const noFleet = refused("postgres-unreachable", "There is no database.", "");
const NO_POSTGRES = { connect: async () => noFleet };
/** Nobody is called. */
const NO_NETWORK = {
  resolve: async (name: string) => refuse("ENOTFOUND", "resolve", name),
  connect: async () => refuse("ECONNREFUSED", "connect", "nowhere"),
  secure: async () => refuse("ECONNREFUSED", "secure", "nowhere"),
  listen: () => refuse("EACCES", "listen", "127.0.0.1"),
  own: () => [],
};

function refuse(code: string, operation: string, path: string): never {
  throw new Fault({ code, operation, path });
}

/** One life of the daemon. */
export type Daemon = {
  readonly born: Born;
  readonly said: string[];
  /** If it has exited by itself. */
  code: number | undefined;
  /** Asks it to leave, as SIGTERM does. */
  stop(): void;
};

export class HoldfastMachine extends Machine {
  /** HM4: whether there is one, and those that live. */
  hasWatchdog = false;
  readonly watchdogs = new Set<Born>();
  /** The last one that began and did not leave for another, and those that live. */
  daemon: Daemon | undefined;
  readonly #daemons = new Set<Daemon>();
  readonly witness = new Witness((words) => this.failed(new Error(words)));
  /** HM2 */
  readonly harm = new Harm();
  /** Before every call of a daemon (faulty-doors.ts); what it throws, the call throws. */
  beforeCall: Before = () => undefined;
  /** The same before every call of a holder on its disk, and of a watchdog. */
  beforeHolderCall: Before = () => undefined;
  beforeWatchdogCall: Before = () => undefined;
  /** What the watchdogs have said, and the calls of theirs that have failed. */
  readonly watchdogsSaid: string[] = [];
  readonly watchdogFaults: Fault[] = [];
  /** Before a holder starts its program; what it throws, the start throws. */
  beforeProgram: (program: string) => void = () => undefined;
  readonly model = new SimModel();
  /** HM1: if it is installed. */
  tmux: SimTmux | undefined;
  /** HM5 */
  fleet: SimHomeFleet | undefined;
  #slept = 0;
  readonly #paths = new SocketPaths(() => this);
  readonly agents = new AgentPrograms(this, this.witness);

  constructor(seed: number, settings = SETTINGS) {
    super(seed);
    this.disk.plant(CONFIG, Buffer.from(settings));
    this.disk.plant(`${HOME}/made`, Buffer.from(""));
  }

  /**
   * The machine is suspended: the wall clock goes on. If it is `stopped` as a whole, as a virtual one is, so does the
   * other clock, and every timer is late.
   */
  suspend(ms: number, stopped: boolean): void {
    if (!stopped) this.clock.sleep(ms);
    else {
      this.clock.lag(ms);
      this.#slept += ms;
      this.tmux?.noteStop();
    }
  }

  /** If the next timer is far away, everything in progress finishes first, however many turns it takes. */
  async settle(): Promise<void> {
    await this.clock.settle();
    for (let turn = 0; turn < MAX_IN_A_ROW && this.#nextMs() > NEAR_MS; turn += 1) await this.clock.settle();
    if (this.trouble !== undefined) throw this.trouble;
  }

  /** Time passes until the next timer. */
  pass(): void {
    this.clock.advance(this.#nextMs());
  }

  /** Time passes until this is settled. */
  async during<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    void work.then(over, over);
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      await this.settle();
      if (isOver) return work;
      this.pass();
    }
    throw new Error("it does not end");
  }

  #nextMs(): number {
    return Math.max(0, (this.clock.nextTimer ?? this.clock.elapsed() + 1) - this.clock.elapsed());
  }

  /** For how long it was not stopped. */
  get awake(): number {
    return this.clock.elapsed() - this.#slept;
  }

  /** HM1 */
  begin(environment: Readonly<Record<string, string>> = ENVIRONMENT): Daemon {
    const born = this.born();
    const { life } = born;
    const { promise: told, resolve: stop } = Promise.withResolvers<void>();
    const said: string[] = [];
    const daemon: Daemon = { born, said, code: undefined, stop };
    this.daemon = daemon;
    this.#daemons.add(daemon);
    life.onEnd(() => this.#daemons.delete(daemon));
    this.harm.foundNoRoom = this.isFull;
    const leaving: ((code: number) => void)[] = [];
    const ended = (code: number) => {
      if (!life.dead) for (const fn of leaving) fn(code);
      this.#ended(daemon, code);
    };
    const exit = (code: number): never => {
      ended(code);
      throw new Crashed(`it exited with ${code}`);
    };
    const faulty = faultyDoors(this.doors(born), (operation, path) => this.beforeCall(operation, path));
    const doors = actingDoors(faulty, (what) => this.#acts(what, born));
    const httpClient = this.#httpClient(doors.clock, born);
    const world = {
      ...{ ...doors, self: SELF, http: HTTP, httpClient, network: NO_NETWORK, subtle: crypto.subtle },
      watch: this.#paths.watch(life),
      paths: { uid: 0, steps: () => [] }, // Every socket is ours.
      self: { ...SELF, environment: () => environment },
    };
    const say = (words: string) => {
      if (said.push(words) < MAX_WORDS) return;
      this.failed(new Error(`a daemon goes on reporting: ${words}`)); // HM3
      life.end();
      throw new Crashed("it goes on reporting");
    };
    const onExit = (fn: (code: number) => void) => void leaving.push(fn);
    const over = runDaemon({ ...this.#fleetDoors(born), world, absolute: (path) => path, say, told, exit, onExit });
    over.then(ended, (error) => this.crashedOr(error));
    return daemon;
  }

  /** HM5 */
  #acts(what: string, { who }: Born): void {
    const wrong = this.fleet?.wrongWithActing(this.disk, who.pid);
    if (wrong !== undefined) this.failed(new Error(`${what}: ${wrong}`));
  }

  /** HM1, HM5 */
  #fleetDoors(born: Born) {
    const { fleet } = this;
    if (fleet === undefined) return { postgres: NO_POSTGRES, hostName: "sim" };
    const postgres = fleet.door(born.life, (what) => this.moment(what));
    return { postgres, hostName: fleet.host };
  }

  /** Everything goes down here, and goes on with this disk on another host. */
  goOnElsewhere(disk: SimDisk): void {
    this.agents.harm();
    this.goOnWith(() => disk, this.fleet?.isOfContainers);
    this.fleet?.arrived();
  }

  /** HM1 */
  #httpClient(clock: Clock, born: Born): HttpClient {
    const { post } = this.model.door(clock, (what) => this.moment(what));
    return {
      post: async (request, stopped) => {
        this.beforeCall("connect", request.url);
        this.#acts("a request", born);
        return post(request, stopped);
      },
    };
  }

  override fill(room: number): void {
    this.harm.foundNoRoom = true;
    super.fill(room);
  }

  /** HM2 */
  #ended(daemon: Daemon, code: number): void {
    if (daemon.born.life.dead) return;
    daemon.code = code;
    const other = [...this.#daemons].find(({ born }) => born !== daemon.born);
    const isElsewhere = code === ANOTHER_RUNS && this.fleet?.mayEnd(daemon.said) === true;
    const hasStopped = code === FAILED && this.fleet?.mayStop(daemon.said) === true;
    const isSecond = code === ANOTHER_RUNS && other !== undefined && this.watchdogFaults.length > 0;
    const isExpected = isSecond || isElsewhere || hasStopped;
    if (code !== 0 && !isExpected && !this.harm.mayEnd(daemon.said))
      this.failed(new Error(`a daemon exits with ${code}: ${daemon.said.join("; ")}`));
    if (isSecond) this.daemon = other;
    daemon.born.life.end();
  }

  override powerCut(choose: Chooser): void {
    this.agents.harm();
    this.tmux?.goDown();
    super.powerCut(choose);
  }

  protected override socketFiles(): SocketFiles {
    return {
      put: (path) => this.#paths.put(path),
      remove: (path) => this.#paths.remove(path),
      touch: (path) => this.#paths.touch(path),
    };
  }

  /** Sometimes in two pieces. */
  protected override cut(bytes: Uint8Array): readonly Uint8Array[] {
    if (bytes.length < 2 || this.random.chance(WHOLE)) return [bytes];
    const at = 1 + this.random.int(bytes.length - 1);
    return [bytes.subarray(0, at), bytes.subarray(at)];
  }

  /** Sometimes only a part, or nothing. */
  protected override taken(length: number): number {
    return this.random.chance(TAKEN) ? length : this.random.int(length);
  }

  protected override startDetached(starter: Life, command: Command): number {
    if (!command.argv.includes(WATCHDOG)) return super.startDetached(starter, command);
    starter.mustLive();
    const born = this.hasWatchdog ? startWatchdog(this, SELF) : this.born();
    this.watchdogs.add(born);
    born.life.onEnd(() => this.watchdogs.delete(born));
    if (!this.hasWatchdog) born.life.end(); // HM4
    return born.who.pid;
  }

  protected override startWatched(starter: Life, command: Command, ended: Ended): number {
    starter.mustLive();
    return startWatched(this, command, ended, starter);
  }

  protected override holderDoors(born: Born) {
    const doors = super.holderDoors(born);
    return { ...doors, disk: faultyDisk(doors.disk, (operation, path) => this.beforeHolderCall(operation, path)) };
  }

  protected override startProgram(command: Command, events: PipeEvents, starter: Life): PipeChild {
    starter.mustLive();
    const [program, entry] = command.argv;
    if (entry === SCREEN_SOURCE) return startScreens(this, events, starter);
    if (entry === SEARCH_SOURCE) return refuse("ENOENT", "start", program); // HM1
    if (program === "tmux" && this.tmux !== undefined) return this.tmux.start(command, events, starter);
    this.beforeProgram(program);
    if (program === AGENT) return this.agents.start(command, events, starter);
    if (command.env["HOLDFAST_ATTEMPT"] === undefined) return refuse("ENOENT", "start", program); // HM1
    return startStep({ machine: this, witness: this.witness }, command, events, starter);
  }

  protected override startOnTerminal(command: Command, events: PtyEvents, starter: Life): PtyChild {
    starter.mustLive();
    this.beforeProgram(command.argv[0]);
    return startOnTerminal({ machine: this, witness: this.witness }, command, events, starter);
  }
}
