// When the folds of many sessions are saved as checkpoints, so that a recovery reads the tails of logs and not their
// history.
// FC1. What is saved is durable in the log: the session as it was after the last durable event, never as it is only
//      decided.
// FC2. A checkpoint is rewritten only when its tail has outgrown it, so that writing costs a fixed part of what the log
//      costs, and a recovery never reads more than the tail may grow to. A session that will not change by itself is
//      saved at once.
// FC3. Of each session one save is made at a time; what happened meanwhile is looked at when it is done.
// FC4. If the disk does not take one, or it cannot be written as JSON, that is logged and stops nothing: the log has
//      everything. The next event tries again.
// FC5. Of many sessions that are due, one is saved after the other, in the order in which they became due, at a limited
//      rate. What is at rest, or asked for, does not wait.
import { type Fault, isFault } from "../../base/fault.ts";
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import type { Clock } from "../../world/clock.ts";
import type { Saved } from "./store.ts";

export type FoldCheckpointPorts<S> = {
  /** What a session is called in a log line. */
  readonly what: string;
  readonly clock: Clock;
  /** What comes within this time is saved together. */
  readonly gatherMs: number;
  /** The time between two saves of one session. */
  readonly restMs: number;
  /** The time between two saves (FC5). */
  readonly apartMs: number;
  /** How long the tail may grow, in bytes, behind a checkpoint of this size (FC2). */
  tailFor(savedBytes: number, state: S): number;
  /** Whether it will not change by itself (FC2). */
  isResting(state: S): boolean;
  /** Whether nothing more is to come: then it is forgotten once it is saved. */
  isOver(state: S): boolean;
  save(state: S, seq: number): Promise<Result<Saved>>;
  /** Safe mode, for those that stop then. */
  isOff(): boolean;
  say(words: string): void;
};

/** `tail`: what happened since the last save, in bytes. */
type Kept<S> = {
  state: S;
  seq: number;
  tail: number;
  savedBytes: number;
  /** When it may be saved again. */
  nextAt: number;
  /** The save that is being made. */
  saving: Promise<void> | undefined;
  /** Why the last one failed; undefined if it did not. */
  failure: Fault | Refusal | undefined;
  cancel: (() => void) | undefined;
};

const AT_REST = { saving: undefined, failure: undefined, cancel: undefined };

/** Files that are written at a time at the end. */
const AT_ONCE = 32;

export class FoldCheckpoints<S> {
  readonly #ports: FoldCheckpointPorts<S>;
  readonly #kept = new Map<string, Kept<S>>();
  readonly #saving = new Set<Promise<void>>();
  /** FC5 */
  readonly #due = new Set<string>();
  #nextAt = 0;
  #waiting = false;

  constructor(ports: FoldCheckpointPorts<S>) {
    this.#ports = ports;
  }

  /** A session as it was last heard of in this life. */
  last(id: string): S | undefined {
    return this.#kept.get(id)?.state;
  }

