// A story: several lives of one home on a simulated machine, each ended by a crash of its plan, and a quiet life in
// which everything must come to its end.
// ST1. A plan (plan.ts) gives the story: the same every time.
// ST2. Every life that is not ended before becomes LIVE, and finds what was promised (operator.ts, memory.ts).
// ST3. A daemon whose log has stopped ends soon: nothing that it could still do would last.
// ST4. The last life is stopped in order, and one more finds the same.
// ST5. A story with a watchdog: each daemon that ends is followed by the next without anyone's help, a failure is on
//      record before that, or the watchdog says which of its calls failed; and at the end there is a watchdog, whatever
//      became of the one before.
// ST6. A story in a fleet: if another host takes the home, its daemon here ends by itself, and every later one here
//      follows. The next life is on the other host, with what the database has. At the end the database has everything.
import { Fault } from "../../../src/base/fault.ts";
import { readLastCrash } from "../../../src/home/last-crash.ts";
import { pause } from "../../../src/world/wait.ts";
import type { SimDisk } from "../disk.ts";
import type { FaultChoice } from "../faults.ts";
import { HOME } from "../machine.ts";
import { SimRandom } from "../random.ts";
import { everything, nothing, randomSurvivor } from "../survive.ts";
import { Client, Over, PATIENCE_MS } from "./client.ts";
import type { Before } from "./faulty-disk.ts";
import { type Code, fits } from "./faulty-doors.ts";
import { FLEET_SETTINGS, type FleetPlan, LEASE_MS, SimHomeFleet } from "./fleet.ts";
import { type Daemon, HoldfastMachine, SETTINGS } from "./machine.ts";
import { flows, Operator } from "./operator.ts";
import type { Ending, LifePlan, Plan, Taking } from "./plan.ts";
import { SimTmux } from "./tmux/client.ts";
import { TmuxPerson } from "./tmux/person.ts";

export type Told = { readonly lives: number; readonly deaths: number; readonly moments: number };

/** So many calls later at most: reads are no moments, and a recovery has many in a row. */
const MAX_CALLS_LATER = 20;
const MAX_TURNS = 100_000;
const QUIET_MS = 3_000;
const GIVEN_UP_MS = 12_000;
/** So long a holder is waited for without a look at its process (START_MS of held-programs.ts). */
const PATIENT_MS = 10_000;
const MAX_DEAF_MS = 10_000;
/** ST6. So long a host that was cut off may go on without knowing that another has its home. */
const MAX_LATE_MS = 8_000;
/** A story with tmux looks at it more often than a real home does. */
const EXTRAS = `[tmux]
save_s = 5
[provider.model]
kind = "openai"
base_url = "http://model"
`;

export class Story {
  readonly #plan: Plan;
  readonly #machine: HoldfastMachine;
  readonly #operator: Operator;
  readonly #tmux: TmuxPerson | undefined;
  readonly #random: SimRandom;
  /** Those that calls have failed with. */
  readonly faults: string[] = [];
  #daemon: Daemon | undefined;
  /** Whether it was started by a watchdog. */
  #isWatched = false;
  #lives = 0;
  #deaths = 0;
  #moments = 0;
  /** ST6: the disk of the other host that takes the home, and whether this one lives to see it. */
  #moving: Promise<SimDisk> | undefined;
  #mayFollow = false;
  /** When the log has stopped (ST3). */
  #stoppedAt = Number.POSITIVE_INFINITY;

  constructor(plan: Plan) {
    this.#plan = plan;
    const { tmux = false, model: hasModel = false, fleet } = plan;
    const settings = tmux || hasModel ? `${SETTINGS}${EXTRAS}` : SETTINGS;
    this.#machine = new HoldfastMachine(plan.seed, fleet === undefined ? settings : `${settings}${FLEET_SETTINGS}`);
    if (fleet !== undefined) this.#joinFleet(fleet);
    this.#machine.hasWatchdog = plan.watched ?? false;
    if (tmux) this.#tmux = this.#newTmux();
    this.#operator = new Operator(this.#machine, plan.seed + 1, { tmux: this.#tmux, hasModel });
    this.#random = new SimRandom(plan.seed + 2);
    for (const [path, text] of flows()) this.#machine.disk.plant(path, Buffer.from(text));
  }

