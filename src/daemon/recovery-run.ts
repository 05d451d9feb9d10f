// A recovery from CRASHED to LIVE: each stage does its work, and reports its progress.
// Y1. A stage that throws, or makes no progress for 30 s, goes to its failure state and waits there for the operator
//     (RS-5, RS-6). Time in which we did not run (a frozen container, a stopped virtual machine) does not count, and
//     none in which the log waits for a fleet's database: when that answers, everything continues by itself.
// Y2. The present state is always examined anew: a recovery that continues at a later stage first repeats the work of
//     the earlier ones, without entering their stages, because its results are in memory. Otherwise nothing would
//     listen to the holders that RESTORING had adopted.
// Y3. The report is written before LIVE: a crash in between leads to another recovery with another report, and no
//     outcome goes unreported.
// Y4. A recovery that had already failed when the daemon started waits for the operator, but the read-only stages
//     before the failed one are done: what exists can be shown in the meantime.
// Y5. A fault may pass: its stage is tried again, for less than ten seconds, before it is given up (Y1). So the work of
//     a stage fails only when all of it has ended: two tries never overlap.
// Y6. A log that has stopped because of a fleet's database ends the process, and fails no stage.
import { mayPass } from "../base/fault.ts";
import type { Result } from "../base/result.ts";
import {
  isWorking,
  type RecoveryStage,
  type ReportItem,
  recoveryMachine,
  retriedStage,
  STAGES,
  type WorkingStage,
} from "../core/recovery.ts";
import type { Clock } from "../world/clock.ts";
import { Pauses, pause } from "../world/wait.ts";
import { isLostHome } from "./fleet/lost-home.ts";
import type { RecoveryStateMachine } from "./recovery-state.ts";

/** The work of each stage. `progress` is called whenever something was done. */
export type StageWork = Readonly<Record<WorkingStage, (progress: () => void) => Promise<readonly ReportItem[]>>>;

export type RunOutcome =
  | { readonly kind: "live"; readonly items: readonly ReportItem[] }
  | { readonly kind: "failed"; readonly stage: WorkingStage; readonly reason: string };

export type RunPorts = {
  readonly work: StageWork;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Y3 */
  report(items: readonly ReportItem[]): Promise<void>;
  say(words: string): void;
  /** Whether the log waits for something that is away (Y1); absent: never. */
  isHeldUp?(): boolean;
};

/** Y1. Between two looks whether it still is. */
const HELD_UP_MS = 500;

/** Y5 */
const RETRIES = { firstMs: 100, mostMs: 2_000, allMs: 6_000 };

export class RecoveryRun {
  readonly #machine: RecoveryStateMachine;
  readonly #ports: RunPorts;
  readonly #items: ReportItem[] = [];
  /** The stages whose work was done by this daemon (Y2). */
  readonly #done = new Set<WorkingStage>();

  constructor(machine: RecoveryStateMachine, ports: RunPorts) {
    this.#machine = machine;
    this.#ports = ports;
  }

