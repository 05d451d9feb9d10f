// When runs are checkpointed (UC-3): before and after each step, on each failure and interruption, at an interval in
// long steps, and when a person asks.
// RC1. A checkpoint follows its event within 100 ms. Of steps that are faster, it is made twice a second; if many runs
//      take such fast steps at once, they take turns (FC5). That of an idle run follows at once.
// RC2. A long run's file is rewritten only when the tail has outgrown it, so that a step costs the same at any length
//      (FC2 of log/checkpoint/fold-checkpoints.ts).
// RC3. The end of a step and the start of the next are one decision: the file has each of them for a moment, first
//      Completed, then BeforeStep, and the first one stays in the history. Of steps that end faster than files are
//      written only the last start is saved.
// RC4. A workflow that says `before_step` has its file on disk before a step begins; for others the log is enough.
// RC5. What a person asks for is a file of its own, with the reason Manual, and the reply names that one: what happens
//      meanwhile is saved after it, and puts it into the history.
// RC6. The checkpoints of a run that a person removed are deleted, after a save that is being made. If a crash or the
//      disk prevents that, they stay until they are garbage (GR1 of gc.ts), and nothing uses them.
// RC7. A long list of items is saved page by page: the next page is not taken before this one is on disk, from where it
//      need not be in memory. If the disk does not take it, the list goes on, and the log has it.
import { isFault } from "../../base/fault.ts";
import { ok, type Result } from "../../base/result.ts";
import { applyWorkflow } from "../../core/workflow/apply.ts";
import { type CheckpointReason, reasonOf } from "../../core/workflow/checkpoint.ts";
import type { WorkflowEvent } from "../../core/workflow/events.ts";
import { PAGE_ITEMS } from "../../core/workflow/item-list.ts";
import { type Run, sessionOf, stateOf } from "../../core/workflow/run.ts";
import type { CheckpointStorage } from "../../home/checkpoint-storage.ts";
import { FoldCheckpoints } from "../../log/checkpoint/fold-checkpoints.ts";
import type { Saved } from "../../log/checkpoint/store.ts";
import type { Ticket } from "../../log/event-log.ts";
import type { Clock } from "../../world/clock.ts";

/** RC1, with room for the writing. */
const GATHER_MS = 60;
/** RC1. A save is three flushes, as many as a step is. */
const REST_MS = 500;
const APART_MS = 25;
/** RC2. A file this small costs next to nothing. */
const SMALL_BYTES = 64 << 10;
/** RC2. A long map writes only what has changed. A tail of this length is read in milliseconds. */
const MAP_TAIL_BYTES = 512 << 10;

export type CheckpointPorts = {
  /** In a long step, unless the workflow says otherwise. */
  readonly intervalMs: number;
  isOff(): boolean;
  /** The seq of the last event of a session. */
  lastSeq(session: string): number;
  say(words: string): void;
};

/** RC3. `ended`: how many steps have ended since the last save; `completed`: the run after the only one of them. */
type Kept = {
  readonly run: Run;
  readonly reason: CheckpointReason;
  readonly seq: number;
  readonly ended: number;
  readonly completed: { readonly run: Run; readonly seq: number } | undefined;
};

type Heard = Pick<Ticket, "first" | "last" | "bytes">;

