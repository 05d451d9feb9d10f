// A story: several lives of one home on a simulated machine, each ended by a crash of its plan, and a quiet life in
// which everything must come to its end.
// ST1. A seed gives the plan, and a plan the story: the same every time.
// ST2. Every life that is not ended before becomes LIVE, and finds what was promised (operator.ts, memory.ts).
// ST3. A daemon whose log has stopped ends soon: nothing that it could still do would last.
// ST4. The last life is stopped in order, and one more finds the same.
// ST5. A story with a watchdog: each daemon that ends is followed by the next without anyone's help, a failure is on
//      record before that, and at the end there is a watchdog, whatever became of the one before.
import { Fault } from "../../../src/base/fault.ts";
import { readLastCrash } from "../../../src/home/last-crash.ts";
import type { FaultChoice } from "../faults.ts";
import { HOME } from "../machine.ts";
import { SimRandom } from "../random.ts";
import { everything, nothing, randomSurvivor } from "../survive.ts";
import { Over, PATIENCE_MS } from "./client.ts";
import type { Before } from "./faulty-disk.ts";
import { CODES, type Code, fits, isCode } from "./faulty-doors.ts";
import { type Daemon, HoldfastMachine } from "./machine.ts";
import { flows, Operator } from "./operator.ts";

/** How a life ends: at this moment of it (SM2 of machine.ts), or in order after its wishes if there are fewer. */
export type Ending = {
  readonly kind: "daemon" | "power" | "holder" | "watchdog" | "sync" | Code;
  readonly at: number;
  /** Whose call fails; the daemon's if not given. */
  readonly whose?: "holder";
};
export type LifePlan = {
  readonly ending: Ending;
  readonly wishes: number;
  /** The start of a holder with this number fails once, with EAGAIN. */
  readonly fork: number;
  /** From this one on, so many starts of programs by their holders fail like this. */
  readonly refused?: { readonly from: number; readonly times: number; readonly code: string };
  /** How long the first holder takes to start, in milliseconds; `never`: it dies before it does anything. */
  readonly slow?: number | "never";
  /** By how much the wall clock is set before it. */
  readonly jump?: number;
  /** At this moment of it the wall clock is set by so much. */
  readonly set?: { readonly at: number; readonly ms: number };
  /** At this moment of it the machine is suspended for so long. */
  readonly sleep?: { readonly at: number; readonly ms: number; readonly stopped: boolean };
};
/** `watched`: there is a watchdog, which starts the daemon again (ST5). */
export type Plan = { readonly seed: number; readonly lives: readonly LifePlan[]; readonly watched?: boolean };
export type Told = { readonly lives: number; readonly deaths: number; readonly moments: number };

const KINDS = [
  "daemon",
  "daemon",
  "daemon",
  "power",
  "power",
  "power",
  "holder",
  "watchdog",
  "sync",
  ...CODES,
] as const;
/** So many calls later at most: reads are no moments, and a recovery has many in a row. */
const MAX_CALLS_LATER = 20;
const WATCHED = 0.3;
const MAX_DEATHS = 3;
const MAX_WISHES = 6;
/** A life has a hundred moments or more: a third of the deaths come during recovery, most others in the work after. */
const SPREADS = [40, 120, 300];
const MAX_TURNS = 100_000;
const QUIET_MS = 3_000;
const MAX_SLOW_MS = 30_000;
const GIVEN_UP_MS = 12_000;
/** So long a holder is waited for without a look at its process (START_MS of held-programs.ts). */
const PATIENT_MS = 10_000;
const HOUR_MS = 3_600_000;
/** Less than a prompt stays open. */
const DAY_MS = 24 * HOUR_MS;
const JUMPS = [-HOUR_MS, -1_000, 1_000, DAY_MS];
const SLEEPS = [5_000, 5 * 60_000, 8 * HOUR_MS];
const MAX_DEAF_MS = 10_000;
const REFUSALS = ["EAGAIN", "ENOMEM", "EMFILE", "EIO"];
const MAX_REFUSED = 8;

