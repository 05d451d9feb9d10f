// One watched program through all its lives: started, adopted, started again when it ends, stopped when the operator
// wants it down.
// T1. Nothing is started beside a living one: first we look who runs, and adopt it.
// T2. Nothing is started unless the operator wants `up` at that very moment, also after a pause and in the middle of a
//     heal.
// T3. An end is judged once: asked for or not, graceful or a crash. One that followed a silence is that silence's
//     crash.
// T4. If the machine has no room for a process at the moment, that is nobody's crash: it is tried again later.

import { assert } from "../base/assert.ts";
import { isFault } from "../base/fault.ts";
import { CrashReason, type CrashRecord, crashRecord } from "../home/last-crash.ts";
import { tolerating } from "../home/recovery-bus.ts";
import { notePathOf } from "../home/watched.ts";
import { writeJson } from "../log/file/json-file.ts";
import { identify, type ProcessIdentity } from "../world/process.ts";
import type { SeenEnding } from "./exit.ts";
import { findRunning } from "./found.ts";
import { Life } from "./life.ts";
import type { PartOwner } from "./owner.ts";
import { Pace } from "./pace.ts";
import type { WatchSpec } from "./specs.ts";
import { stopLife } from "./stop.ts";
import { type PartEvent, type PartState, partMachine } from "./watched-program-table.ts";

/** A process that has just taken a lock writes its record within a millisecond. */
const BLOCKED_LOOK_MS = 50;
/** As in a shell: the program could not be executed. */
const NOT_STARTED = 127;
/** T4: a limit of processes, memory or files. */
const PASSING = ["EAGAIN", "ENOMEM", "EMFILE", "ENFILE"];
const NOBODY: ProcessIdentity = { pid: 0, startTime: -1, bootId: "" };

export class WatchedProgram {
  readonly spec: WatchSpec;
  readonly #owner: PartOwner;
  readonly #pace: Pace;
  readonly #stopped = Promise.withResolvers<void>();
  #state: PartState = partMachine.initial;
  #life: Life | undefined;
  #cancel: () => void = () => undefined;

  constructor(owner: PartOwner, spec: WatchSpec) {
    this.#owner = owner;
    this.spec = spec;
    this.#pace = new Pace(owner.pace);
  }

  /** Adopts a running process, or starts one. */
  begin(): void {
    this.#cancel();
    const { world, home } = this.#owner;
    const found = findRunning({ ...world, home }, this.spec); // T1
    if (found.kind === "known") this.#adopt(found.who);
    else if (found.kind === "somebody") this.#block();
    else this.#startIfWanted();
  }

  #startIfWanted(): void {
    if (this.#state === "blocked") this.#go("free");
    const wanted = this.#owner.wantsUp(); // T2
    if (wanted) this.#start();
    else this.#owner.toldDown();
  }

