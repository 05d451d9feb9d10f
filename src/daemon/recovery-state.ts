// The stage of a recovery, kept on disk so that after a crash in the middle it continues there (RS-2 … RS-5).
// V1. A stage is persisted before it acts and published after; if the disk refuses the write, the recovery still
//     continues.
// V2. It is resumed only within the boot in which it was written: after a reboot everything is examined anew, from
//     DETECTING.
// V3. Crashes do not count as attempts; only an operator's retry does, and each stage has at most three. A failed stage
//     stays failed across a crash, with its reason, until the operator retries or stops the daemon.

import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { type RecoveryStage, recoveryMachine } from "../core/recovery.ts";
import { RECOVERY } from "../home/layout.ts";
import { writeAtomic } from "../log/file/atomic-file.ts";
import { makeDirectories } from "../log/file/file.ts";
import { readJson } from "../log/file/json-file.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";

export type StageChange = {
  readonly previous: RecoveryStage;
  readonly stage: RecoveryStage;
  readonly timestamp: string;
  readonly attemptCount: number;
};

type HomeWorld = { readonly disk: Disk; readonly clock: Clock; readonly home: string; readonly bootId: string };

/** `recovery/recovery-state.json`. */
type Persisted = {
  readonly stage: RecoveryStage;
  readonly timestamp: string;
  readonly attemptCount: number;
  readonly lastError: string | null;
  readonly bootId: string;
};

export class RecoveryStateMachine {
  readonly #place: HomeWorld;
  readonly #maxAttempts: number;
  readonly #publish: (change: StageChange) => void;
  #stage: RecoveryStage = "CRASHED";
  #attempt = 1;
  #lastError: string | null = null;

  constructor(place: HomeWorld, maxAttempts: number, publish: (change: StageChange) => void) {
    this.#place = place;
    this.#maxAttempts = maxAttempts;
    this.#publish = publish;
  }

  getCurrentStage(): RecoveryStage {
    return this.#stage;
  }

  get attemptCount(): number {
    return this.#attempt;
  }

  /** Why the current stage failed, if it did. */
  get lastError(): string | null {
    return this.#lastError;
  }

  /** Refused if the table has no such transition; the refusal names both stages and the legal ones (RS-2). */
  async transition(to: RecoveryStage, lastError: string | null = null): Promise<Result<RecoveryStage>> {
    const next = recoveryMachine.next(this.#stage, to);
    if (!next.ok) return next;
    const attempt = this.#nextAttempt(to);
    if (attempt > this.#maxAttempts) return outOfAttempts(to, this.#maxAttempts);
    const previous = this.#stage;
    const timestamp = new Date(this.#place.clock.now()).toISOString();
    await this.#persist({ stage: to, timestamp, attemptCount: attempt, lastError, bootId: this.#place.bootId }); // V1
    this.#stage = to;
    this.#attempt = attempt;
    this.#lastError = lastError;
    this.#publish({ previous, stage: to, timestamp, attemptCount: attempt });
    return ok(to);
  }

  /** The stage to continue at: the persisted one within this boot, otherwise the start (V2). */
  resume(): RecoveryStage {
    const was = this.#read();
    const goesOn = was !== undefined && was.bootId === this.#place.bootId && was.stage !== "LIVE";
    this.#stage = goesOn ? was.stage : "CRASHED";
    this.#attempt = goesOn ? was.attemptCount : 1; // V3
    this.#lastError = goesOn ? was.lastError : null;
    return this.#stage;
  }

  /** Called when a recovery is over: the next start begins at the start. */
  async reset(): Promise<void> {
    this.#stage = "CRASHED";
    this.#attempt = 1;
    this.#lastError = null;
    await this.#persist({
      stage: "CRASHED",
      timestamp: new Date(this.#place.clock.now()).toISOString(),
      attemptCount: 1,
      lastError: null,
      bootId: this.#place.bootId,
    });
  }

  /** V3: returning to a stage from its failure is another attempt; a later stage begins at the first. */
  #nextAttempt(to: RecoveryStage): number {
    if (this.#stage.endsWith("_FAILED")) return this.#attempt + 1;
    return to.endsWith("_FAILED") ? this.#attempt : 1;
  }

  get #path(): string {
    return joinPath(joinPath(this.#place.home, RECOVERY), "recovery-state.json");
  }

  async #persist(state: Persisted): Promise<void> {
    const { disk, home } = this.#place;
    try {
      for (const parent of makeDirectories(disk, joinPath(home, RECOVERY), home)) await disk.syncDirectory(parent);
      await writeAtomic(disk, this.#path, Buffer.from(`${JSON.stringify(state)}\n`));
    } catch (error) {
      if (!isFault(error)) throw error; // V1: the stage continues without its record.
    }
  }

  #read(): Persisted | undefined {
    const value = readJson(this.#place.disk, this.#path);
    if (value === undefined) return undefined;
    const { stage, timestamp, attemptCount, lastError, bootId } = value;
    const known = recoveryMachine.states.find((state) => state === stage);
    if (known === undefined || typeof attemptCount !== "number" || typeof bootId !== "string") return undefined;
    return {
      stage: known,
      attemptCount,
      bootId,
      timestamp: String(timestamp),
      lastError: typeof lastError === "string" ? lastError : null,
    };
  }
}

function outOfAttempts(stage: RecoveryStage, most: number): Result<RecoveryStage> {
  const hint = "See `holdfast recovery report`; fix what it names, then `holdfast down` and `holdfast up`.";
  return refused("recovery.attempts", `${stage} was tried ${most} times.`, hint);
}