/** ST1 */
export function planOf(seed: number): Plan {
  const random = new SimRandom(seed);
  const lives = Array.from({ length: 1 + random.int(MAX_DEATHS) }, () => ({
    ending: endingOf(random),
    wishes: random.int(MAX_WISHES),
    fork: random.chance(0.2) ? 1 + random.int(4) : 0,
    ...(random.chance(0.2) && { slow: random.chance(0.3) ? ("never" as const) : random.int(MAX_SLOW_MS) }),
    ...(random.chance(0.2) && {
      refused: { from: 1 + random.int(4), times: 1 + random.int(MAX_REFUSED), code: random.pick(REFUSALS) },
    }),
    ...(random.chance(0.2) && { jump: random.pick(JUMPS) }),
    ...(random.chance(0.2) && {
      sleep: { at: 1 + random.int(random.pick(SPREADS)), ms: random.pick(SLEEPS), stopped: random.chance(0.5) },
    }),
    ...(random.chance(0.2) && {
      set: { at: 1 + random.int(random.pick(SPREADS)), ms: random.pick([-DAY_MS, DAY_MS]) },
    }),
  }));
  return { seed, lives, watched: random.chance(WATCHED) };
}

function endingOf(random: SimRandom): Ending {
  const ending = { kind: random.pick(KINDS), at: 1 + random.int(random.pick(SPREADS)) };
  return isCode(ending.kind) && random.chance(0.4) ? { ...ending, whose: "holder" } : ending;
}

export class Story {
  readonly #plan: Plan;
  readonly #machine: HoldfastMachine;
  readonly #operator: Operator;
  readonly #random: SimRandom;
  /** Those that calls have failed with. */
  readonly faults: string[] = [];
  #daemon: Daemon | undefined;
  /** Whether it was started by a watchdog. */
  #isWatched = false;
  #lives = 0;
  #deaths = 0;
  #moments = 0;
  /** When the log has stopped (ST3). */
  #stoppedAt = Number.POSITIVE_INFINITY;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#machine = new HoldfastMachine(plan.seed);
    this.#machine.hasWatchdog = plan.watched ?? false;
    this.#operator = new Operator(this.#machine, plan.seed + 1);
    this.#random = new SimRandom(plan.seed + 2);
    for (const [path, text] of flows()) this.#machine.disk.plant(path, Buffer.from(text));
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
    const startMs = slow === "never" ? Number.POSITIVE_INFINITY : slow;
    machine.slowHolders.splice(0, 1, ...(startMs === undefined ? [] : [startMs]));
    machine.clock.jump(jump);
    this.#lives += 1;
    machine.harm.forget();
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
    const lateMs = slow === "never" ? GIVEN_UP_MS : slow;
    const quietMs = lateMs !== undefined && lateMs > PATIENT_MS ? lateMs : this.#random.int(QUIET_MS);
    const quiet = machine.awake + (last ? 0 : quietMs);
    await this.#until(() => life.dead || machine.awake >= quiet);
    if (last && machine.hasWatchdog) await this.#until(() => machine.watchdogs.size > 0); // ST5
    if (!life.dead) daemon.stop();
    await this.#until(() => life.dead);
    this.#operator.leave();
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
    if (code !== 0 && (crash?.pid !== born?.who.pid || crash?.exitCode !== code))
      throw new Error(`a daemon that exited with ${code} is recorded as ${JSON.stringify(crash)}`);
  }

  #threaten({ ending, fork, refused, set, sleep }: LifePlan): void {
    const machine = this.#machine;
    this.#refuse(refused);
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
      if (moments === ending.at) this.#strike(ending);
    };
  }

  #refuse(refused: LifePlan["refused"]): void {
    let starts = 0;
    this.#machine.beforeProgram = (path) => {
      starts += 1;
      const { from, times, code } = refused ?? { from: 0, times: 0, code: "" };
      if (starts >= from && starts < from + times) throw new Fault({ code, operation: "start", path });
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
    } else if (kind === "holder") machine.clock.after(0, () => this.#killHolder());
    else if (kind === "watchdog") for (const { life } of machine.watchdogs) life.end();
    else if (whose === "holder") machine.beforeHolderCall = this.#once(kind, () => undefined);
    else machine.beforeCall = this.#once(kind, (fault) => machine.harm.done(fault));
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
    const { before, prompts } = this.#operator;
    prompts.clear();
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