  /** A process announces that it is this program: ours, or one that we did not know. */
  announced(who: ProcessIdentity, live: boolean): void {
    const open = this.#state === "waiting" || this.#state === "blocked";
    if (open && this.#owner.world.processes.alive(who)) this.#adopt(who);
    this.beat(who);
    if (live) this.live(who);
  }

  beat(who: ProcessIdentity): void {
    const life = this.lifeOf(who);
    if (life === undefined) return;
    life.silent = false;
    this.#owner.watchdog.receiveHeartbeat(this.spec.name);
  }

  /** The program works now. */
  live(who: ProcessIdentity): void {
    const life = this.lifeOf(who);
    if (life?.liveMs === "never") this.#owner.say(`${this.spec.name} (${who.pid}): live`);
    life?.live();
  }

  /** The current life of this process; undefined for a rival or a former process. */
  lifeOf(who: ProcessIdentity): Life | undefined {
    return this.#life?.is(who) ? this.#life : undefined;
  }

  /** The core found it silent, or gone. */
  accused(pid: number, reason: CrashReason): void {
    const life = this.#life;
    if (life === undefined || life.who.pid !== pid) return;
    if (reason === CrashReason.UNRESPONSIVE) life.silent = true;
    else life.end({ kind: "vanished" });
  }

  /** Asks it to end and waits until it has; it is not started again. */
  stop(): Promise<void> {
    this.#cancel();
    if (this.#life !== undefined) this.#cancel = stopLife(this.#owner.world, this.#life.who, this.#owner.stopMs);
    if (this.#state !== "stopping" && this.#state !== "stopped") this.#go("stop");
    return this.#stopped.promise;
  }

  /** Stops watching; the process continues. */
  leave(): void {
    this.#cancel();
    this.#life?.forget();
    this.#owner.watchdog.unregister(this.spec.name);
    if (this.#state !== "stopped") this.#go(this.#life === undefined ? "stop" : "leave");
  }

  #go(event: PartEvent): void {
    const next = partMachine.next(this.#state, event);
    assert(next.ok, `${this.spec.name} is ${this.#state}, where "${event}" has no place`);
    this.#state = next.value;
    if (next.value === "stopped") this.#stopped.resolve();
  }

  #start(): void {
    const { command } = this.spec;
    const env = { ...command.env, ...this.#owner.variables(this.spec) };
    try {
      const pid = this.#owner.world.children.watched({ ...command, env }, (ending) => life.end(ending));
      // A process that has already ended has no start time; this identity matches none.
      const who = identify(this.#owner.world.processes, pid) ?? { pid, startTime: -1, bootId: "" };
      const life = this.#enter("start", who);
      this.#note(who);
      if (this.spec.shows.kind === "running") life.live();
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#owner.complain(error);
      this.#go("fail");
      if (isFault(error, ...PASSING)) this.#tryLater();
      else
        this.#again(new Life(this.#owner.world, NOBODY, false, () => undefined), { kind: "exited", code: NOT_STARTED });
    }
  }

  /** The note was removed. */
  noteAgain(): void {
    if (this.#life !== undefined) this.#note(this.#life.who);
  }

  /** T4 */
  #tryLater(): void {
    const { world } = this.#owner;
    const failed = { liveMs: "never", crashed: false } as const;
    if (this.#owner.wantsUp())
      this.#beginAfter(this.#pace.waitMs(failed, world.clock.elapsed(), world.random.fraction()));
    else this.#owner.toldDown(); // T2
  }

  /** For our successor; a program that holds a lock needs no note. */
  #note(who: ProcessIdentity): void {
    if (this.spec.shows.kind !== "running") return;
    const { world, home, complain } = this.#owner;
    void tolerating(complain, () => writeJson(world.disk, notePathOf(home, this.spec.name), { v: 1, ...who }));
  }

  #adopt(who: ProcessIdentity): void {
    this.#cancel();
    const life = this.#enter("adopt", who);
    if (this.spec.shows.kind === "running") life.live();
    life.lookNowAndThen();
  }

  #enter(event: "start" | "adopt", who: ProcessIdentity): Life {
    this.#go(event);
    const { shows, name } = this.spec;
    const announces = shows.kind === "heartbeat"; // Those are ours.
    const life = new Life(this.#owner.world, who, announces, (ending) => this.#ended(life, ending));
    this.#life = life;
    this.#owner.say(`${name} (${who.pid}): ${event === "adopt" ? "adopted" : "started"}`);
    if (shows.intervalMs !== undefined) this.#owner.watchdog.registerProcess(name, who.pid, shows.intervalMs);
    return life;
  }

  #block(): void {
    if (this.#state !== "blocked") this.#go("block");
    this.#cancel = this.#owner.world.clock.after(BLOCKED_LOOK_MS, () => this.begin());
  }

  #ended(life: Life, ending: SeenEnding): void {
    this.#cancel();
    this.#life = undefined;
    this.#owner.watchdog.unregister(this.spec.name);
    this.#go("end");
    this.#owner.say(`${this.spec.name} (${life.who.pid}): ${Object.values(ending).join(" ")}`);
    this.#again(life, ending);
  }

  /** After an end: records a crash, and restarts the program if it is still wanted. */
  #again(life: Life, ending: SeenEnding): void {
    const { world } = this.#owner;
    const wanted = this.#state === "waiting" && this.#owner.wantsUp();
    const crash = this.#judge(life, ending, !wanted);
    const lived = { liveMs: life.liveMs, crashed: crash !== undefined };
    const waitMs = this.#pace.waitMs(lived, world.clock.elapsed(), world.random.fraction());
    const ready = crash === undefined ? Promise.resolve() : this.#owner.crashed(this.spec, crash);
    if (wanted) void ready.then(() => this.#beginAfter(waitMs));
    else this.#owner.toldDown(); // T2
  }

  #beginAfter(waitMs: number): void {
    if (this.#state !== "waiting") return;
    if (waitMs === 0) this.begin();
    else this.#cancel = this.#owner.world.clock.after(waitMs, () => this.begin());
  }

  #judge(life: Life, ending: SeenEnding, asked: boolean): CrashRecord | undefined {
    const reason = life.crashReason(ending, asked); // T3
    if (reason === undefined) return undefined;
    return crashRecord({ name: this.spec.name, pid: life.who.pid, reason }, ending, this.#owner.world.clock.now());
  }
}
