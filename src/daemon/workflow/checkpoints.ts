// When runs are checkpointed (UC-3): before and after each step, on each failure and interruption, and at an interval
// in long steps.
// RC1. A checkpoint follows its event within 100 ms; faster events are gathered. That of an idle run follows at once.
// RC2. A long run's file is rewritten only when the tail has outgrown it, so that a step costs the same at any length
//      (FC2 of log/checkpoint/fold-checkpoints.ts).
import { type CheckpointReason, reasonOf } from "../../core/workflow/checkpoint.ts";
import type { WorkflowEvent } from "../../core/workflow/events.ts";
import { type Run, stateOf } from "../../core/workflow/run.ts";
import type { CheckpointStorage } from "../../home/checkpoint-storage.ts";
import { FoldCheckpoints } from "../../log/checkpoint/fold-checkpoints.ts";
import type { Ticket } from "../../log/event-log.ts";
import type { Clock } from "../../world/clock.ts";

/** RC1, with room for the writing. */
const GATHER_MS = 60;
/** RC2. A file this small costs next to nothing. */
const SMALL_BYTES = 64 << 10;
/** In a long step. */
const INTERVAL_MS = 60_000;

export type CheckpointPorts = {
  isOff(): boolean;
  say(words: string): void;
};

type Kept = { readonly run: Run; readonly reason: CheckpointReason };

export class RunCheckpoints {
  readonly #clock: Clock;
  readonly #ports: CheckpointPorts;
  readonly #folds: FoldCheckpoints<Kept>;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock, storage: CheckpointStorage, ports: CheckpointPorts) {
    this.#clock = clock;
    this.#ports = ports;
    this.#folds = new FoldCheckpoints<Kept>({
      ...ports,
      what: "run",
      clock,
      gatherMs: GATHER_MS,
      tailFor: (savedBytes) => (savedBytes < SMALL_BYTES ? 0 : savedBytes),
      isResting: ({ run }) => isAtRest(run),
      isOver: () => false, // A run that is done can go on: items of its queue can be retried.
      save: ({ run, reason }, seq) => storage.save(run, reason, seq),
      isOff: () => false, // What happens is saved in safe mode too; only the interval waits.
    });
  }

  /** Called for durable events, with the run after them. */
  heard(events: readonly WorkflowEvent[], run: Run, { last, bytes }: Pick<Ticket, "last" | "bytes">): void {
    let reason = this.#folds.last(run.id)?.reason ?? "BeforeStep";
    for (const event of events) reason = reasonOf(event) ?? reason;
    this.#folds.heard(run.id, { run, reason }, { seq: last, bytes });
  }

  /** From now on, saves every minute each run that changed in this daemon's time and is not idle. */
  startPolling(): void {
    this.#cancel = this.#clock.after(INTERVAL_MS, () => {
      this.startPolling();
      if (this.#ports.isOff()) return;
      for (const [id, { run }] of this.#folds.all())
        if (!isAtRest(run)) this.#folds.saveNow(id, { run, reason: "TimeInterval" });
    });
  }

  /** Saves everything that is waiting. */
  async finish(): Promise<void> {
    this.#cancel();
    await this.#folds.finish();
  }
}

/** Nothing happens until a person acts. */
function isAtRest(run: Run): boolean {
  return stateOf(run) !== "running";
}