  /** All of them. */
  *all(): Generator<readonly [id: string, state: S]> {
    for (const [id, { state }] of this.#kept) yield [id, state];
  }

  /** Events of it are durable, the last one at this seq; `state` is as it is after them (FC1). */
  heard(id: string, state: S, { seq, bytes }: { readonly seq: number; readonly bytes: number }): void {
    const kept = this.#kept.get(id) ?? { state, seq, tail: 0, savedBytes: 0, nextAt: 0, ...AT_REST };
    kept.state = state;
    kept.seq = seq;
    kept.tail += bytes;
    this.#kept.set(id, kept);
    this.#look(id, kept);
  }

  /** Saves it now as this, whatever its tail is. */
  saveNow(id: string, state: S): void {
    const kept = this.#kept.get(id);
    if (kept !== undefined) this.#save(id, kept, state);
  }

  /** Resolves when everything that was heard of it so far is saved, or cannot be. A failure of the disk is a Fault. */
  async saved(id: string): Promise<Result<void>> {
    const kept = this.#kept.get(id);
    while (kept !== undefined && (kept.tail > 0 || kept.saving !== undefined)) {
      if (kept.saving === undefined) this.#save(id, kept);
      await kept.saving;
      if (isFault(kept.failure)) throw kept.failure;
      if (kept.failure !== undefined) return { ok: false, error: kept.failure };
    }
    return ok(undefined);
  }

  /** Whether nothing of it is being saved, or waits for it. */
  isSaved(id: string): boolean {
    const kept = this.#kept.get(id);
    return kept === undefined || (kept.tail === 0 && kept.saving === undefined);
  }

  /** Everything that waits is saved. */
  async finish(): Promise<void> {
    for (;;) {
      await Promise.all(this.#saving);
      const waiting = [...this.#kept].filter(([, { tail }]) => tail > 0).slice(0, AT_ONCE);
      if (waiting.length === 0) return;
      for (const [id, kept] of waiting) this.#save(id, kept);
    }
  }

  /** Nothing more is saved of it. */
  forget(id: string): void {
    this.#kept.get(id)?.cancel?.();
    this.#kept.delete(id);
  }

  /** FC2 */
  #look(id: string, kept: Kept<S>): void {
    const { clock, gatherMs, isResting, isOff } = this.#ports;
    if (isOff()) return;
    if (isResting(kept.state)) this.#save(id, kept);
    else if (gatherMs === 0) this.#wait(id);
    else
      kept.cancel ??= clock.after(Math.max(gatherMs, kept.nextAt - clock.elapsed()), () => {
        kept.cancel = undefined;
        this.#wait(id);
      });
  }

  /** FC5 */
  #wait(id: string): void {
    this.#due.add(id);
    this.#saveNext();
  }

  #saveNext(): void {
    const { clock, apartMs } = this.#ports;
    while (this.#due.size > 0 && !this.#waiting) {
      const left = this.#nextAt - clock.elapsed();
      if (left > 0) {
        this.#waiting = true;
        clock.after(left, () => {
          this.#waiting = false;
          this.#saveNext();
        });
        return;
      }
      const [id = ""] = this.#due;
      this.#due.delete(id);
      if (this.#saveIfDue(id)) this.#nextAt = clock.elapsed() + apartMs;
    }
  }

  #saveIfDue(id: string): boolean {
    const kept = this.#kept.get(id);
    if (kept === undefined || kept.tail === 0 || kept.saving !== undefined) return false; // FC3
    if (kept.tail < this.#ports.tailFor(kept.savedBytes, kept.state)) return false;
    this.#save(id, kept);
    return true;
  }

  #save(id: string, kept: Kept<S>, state: S = kept.state): void {
    if (kept.saving !== undefined) return; // FC3
    kept.cancel?.();
    kept.cancel = undefined;
    kept.tail = 0;
    kept.nextAt = this.#ports.clock.elapsed() + this.#ports.restMs;
    const saving = this.#write(id, kept, state).finally(() => {
      this.#saving.delete(saving);
      kept.saving = undefined;
      if (kept.tail > 0) this.#look(id, kept);
      else if (this.#ports.isOver(kept.state)) this.forget(id);
    });
    kept.saving = saving;
    this.#saving.add(saving);
  }

  async #write(id: string, kept: Kept<S>, state: S): Promise<void> {
    const { what, save, say } = this.#ports;
    const failed = (reason: string, failure: Fault | Refusal) => {
      kept.failure = failure;
      say(`${what} ${id}: no checkpoint: ${reason}`);
    };
    kept.failure = undefined;
    try {
      const saved = await save(state, kept.seq);
      if (saved.ok) kept.savedBytes = saved.value.bytes;
      else failed(saved.error.message, saved.error);
    } catch (error) {
      if (isFault(error))
        failed(`${error.message}. ${error.hint}`, error); // FC4
      else failed(String(error), refused("checkpoint", String(error), "The log has everything.").error);
    }
  }
}