export class RunCheckpoints {
  readonly #clock: Clock;
  readonly #storage: CheckpointStorage;
  readonly #ports: CheckpointPorts;
  readonly #folds: FoldCheckpoints<Kept>;
  readonly #savedSeq = new Map<string, number>();
  /** When each run that is not at rest is saved next. */
  readonly #due = new Map<string, number>();
  readonly #deleting = new Map<string, Promise<void>>();
  #polls = false;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock, storage: CheckpointStorage, ports: CheckpointPorts) {
    this.#clock = clock;
    this.#storage = storage;
    this.#ports = ports;
    this.#folds = new FoldCheckpoints<Kept>({
      ...ports,
      what: "run",
      clock,
      gatherMs: GATHER_MS,
      restMs: REST_MS,
      apartMs: APART_MS,
      tailFor: (savedBytes, { run }) => {
        if (savedBytes < SMALL_BYTES) return 0;
        return run.items.all.length < PAGE_ITEMS ? savedBytes : Math.max(savedBytes, MAP_TAIL_BYTES);
      },
      isResting: ({ run }) => isAtRest(run),
      isOver: () => false, // A run that is done can go on: items of its queue can be retried.
      save: (kept, seq) => this.#save(kept, seq),
      isOff: () => false, // What happens is saved in safe mode too; only the interval waits.
    });
  }

  async #save({ run, reason, completed }: Kept, seq: number) {
    this.#savedSeq.set(run.id, seq);
    if (completed !== undefined) {
      const first = await this.#storage.save(completed.run, "AfterStep", completed.seq); // RC3
      if (!first.ok) return first;
    }
    return this.#storage.save(run, reason, seq);
  }

  /** Called for durable events, with the run after them. */
  heard(events: readonly WorkflowEvent[], run: Run, heard: Heard): void {
    if (run.removed) this.#remove(run);
    else this.#expectSave(events, run, heard);
  }

  #expectSave(events: readonly WorkflowEvent[], run: Run, heard: Heard): void {
    const before = this.#folds.last(run.id);
    let reason = before?.reason ?? "BeforeStep";
    for (const event of events) reason = reasonOf(event) ?? reason;
    const isSaved = before === undefined || before.seq <= (this.#savedSeq.get(run.id) ?? -1);
    const ended = (isSaved ? 0 : before.ended) + events.filter(isStepEnd).length;
    const completed = completedIn(events, before?.run, heard) ?? (isSaved ? undefined : before.completed);
    const kept = { run, reason, seq: heard.last, ended, completed: ended === 1 ? completed : undefined };
    this.#folds.heard(run.id, kept, { seq: heard.last, bytes: heard.bytes });
    this.#expect(run);
  }

  /** RC6 */
  #remove(run: Run): void {
    this.#due.delete(run.id);
    this.#deleting.set(
      run.id,
      this.#delete(run).finally(() => this.#deleting.delete(run.id)),
    );
  }

  /** Whether nothing of it is being written. */
  isQuiet(id: string): boolean {
    return this.#folds.isSaved(id) && !this.#deleting.has(id);
  }

  /** Nothing more of it is saved until it is heard of again. */
  forget(id: string): void {
    this.#due.delete(id);
    this.#folds.forget(id);
    this.#savedSeq.delete(id);
  }

  async #delete(run: Run): Promise<void> {
    try {
      await this.#folds.saved(run.id);
      this.forget(run.id);
      this.#storage.delete(sessionOf(run));
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#ports.say(`run ${run.id}: its checkpoints stay: ${error.message}. ${error.hint}`);
    }
  }

  /** RC4. A failure of the disk is a Fault. */
  async beforeStep(run: Run): Promise<Result<void>> {
    if (run.definition.checkpoint?.before_step !== true) return ok(undefined);
    if (this.#folds.last(run.id) !== undefined) return this.#folds.saved(run.id);
    const saved = await this.#saveUnheard(run, "BeforeStep");
    return saved.ok ? ok(undefined) : saved;
  }

  /** RC7 */
  async afterItems(run: Run): Promise<void> {
    try {
      await this.#folds.saved(run.id);
    } catch (error) {
      if (!isFault(error)) throw error; // It was logged (FC4).
    }
  }

  /** RC5. A failure of the disk is a Fault. */
  async saveNow(run: Run): Promise<Result<Saved>> {
    const before = await this.#folds.saved(run.id);
    if (!before.ok) return before;
    const kept = this.#folds.last(run.id);
    if (kept === undefined) return this.#saveUnheard(run, "Manual");
    return this.#storage.save(kept.run, "Manual", kept.seq);
  }

  /** A run that was not heard of in this life is as its log has it. */
  #saveUnheard(run: Run, reason: CheckpointReason): Promise<Result<Saved>> {
    return this.#storage.save(run, reason, this.#ports.lastSeq(sessionOf(run)));
  }

  #expect(run: Run): void {
    if (isAtRest(run)) this.#due.delete(run.id);
    else if (!this.#due.has(run.id)) this.#due.set(run.id, this.#clock.elapsed() + this.#intervalOf(run));
    this.#arm();
  }

  #intervalOf({ definition }: Run): number {
    return definition.checkpoint?.interval_ms ?? this.#ports.intervalMs;
  }

  /** From now on, saves each run that changed in this daemon's time and is not idle, at its interval. */
  startPolling(): void {
    this.#polls = true;
    this.#arm();
  }

  #arm(): void {
    this.#cancel();
    if (!this.#polls || this.#due.size === 0) return;
    const next = Math.min(...this.#due.values()) - this.#clock.elapsed();
    this.#cancel = this.#clock.after(Math.max(0, next), () => this.#saveDue());
  }

  #saveDue(): void {
    const now = this.#clock.elapsed();
    for (const [id, due] of this.#due) {
      const kept = this.#folds.last(id);
      if (due > now || kept === undefined) continue;
      this.#due.set(id, now + this.#intervalOf(kept.run));
      if (!this.#ports.isOff()) this.#folds.saveNow(id, { ...kept, reason: "TimeInterval", completed: undefined });
    }
    this.#arm();
  }

  /** Saves everything that is waiting. */
  async finish(): Promise<void> {
    this.#polls = false;
    this.#cancel();
    await this.#folds.finish();
    await Promise.all(this.#deleting.values());
  }
}

/** Nothing happens until a person acts. */
function isAtRest(run: Run): boolean {
  return stateOf(run) !== "running";
}

/** A step of the run itself, not one of an item. */
function isStepEnd(event: WorkflowEvent): boolean {
  return event.event === "workflow.step.ended" && event.data.item === null;
}

/** RC3. The run as it was after its step ended, if the next one began in the same decision. */
function completedIn(events: readonly WorkflowEvent[], before: Run | undefined, { first, last }: Heard) {
  const at = events.findIndex(isStepEnd);
  const end = events[at];
  const isKnown = before !== undefined || events[0]?.event === "workflow.created";
  const next = events.slice(at + 1).some(({ event }) => event === "workflow.attempt.started");
  if (end?.event !== "workflow.step.ended" || end.data.outcome === "failed" || !next) return undefined;
  if (!isKnown || last - first + 1 !== events.length) return undefined;
  let run = before;
  for (const event of events.slice(0, at + 1)) run = applyWorkflow(run, event);
  return run && { run, seq: first + at };
}