  /** ST6 */
  #joinFleet(plan: FleetPlan): void {
    const { clock, disk } = this.#machine;
    SimHomeFleet.plant(disk);
    this.#machine.fleet = new SimHomeFleet(clock, this.#plan.seed + 4, plan);
  }

  #newTmux(): TmuxPerson {
    const { seed } = this.#plan;
    const tmux = new SimTmux(this.#machine, seed % 2);
    this.#machine.tmux = tmux;
    return new TmuxPerson(this.#machine, tmux, new SimRandom(seed + 3));
  }

  /** Reports an error that no part of the program has handled. */
  failed(error: unknown): void {
    this.#machine.crashedOr(error);
  }

  get said(): readonly string[] {
    return this.#daemon?.said ?? [];
  }

  async tell(): Promise<Told> {
    for (const life of this.#plan.lives) await this.#live(life);
    await this.#live({ ending: { kind: "daemon", at: Number.POSITIVE_INFINITY }, wishes: 1, fork: 0 }, true);
    await this.#live({ ending: { kind: "daemon", at: Number.POSITIVE_INFINITY }, wishes: 0, fork: 0 }, true); // ST4
    return { lives: this.#lives, deaths: this.#deaths, moments: this.#moments };
  }

  async #live(plan: LifePlan, last = false): Promise<void> {
    const { wishes, slow, jump = 0 } = plan;
    const machine = this.#machine;
    if (last) machine.fleet?.calm();
    await this.#moved();
    const startMs = slow === "never" ? Number.POSITIVE_INFINITY : slow;
    machine.slowHolders.splice(0, 1, ...(startMs === undefined ? [] : [startMs]));
    machine.clock.jump(jump);
    this.#lives += 1;
    this.#tmux?.cares.rest();
    machine.harm.forget();
    machine.tmux?.calm();
    this.#stoppedAt = Number.POSITIVE_INFINITY;
    const started = await this.#started();
    this.#threaten(plan);
    this.#isWatched = started !== undefined;
    const daemon = started ?? machine.begin();
    this.#daemon = daemon;
    const { life } = daemon.born;
    life.onEnd(() => this.#calm());
    let over = false;
    const day = async () => {
      await this.#operator.day(wishes);
      if (last) await this.#operator.finish();
    };
    void day()
      .catch((error) => {
        if (!(error instanceof Over) && !life.dead) this.failed(error);
      })
      .finally(() => {
        over = true;
      });
    await this.#until(() => over || life.dead);
    // ST6. One that had not taken its home yet follows by itself.
    const follows = () => daemon.said.some((words) => words.includes("this daemon follows"));
    if (this.#moving !== undefined) await this.#until(() => life.dead || follows());
    const lateMs = slow === "never" ? GIVEN_UP_MS : slow;
    const quietMs = lateMs !== undefined && lateMs > PATIENT_MS ? lateMs : this.#random.int(QUIET_MS);
    const quiet = machine.awake + (last ? 0 : quietMs);
    await this.#until(() => life.dead || machine.awake >= quiet);
    if (last && machine.hasWatchdog) await this.#until(() => machine.watchdogs.size > 0); // ST5
    if (!life.dead) daemon.stop();
    await this.#until(() => life.dead);
    this.#operator.leave();
    const wrong = last ? (machine.fleet?.wrong(machine.disk) ?? []) : [];
    if (wrong.length > 0) throw new Error(wrong.join("; ")); // ST6
  }

  /** ST6. Another host has the home, or will have it soon: whoever starts here follows, and then it goes on there. */
  async #moved(): Promise<void> {
    const machine = this.#machine;
    const moving = this.#moving;
    if (moving === undefined) return;
    let disk: SimDisk | undefined;
    const arrived = (it: SimDisk) => {
      disk = it;
    };
    void moving.then(arrived, (error) => this.failed(error));
    await this.#until(() => disk !== undefined);
    this.#moving = undefined;
    if (disk === undefined) return;
    if (this.#mayFollow) await this.#follows();
    this.#operator.lost();
    machine.goOnElsewhere(disk);
  }

  /** ST6 */
  async #follows(): Promise<void> {
    const machine = this.#machine;
    machine.fleet?.cut(false);
    const { born } = machine.begin();
    const client = new Client(machine);
    let follows = false;
    void client.follows().then(
      () => {
        follows = true;
      },
      (error) => this.failed(error),
    );
    const until = machine.awake + PATIENCE_MS;
    await this.#until(() => follows || machine.awake > until);
    if (!follows || born.life.dead) throw new Error("the daemon of a home that another host has does not follow");
    const rest = machine.awake + this.#random.int(2 * LEASE_MS);
    await this.#until(() => machine.awake >= rest);
    client.me.life.end();
    born.life.end();
  }

  /** The next daemon, which a watchdog starts at once, is not threatened by what is left of this life's plan. */
  #calm(): void {
    const machine = this.#machine;
    machine.moment = () => undefined;
    machine.fork = () => undefined;
    machine.beforeProgram = () => undefined;
    machine.disk.fault = undefined;
    machine.beforeCall = () => undefined;
    machine.beforeHolderCall = () => undefined;
    if (machine.tmux !== undefined) machine.tmux.trouble = () => undefined;
  }

  /** ST5. If there is no watchdog, an operator has to start it. */
  async #started(): Promise<Daemon | undefined> {
    const machine = this.#machine;
    const late = machine.awake + PATIENCE_MS;
    const isNew = () => machine.daemon !== this.#daemon && machine.daemon?.born.life.dead === false;
    await this.#until(() => isNew() || machine.watchdogs.size === 0 || machine.awake > late);
    if (!isNew() && machine.watchdogs.size > 0) throw new Error("the watchdog starts no daemon"); // ST5
    if (isNew()) this.#mustBeRecorded();
    return isNew() ? machine.daemon : undefined;
  }

  /** ST5. A watchdog may not know a daemon that it did not start. */
  #mustBeRecorded(): void {
    if (!this.#isWatched) return;
    const { code = 0, born } = this.#daemon ?? {};
    const crash = readLastCrash(this.#machine.disk, HOME);
    const isRecorded = code === 0 || (crash?.pid === born?.who.pid && crash?.exitCode === code);
    if (!isRecorded && !this.#isExcused())
      throw new Error(`a daemon that exited with ${code} is recorded as ${JSON.stringify(crash)}`);
  }

  /** ST5: a call of the watchdog has failed, and it has said which. */
  #isExcused(): boolean {
    const { watchdogsSaid, watchdogFaults } = this.#machine;
    return watchdogFaults.some(({ message }) => watchdogsSaid.some((words) => words.includes(message)));
  }

  #threaten({ ending, fork, refused, set, sleep, away, troubled }: LifePlan): void {
    const machine = this.#machine;
    this.#refuse(refused);
    this.#trouble(troubled);
    let moments = 0;
    let forks = 0;
    machine.fork = () => {
      forks += 1;
      if (forks === fork) throw new Fault({ code: "EAGAIN", operation: "fork", path: "bun" });
    };
    machine.moment = () => {
      moments += 1;
      this.#moments += 1;
      if (moments === sleep?.at) machine.suspend(sleep.ms, sleep.stopped);
      if (moments === set?.at) machine.clock.jump(set.ms);
      if (moments === away?.at) this.#loseDatabase(away.ms);
      if (moments === ending.at) this.#strike(ending);
    };
  }

  /** If another host is about to take the home, it stays away until that has happened. */
  #loseDatabase(ms: number): void {
    const { clock, fleet } = this.#machine;
    if (fleet?.isMoving !== false) return;
    fleet.cut(true);
    clock.after(ms, () => {
      if (!fleet.isMoving) fleet.cut(false);
    });
  }

  #refuse(refused: LifePlan["refused"]): void {
    let starts = 0;
    this.#machine.beforeProgram = (path) => {
      starts += 1;
      const { from, times, code } = refused ?? { from: 0, times: 0, code: "" };
      if (starts >= from && starts < from + times) throw new Fault({ code, operation: "start", path });
    };
  }

  #trouble(troubled: LifePlan["troubled"]): void {
    const { tmux } = this.#machine;
    let calls = 0;
    if (tmux === undefined || troubled === undefined) return;
    const { from, times, how } = troubled;
    tmux.trouble = () => {
      calls += 1;
      return calls >= from && calls < from + times ? how : undefined;
    };
  }

  #strike({ kind, whose }: Ending): void {
    const machine = this.#machine;
    this.#deaths += 1;
    if (kind === "daemon") {
      this.#remember();
      this.#daemon?.born.life.end();
    } else if (kind === "power") {
      this.#operator.lost();
      machine.powerCut(this.#random.pick([everything, nothing, randomSurvivor(this.#random)]));
    } else if (kind === "sync") {
      machine.disk.fault = ({ operation, path }): FaultChoice | undefined => {
        if (!operation.startsWith("datasync") || !path.endsWith(".wal")) return undefined;
        machine.harm.done(new Fault({ code: "EIO", operation, path }));
        this.#stoppedAt = Math.min(this.#stoppedAt, machine.awake);
        return { kind: "fail", code: "EIO" };
      };
    } else if (kind === "dead" || kind === "cut off" || kind === "robbed") this.#takenBy(kind);
    else if (kind === "holder") machine.clock.after(0, () => this.#killHolder());
    else if (kind === "watchdog") for (const { life } of machine.watchdogs) life.end();
    else if (kind === "tmux") machine.tmux?.kill();
    else if (whose === "watchdog") this.#strikeWatchdog(kind);
    else if (whose === "holder") machine.beforeHolderCall = this.#once(kind, () => undefined);
    else machine.beforeCall = this.#once(kind, (fault) => machine.harm.done(fault));
  }

  /** ST6 */
  #takenBy(how: Taking): void {
    const machine = this.#machine;
    const { fleet, disk } = machine;
    if (fleet?.isKnown !== true) {
      this.#daemon?.born.life.end(); // There is nothing to take.
      return;
    }
    this.#mayFollow = how !== "dead";
    fleet.isMoving = true;
    if (how === "dead") {
      this.#operator.lost();
      machine.powerCut(this.#random.pick([everything, nothing, randomSurvivor(this.#random)]));
    } else if (how === "cut off") fleet.cut(true);
    const lateMs = this.#random.int(MAX_LATE_MS);
    this.#moving = fleet.takeOver(how === "robbed", disk).then(async (made) => {
      await pause(machine.clock, lateMs);
      fleet.cut(false);
      return made;
    });
  }

  /** Most of its calls follow the end of a daemon. */
  #strikeWatchdog(code: Code): void {
    const machine = this.#machine;
    machine.beforeWatchdogCall = this.#once(code, (fault) => void machine.watchdogFaults.push(fault));
    if (this.#random.chance(0.7)) this.#strike({ kind: "daemon", at: 0 });
  }

  /** One of the next calls fails like this, once. HA1 and HA2 of harm.ts say what a daemon may do then. */
  #once(code: Code, failed: (fault: Fault) => void): Before {
    let later = this.#random.int(MAX_CALLS_LATER);
    let isOver = false;
    return (operation, path) => {
      later -= 1;
      if (later >= 0 || isOver || !fits(code, operation)) return;
      isOver = true;
      const fault = new Fault({ code, operation, path });
      this.faults.push(fault.message);
      failed(fault);
      throw fault;
    };
  }

  /** The programs of terminals end with it. */
  #killHolder(): void {
    const { holders, witness } = this.#machine;
    const [holder] = holders;
    holder?.life.end();
    const { before } = this.#operator;
    this.#operator.forgetPrompts();
    for (const id of before.keys()) if (!witness.running.has(id)) before.delete(id);
  }

  /** OP3 of operator.ts */
  #remember(): void {
    for (const [id, { who }] of this.#machine.witness.running) this.#operator.before.set(id, who.pid);
  }

  async #until(isSo: () => boolean): Promise<void> {
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      await this.#machine.settle();
      if (isSo()) return;
      if (this.#machine.awake - this.#stoppedAt > MAX_DEAF_MS) throw new Error("it lives on after its log stopped"); // ST3
      this.#machine.pass();
    }
    throw new Error("it does not end");
  }
}
