// The fuzzed system: the log, a checkpoint store and a tape on one simulated disk, and what they have promised.
// Y1. After every crash everything that was acknowledged is there, in order and whole (oracle.ts); so is the newest
//     saved checkpoint or a later one, and every synced byte of the tape. Then life goes on.
// Y2. Nothing fails, stops or is refused without a fault that explains it.
import { Fault, isFault } from "../../../src/base/fault.ts";
import { CheckpointStore } from "../../../src/log/checkpoint/store.ts";
import { EventLog } from "../../../src/log/event-log.ts";
import { LogView } from "../../../src/log/inspect.ts";
import { Tape } from "../../../src/log/tape/tape.ts";
import { SimClock } from "../clock.ts";
import { SimDisk } from "../disk.ts";
import { Crashed } from "../faults.ts";
import { HOME, SMALL } from "../log/life.ts";
import { check, ensure, type Issued } from "../log/oracle.ts";
import { SimRandom } from "../random.ts";
import { randomSurvivor } from "../survive.ts";
import type { Death, Step } from "./steps.ts";
import { TAPE_LIMITS, TapeMemory } from "./tape-memory.ts";
import { KILL, POWER_CUT, Trouble } from "./trouble.ts";

/** Turns of the loop for everything in progress; far more than the longest chain takes. */
const TURNS = 60;

type Parts = { readonly log: EventLog; readonly store: CheckpointStore; readonly tape: Tape };

export class System {
  private disk = new SimDisk();
  private clock = new SimClock();
  private trouble = new Trouble();
  private parts: Parts | undefined;
  private issued: Issued[] = [];
  private acknowledged = 0;
  private readonly tapeMemory = new TapeMemory();
  /** Checkpoints are numbered: the last that was asked for, and the last that was promised. */
  private readonly checkpoints = { asked: 0, saved: 0 };

  static async start(): Promise<System> {
    const system = new System();
    await system.recover();
    return system;
  }

  async step(step: Step): Promise<void> {
    try {
      await this.perform(step);
    } catch (error) {
      if (!(error instanceof Crashed)) this.mustBeExplained(error);
    }
    if (this.disk.crashed) await this.die(this.trouble.death);
    else if (this.trouble.syncFailed) await this.watchdog();
  }

  /** The end of every run: one more crash, with everything armed or in progress, and everything is there. */
  async finish(): Promise<void> {
    await this.step({ kind: "crash", death: POWER_CUT });
    await this.step({ kind: "append", sessions: [1, 2], size: 10 });
    await this.step({ kind: "settle" });
    ensure(this.acknowledged === this.issued.length, "after a crash the log can be written");
    await this.step({ kind: "crash", death: POWER_CUT });
  }

  private get running(): Parts {
    ensure(this.parts !== undefined, "the system runs");
    return this.parts;
  }

  private async perform(step: Step): Promise<void> {
    switch (step.kind) {
      case "append":
        return this.append(step.sessions, step.size);
      case "settle":
        return this.settle();
      case "drain":
        return this.drain();
      case "rotate":
        return this.rotate();
      case "idle":
        this.clock.advance(step.ms);
        return this.settle();
      case "read":
        return this.read();
      case "checkpoint":
        return this.save(step.size);
      case "tape":
        return this.tapeMemory.append(this.running.tape, step.size);
      case "sync tape":
        return this.tapeMemory.sync(this.running.tape);
      case "crash":
        return this.die(step.death);
      case "restart":
        return this.restart();
      default:
        return this.makeTrouble(step);
    }
  }

  private async makeTrouble(step: Step): Promise<void> {
    if (step.kind === "crash at call") {
      this.trouble.death = step.death;
      this.disk.crashAt(this.disk.calls + step.calls);
    }
    if (step.kind === "fail sync") this.trouble.failSync(step);
    if (step.kind === "short calls") this.trouble.shortCalls(step.bytes, step.calls);
    if (step.kind === "interruptions") this.trouble.interrupt(step.calls);
    if (step.kind === "full segment") this.trouble.fillSegment(step.bytes);
    if (step.kind === "full disk") this.disk.capacity = this.disk.tree.used([]) + step.room;
    if (step.kind === "room again") await this.makeRoom();
  }

  private append(sessions: readonly number[], size: number): void {
    this.disk.alive();
    const names = sessions.map((number) => `agents/${number}`);
    const id = this.issued.length;
    const data = { id, pad: "x".repeat(size) };
    const answer = this.running.log.append(names.map((session) => ({ session, ts: "", event: "tested", data })));
    if (answer.ok) this.remember({ id, sessions: names, size }, answer.value.durable);
    else this.mustBeAllowed(answer.error.code, sessions.length * size);
  }

  private remember(one: Issued, durable: Promise<void>): void {
    const { issued } = this;
    const { id } = one;
    issued.push(one);
    durable.then(
      () => {
        ensure(this.acknowledged === id, `transaction ${id} is acknowledged in order, after ${this.acknowledged}`);
        this.acknowledged = id + 1;
      },
      (error: unknown) => {
        // Refused, and the log continues: it must never appear. After a stop or a crash it may.
        if (isFault(error) && this.stateOfLog() === "log.blocked") issued.length = Math.min(issued.length, id);
      },
    );
  }

  /** What the log says to an append of nothing. */
  private stateOfLog(): string {
    const answer = this.running.log.append([]);
    return answer.ok ? "taken" : answer.error.code;
  }

