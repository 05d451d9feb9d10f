// When runs are checkpointed (UC-3): before and after each step, on each failure and interruption, and at an interval in long steps.
// RC1. What is saved is durable in the log: the fold of what was published, never of what is only decided.
// RC2. A checkpoint follows its event within 100 ms; what comes faster is gathered. One whose run came to rest follows at once.
// RC3. A long run's file is rewritten only when the tail has outgrown it, so that a step costs the same at any length.
// RC4. A disk that does not take it stops no run: the log has everything. The next event tries again.
import { isFault } from "../../base/fault.ts";
import { type CheckpointReason, reasonOf } from "../../core/workflow/checkpoint.ts";
import type { WorkflowEvent } from "../../core/workflow/events.ts";
import { type Run, stateOf } from "../../core/workflow/run.ts";
import type { Ticket } from "../../log/event-log.ts";
import type { Clock } from "../../world/clock.ts";
import type { CheckpointStorage } from "./checkpoint-storage.ts";

/** RC2, with room for the writing. */
const GATHER_MS = 60;
/** RC3. A file this small costs next to nothing. */
const SMALL_BYTES = 64 << 10;
/** In a long step. */
const INTERVAL_MS = 60_000;

export type CheckpointPorts = {
  isOff(): boolean;
  say(words: string): void;
  onBug(error: unknown): void;
};

type Kept = {
  run: Run;
  /** Of the last event; 0: none in this life. */
  seq: number;
  reason: CheckpointReason;
  /** What happened since the last save, in bytes; 0: nothing. */
  tail: number;
  savedBytes: number;
  cancel: (() => void) | undefined;
};

export class RunCheckpoints {
  readonly #clock: Clock;
  readonly #storage: CheckpointStorage;
  readonly #ports: CheckpointPorts;
  readonly #kept = new Map<string, Kept>();
  readonly #saving = new Set<Promise<void>>();
  #cancel: () => void = () => undefined;

  constructor(clock: Clock, storage: CheckpointStorage, ports: CheckpointPorts) {
    this.#clock = clock;
    this.#storage = storage;
    this.#ports = ports;
  }

  /** The runs as the log had them when this life began; what was saved of them stays as it is until something happens. */
  begin(runs: Iterable<Run>): void {
    for (const run of runs) this.#kept.set(run.id, keptOf(run));
  }

  /** Events that are durable, and the run after them (RC1). */
  heard(events: readonly WorkflowEvent[], run: Run, { last, bytes }: Pick<Ticket, "last" | "bytes">): void {
    const kept = this.#kept.get(run.id) ?? keptOf(run);
    kept.run = run;
    kept.seq = last;
    for (const event of events) kept.reason = reasonOf(event) ?? kept.reason;
    kept.tail += bytes;
    this.#kept.set(run.id, kept);
    this.#schedule(run.id, kept);
  }

  /** From now on, every minute, whatever has run without an event. */
  startPolling(): void {
    this.#cancel = this.#clock.after(INTERVAL_MS, () => {
      this.startPolling();
      if (this.#ports.isOff()) return;
      for (const [id, kept] of this.#kept) {
        if (kept.seq > 0 && !isAtRest(kept.run)) this.#save(id, { ...kept, reason: "TimeInterval" });
      }
    });
  }

  /** Everything that waits is saved. */
  async finish(): Promise<void> {
    this.#cancel();
    for (const [id, kept] of this.#kept) if (kept.tail > 0) this.#save(id, kept);
    await Promise.all(this.#saving);
  }

  /** RC2 */
  #schedule(id: string, kept: Kept): void {
    if (isAtRest(kept.run)) {
      this.#save(id, kept);
      return;
    }
    kept.cancel ??= this.#clock.after(GATHER_MS, () => {
      kept.cancel = undefined;
      const due = kept.savedBytes < SMALL_BYTES || kept.tail >= kept.savedBytes; // RC3
      if (due && kept.tail > 0) this.#save(id, kept);
    });
  }

  #save(id: string, kept: Kept): void {
    kept.cancel?.();
    kept.cancel = undefined;
    kept.tail = 0;
    const saving = this.#write(id, kept).finally(() => this.#saving.delete(saving));
    this.#saving.add(saving);
  }

  async #write(id: string, { run, reason, seq }: Kept): Promise<void> {
    try {
      const saved = await this.#storage.save(run, reason, seq);
      const kept = this.#kept.get(id);
      if (saved.ok && kept !== undefined) kept.savedBytes = saved.value.bytes;
      if (!saved.ok) this.#ports.say(`run ${id}: no checkpoint: ${saved.error.message}`);
    } catch (error) {
      if (isFault(error))
        this.#ports.say(`run ${id}: no checkpoint: ${error.message}. ${error.hint}`); // RC4
      else this.#ports.onBug(error);
    }
  }
}

function keptOf(run: Run): Kept {
  return { run, seq: 0, reason: "BeforeStep", tail: 0, savedBytes: 0, cancel: undefined };
}

/** Nothing happens before somebody does something. */
function isAtRest(run: Run): boolean {
  return stateOf(run) !== "running";
}