  /** Continues from the machine's stage until LIVE or a failure; one that had already failed waits for the operator. */
  async run(): Promise<RunOutcome> {
    await this.#lookAround();
    if (this.#machine.getCurrentStage() === "CRASHED") await this.#must("DETECTING");
    for (let stage = this.#machine.getCurrentStage(); isWorking(stage); stage = this.#machine.getCurrentStage()) {
      const reason = await this.#through(stage);
      if (reason !== undefined) {
        await this.#machine.transition(STAGES[stage].failed, reason);
        return { kind: "failed", stage, reason }; // Y1
      }
      await this.#must(STAGES[stage].next);
    }
    const failed = retriedStage(this.#machine.getCurrentStage());
    if (failed === undefined) return { kind: "live", items: this.#items };
    return { kind: "failed", stage: failed, reason: this.#machine.lastError ?? "it failed before the daemon started" };
  }

  /** Y4 */
  async #lookAround(): Promise<void> {
    const failed = retriedStage(this.#machine.getCurrentStage());
    if (failed !== "RESTORING" && failed !== "RECONCILING") return;
    for (const stage of ["DETECTING", "INVENTORYING"] as const) {
      if (!this.#done.has(stage) && (await this.#perform(stage)) !== undefined) return;
    }
  }

  /** The operator's retry: back to the stage that failed. */
  async retry(): Promise<Result<RunOutcome>> {
    const stage = retriedStage(this.#machine.getCurrentStage());
    if (stage === undefined) return { ok: true, value: { kind: "live", items: this.#items } };
    const back = await this.#machine.transition(stage);
    return back.ok ? { ok: true, value: await this.run() } : back;
  }

  async #must(stage: RecoveryStage): Promise<void> {
    const moved = await this.#machine.transition(stage);
    if (!moved.ok) throw new Error(moved.error.message);
  }

  /**
   * Performs the stage, after the earlier ones that this daemon has not done (Y2). Returns why it failed, or undefined.
   */
  async #through(stage: WorkingStage): Promise<string | undefined> {
    const stages = recoveryMachine.states.filter(isWorking);
    for (const each of stages.slice(0, stages.indexOf(stage) + 1)) {
      const reason = this.#done.has(each) ? undefined : await this.#perform(each);
      if (reason !== undefined) return reason;
    }
    if (STAGES[stage].next === "LIVE") await this.#ports.report(this.#items); // Y3
    return undefined;
  }

  /** Y5. Returns why it failed, or undefined. */
  async #perform(stage: WorkingStage): Promise<string | undefined> {
    const pauses = new Pauses(this.#ports.clock, RETRIES);
    for (;;) {
      const error = await this.#attempt(stage);
      const reason = error instanceof Error ? error.message : error;
      if (error === undefined) return undefined;
      if (await this.#wasHeldUp()) continue; // Y1
      if (!mayPass(error) || !(await pauses.next())) return reason;
      this.#ports.say(`${stage} failed and is tried again: ${reason}`);
    }
  }

  /** Y1. Returns false at once if it is not, otherwise true when it is not any more. */
  async #wasHeldUp(): Promise<boolean> {
    const { clock, isHeldUp } = this.#ports;
    const isSo = isHeldUp?.() === true;
    while (isHeldUp?.() === true) await pause(clock, HELD_UP_MS);
    return isSo;
  }

  /** Returns what was thrown; undefined if the stage is done. */
  async #attempt(stage: WorkingStage): Promise<Error | string | undefined> {
    const { clock, timeoutMs, work, isHeldUp } = this.#ports;
    const silence = new Silence(clock, timeoutMs, isHeldUp);
    try {
      const items = await Promise.race([work[stage](() => silence.progress()), silence.broken]);
      if (items === undefined) return `${stage} made no progress for ${timeoutMs / 1000} s`;
      this.#items.push(...items);
      this.#done.add(stage);
      return undefined;
    } catch (error) {
      if (isLostHome(error)) throw error; // Y6
      return error instanceof Error ? error : String(error);
    } finally {
      silence.end();
    }
  }
}

/** The silence is measured in this many looks: one that comes late, because we did not run, counts as one (Y1). */
const LOOKS = 10;

/** Resolves with undefined when there was no progress for too long. */
class Silence {
  readonly broken: Promise<undefined>;
  readonly #clock: Clock;
  readonly #lookMs: number;
  readonly #isHeldUp: () => boolean;
  #ended = false;
  #resolve: () => void = () => undefined;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock, ms: number, isHeldUp = () => false) {
    this.#clock = clock;
    this.#lookMs = ms / LOOKS;
    this.#isHeldUp = isHeldUp;
    this.broken = new Promise((resolve) => {
      this.#resolve = () => resolve(undefined);
    });
    this.progress();
  }

  /** Work that was given up may still report progress, which no longer counts. */
  progress(): void {
    this.#cancel();
    if (!this.#ended) this.#look(LOOKS);
  }

  #look(left: number): void {
    if (left === 0) this.#resolve();
    else this.#cancel = this.#clock.after(this.#lookMs, () => this.#look(this.#isHeldUp() ? LOOKS : left - 1));
  }

  end(): void {
    this.#ended = true;
    this.#cancel();
  }
}
