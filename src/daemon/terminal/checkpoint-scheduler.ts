// Decides when checkpoints are written: by time, by activity, less often if the disk is slow, and once more at the end.
// S1. While nothing changes there is no timer for it: an idle machine is left alone. Only the time in the file is
//     renewed (`freshMs`), because otherwise a checkpoint that is still correct would become too old on a quiet day.
// S2. One at a time. A caller that asks during a write gets the next one, which includes everything the caller has
//     seen.
// S3. A failed or refused write is logged once for each reason, and retried when the next one is due; nothing waits for
//     it, and nothing else stops because of it, not even if a bug is the reason.
// S4. While checkpoints are off (safe mode), nothing is written; changes are written once they are on again.
import { type Fault, isFault } from "../../base/fault.ts";
import { type Result, refused } from "../../base/result.ts";
import type { CheckpointSession } from "../../core/terminal/checkpoint.ts";
import type { Saved } from "../../log/checkpoint/store.ts";
import type { Clock } from "../../world/clock.ts";

export type StateGetter = () => Promise<readonly CheckpointSession[]>;
export type Writer = { write(sessions: readonly CheckpointSession[]): Promise<Result<Saved>> };

export type SchedulerOptions = {
  readonly checkpointIntervalMs: number;
  /** How old the file may become while nothing changes (S1). */
  readonly freshMs: number;
};

export type SchedulerPorts = {
  readonly clock: Clock;
  /** Safe mode (S4). */
  isOff(): boolean;
  say(words: string): void;
};

/** CS-2: a checkpoint is written after more than this many since the last one. */
const MAX_ACTIVITY = 50;
/** CS-3 */
const SLOW_MS = 500;
const FAST_MS = 100;
const MAX_INTERVAL_MS = 5 * 60_000;
/** CS-4 */
const FINAL_MS = 5_000;

export class CheckpointScheduler {
  readonly #ports: SchedulerPorts;
  readonly #options: SchedulerOptions;
  #work: { readonly writer: Writer; readonly state: StateGetter } | undefined;
  #intervalMs: number;
  #activity = 0;
  #changed = false;
  #due: { readonly reason: "change" | "age"; cancel(): void } | undefined;
  #running: Promise<Result<Saved>> | undefined;
  #next: Promise<Result<Saved>> | undefined;
  /** The last problem that was logged (S3). */
  #said = "";

  constructor(options: SchedulerOptions, ports: SchedulerPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#intervalMs = options.checkpointIntervalMs;
  }

  /** The current delay between a change and its checkpoint (CS-3). */
  get intervalMs(): number {
    return this.#intervalMs;
  }

  start(writer: Writer, state: StateGetter): void {
    this.#work = { writer, state };
    this.changed(); // We have not recorded the present state yet.
  }

  /** Schedules no more checkpoints; a write in progress completes. */
  stop(): void {
    this.#cancel();
    this.#work = undefined;
  }

  /** Input, a session created or ended, a lane change (CS-2). */
  activity(count = 1): void {
    this.#activity += count;
    this.changed();
    if (this.#activity > MAX_ACTIVITY) this.#writeBeside();
  }

  /** The last checkpoint is out of date, but this alone is not worth writing one at once. */
  changed(): void {
    this.#changed = true;
    if (this.#due?.reason !== "change") this.#arm();
  }

  /** Writes a checkpoint that includes everything up to now. */
  triggerNow(): Promise<Result<Saved>> {
    if (this.#running === undefined) return this.#begin();
    this.#next ??= this.#running.then(
      () => this.#begin(),
      () => this.#begin(), // The caller that asked for that one gets its error.
    ); // S2
    return this.#next;
  }

  /** CS-4: writes the last one, or gives up after five seconds. */
  async finish(): Promise<void> {
    const late = Promise.withResolvers<"late">();
    const cancel = this.#ports.clock.after(FINAL_MS, () => late.resolve("late"));
    try {
      const wanted = this.#work !== undefined && !this.#ports.isOff();
      const done = wanted ? this.#tolerating() : undefined;
      if ((await Promise.race([done, late.promise])) === "late")
        this.#ports.say(`the last checkpoint was given up after ${FINAL_MS / 1000} s; the one before it is whole`);
    } finally {
      cancel();
      this.stop();
    }
  }

  #cancel(): void {
    this.#due?.cancel();
    this.#due = undefined;
  }

  /** S1 */
  #arm(): void {
    this.#cancel();
    if (this.#work === undefined) return;
    const reason = this.#changed ? "change" : "age";
    const ms = this.#changed ? this.#intervalMs : this.#options.freshMs;
    const cancel = this.#ports.clock.after(ms, () => {
      this.#due = undefined;
      this.#writeBeside();
    });
    this.#due = { reason, cancel };
  }

  #writeBeside(): void {
    if (this.#work === undefined || this.#running !== undefined) return;
    if (this.#ports.isOff())
      this.#arm(); // S4
    else void this.#tolerating();
  }

  /** S3 */
  async #tolerating(): Promise<void> {
    try {
      const saved = await this.triggerNow();
      this.#complain(saved.ok ? "" : `${saved.error.message}. ${saved.error.hint}`);
    } catch (error) {
      this.#complain(isFault(error) ? wordsOf(error) : `holdfast has a bug: ${String(error)}`);
    }
  }

  #complain(words: string): void {
    if (words !== "" && words !== this.#said) this.#ports.say(`no checkpoint was written: ${words}`);
    this.#said = words;
  }

  #begin(): Promise<Result<Saved>> {
    this.#next = undefined;
    this.#running = this.#write().finally(() => {
      this.#running = undefined;
      if (this.#activity > MAX_ACTIVITY && this.#next === undefined) this.#writeBeside();
      else this.#arm();
    });
    return this.#running;
  }

  async #write(): Promise<Result<Saved>> {
    if (this.#work === undefined) return refused("stopped", "Checkpoints are not running.", "Start the daemon.");
    if (this.#ports.isOff()) return OFF; // S4
    const { writer, state } = this.#work;
    this.#activity = 0; // CS-2: what comes from here on is for the next one.
    this.#changed = false;
    let written = false;
    try {
      const sessions = await state();
      const saved = await this.#timed(() => writer.write(sessions));
      written = saved.ok;
      return saved;
    } finally {
      // A failed write is retried when it is due, not at once: a full disk must not be retried without end (S3).
      this.#changed ||= !written;
    }
  }

  /** CS-3 */
  async #timed(write: () => Promise<Result<Saved>>): Promise<Result<Saved>> {
    const { clock } = this.#ports;
    const began = clock.elapsed();
    try {
      return await write();
    } finally {
      const took = clock.elapsed() - began;
      const { checkpointIntervalMs } = this.#options;
      const longest = Math.max(MAX_INTERVAL_MS, checkpointIntervalMs);
      if (took > SLOW_MS) this.#intervalMs = Math.min(2 * this.#intervalMs, longest);
      else if (took < FAST_MS) this.#intervalMs = checkpointIntervalMs;
    }
  }
}

const OFF = refused(
  "safe-mode",
  "Checkpoints are off in safe mode.",
  "holdfast safe-mode status says why; holdfast safe-mode exit.",
);

function wordsOf({ message, hint }: Fault): string {
  return `${message}. ${hint}`;
}