  private async settle(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn += 1) await this.clock.settle();
  }

  private async drain(): Promise<void> {
    await this.running.log.drain();
  }

  private async rotate(): Promise<void> {
    for (let i = 0; i < 7; i += 1) {
      this.append([i % 3], 330);
      await this.settle();
    }
    await this.drain();
  }

  private read(): void {
    check(this.running.log, this.issued, this.acknowledged);
    const { findings } = new LogView(this.disk.fork(), HOME).inspect();
    const damage = findings.filter(({ kind }) => kind === "damage");
    ensure(damage.length === 0, `whoever looks sees no damage, but ${JSON.stringify(damage)}`);
  }

  private async save(size: number): Promise<void> {
    this.checkpoints.asked += 1;
    const number = this.checkpoints.asked;
    const answer = await this.running.store.save({ number, pad: "y".repeat(size) }, this.acknowledged);
    ensure(answer.ok, "a checkpoint is not refused");
    this.checkpoints.saved = number;
  }

  private async makeRoom(): Promise<void> {
    this.disk.capacity = Number.POSITIVE_INFINITY;
    this.clock.advance(1000);
    await this.settle();
  }

  private async restart(): Promise<void> {
    const { log, tape } = this.running;
    const stopped = this.stateOfLog() === "log.stopped";
    try {
      await log.close();
    } catch (error) {
      if (error instanceof Crashed) throw error;
      this.mustBeExplained(error);
      return this.die(KILL);
    }
    tape.close();
    await this.die(KILL);
    ensure(stopped || this.running.log.report.replayed === 0, "what was closed has nothing to recover");
  }

  /** A failed sync stops the process that needed it; then it is restarted, as the watchdog would. */
  private async watchdog(): Promise<void> {
    await this.settle();
    const state = this.stateOfLog();
    ensure(["log.stopped", "log.empty", "log.blocked", "log.closed"].includes(state), `the log says ${state}`);
    await this.die(this.trouble.death);
  }

  private async die(death: Death): Promise<void> {
    this.disk = this.remains(death);
    const { calls, how } = death.again;
    if (calls > 0) {
      this.disk.crashAt(this.disk.calls + calls);
      await this.recover().catch((error: unknown) => {
        if (!(error instanceof Crashed)) throw error;
      });
      this.disk = this.remains({ ...death, how, seed: death.seed + 1 });
    }
    await this.recover();
  }

  private remains({ how, seed }: Death): SimDisk {
    this.disk.crash(); // Nothing of the old life reaches the disk any more.
    if (how === "kill" && !this.trouble.namesLost) return this.disk.processKill();
    this.trouble.namesLost = false;
    return this.disk.powerCut(randomSurvivor(new SimRandom(seed)));
  }

  /** Y1. If the disk is too full even for that, space is freed. */
  private async recover(): Promise<void> {
    this.clock = new SimClock();
    this.trouble = new Trouble();
    try {
      await this.open();
    } catch (error) {
      if (!isFault(error, "ENOSPC") || this.disk.capacity === Number.POSITIVE_INFINITY) throw error;
      this.disk.capacity = Number.POSITIVE_INFINITY;
      await this.open();
    }
    this.trouble.planFor(this.disk);
  }

  private async open(): Promise<void> {
    const log = await EventLog.open({ disk: this.disk, clock: this.clock, home: HOME }, SMALL);
    const count = check(log, this.issued, this.acknowledged);
    this.issued = this.issued.slice(0, count);
    this.acknowledged = count;
    const tape = Tape.open(this.disk, `${HOME}/terminals/t1/tape`, { ...TAPE_LIMITS, home: HOME });
    this.tapeMemory.recover(tape);
    const store = new CheckpointStore(this.disk, this.clock, {
      home: HOME,
      path: `${HOME}/recovery/checkpoint.json`,
      keep: { backup: `${HOME}/recovery/checkpoint.backup.json` },
      kind: "fuzzed",
      version: 1,
      fold: 1,
    });
    this.checkCheckpoint(store);
    this.parts = { log, store, tape };
  }

  private checkCheckpoint(store: CheckpointStore): void {
    const loaded = store.load();
    const { asked, saved } = this.checkpoints;
    ensure(loaded.kind !== "refused", "no checkpoint is of a newer version");
    ensure(loaded.problems.length === 0, `no checkpoint is harmed, but ${JSON.stringify(loaded.problems)}`);
    if (loaded.kind === "none") ensure(saved === 0, `checkpoint ${saved} is there`);
    if (loaded.kind === "none") return;
    const { body } = loaded.checkpoint;
    ensure(typeof body === "object" && body !== null && "number" in body, "a checkpoint comes back as it was saved");
    const number = Number(body.number);
    ensure(number >= saved && number <= asked, `checkpoint ${saved} to ${asked} is there, not ${number}`);
  }

  /** Y2 for a refusal. */
  private mustBeAllowed(code: string, bytes: number): void {
    const reasons: Record<string, boolean> = {
      "log.blocked": this.disk.fired.some(({ choice }) => choice.kind === "fail" && choice.code === "ENOSPC"),
      "log.stopped": this.trouble.syncFailed,
      "log.busy": this.issued.length > this.acknowledged,
      "log.too-large": bytes > SMALL.segmentBytes / 2,
    };
    ensure(reasons[code] === true, `nothing explains ${code}`);
  }

  /** Y2 for a failure. */
  private mustBeExplained(error: unknown): void {
    if (!(error instanceof Fault)) throw error;
    const full = error.code === "ENOSPC" && this.disk.capacity < Number.POSITIVE_INFINITY;
    if (!full && !this.trouble.syncFailed) throw error;
  }
}
