// Write-ahead log: one durable order for the events of all sessions.
// W1. A batch is acknowledged (`committed`, and its promise resolved) only after fdatasync covered every line of it,
//     and once it is durable in a second place as well, if there is one (elsewhere.ts).
// W2. One batch is written at a time while the next one gathers: one sync for all waiting callers (group commit).
// W3. A failed sync is never repeated: the log stops for good, and only a new process may continue.
// W4. A batch for which the disk had no room is wiped and refused; nothing of it can come back. What was before it
//     stays.
import { assert } from "../../base/assert.ts";
import { type Fault, isFault } from "../../base/fault.ts";
import type { Clock } from "../../world/clock.ts";
import { writeAll } from "../file/file.ts";
import type { Session } from "../session/session-writer.ts";
import type { Elsewhere } from "./elsewhere.ts";
import { encodeFrame, FRAME_OVERHEAD, FrameHead, inFrames, type Transaction } from "./frame.ts";
import { Gate } from "./gate.ts";
import type { Segments } from "./segments.ts";
import { SyncPace } from "./sync-pace.ts";

/** The limit for one write and one sync, so that no caller waits too long. */
const MAX_BATCH_BYTES = 1 << 20;

/** Temporary failures: the same entry may be accepted later. All other failures of a write are fatal. */
const PASSING = ["ENOSPC", "EDQUOT", "EROFS", "EMFILE", "ENFILE"] as const;

export function isRetryable(error: unknown): error is Fault {
  return isFault(error, ...PASSING);
}

export type WalHooks = {
  /** Durable, in order. */
  committed(transactions: readonly Transaction<Session>[]): void;
  /** Not written, and never will be; nor will anything that was enqueued later. */
  refused(transactions: readonly Transaction<Session>[], fault: Fault): void;
  /** Writes at least up to `seq` to the session logs, or returns the Fault that prevents it. */
  drainTo(seq: number): Promise<Fault | undefined>;
  /** A segment was filled. */
  sealed(): void;
  /** W3. */
  stopped(error: unknown): void;
};

type Batch = {
  readonly transactions: Transaction<Session>[];
  bytes: number;
  /** The highest seq in it. */
  last: number;
  /** As in its frames: a pass may end while it is synced. */
  saysDrained: number;
  readonly done: PromiseWithResolvers<void>;
};

export type Position = { readonly gen: number; readonly end: number };

export class WriteAheadLog {
  readonly #clock: Clock;
  readonly #segments: Segments;
  readonly #hooks: WalHooks;
  readonly #pace: SyncPace;
  readonly #queue: Batch[] = [];
  readonly #head = new FrameHead();
  readonly #gate = new Gate();
  #buffer = Buffer.alloc(0);
  /** How much of the buffer the frames of the last batch take. */
  #framed = 0;
  #gen: number;
  #durable: number;
  #drainedOnDisk: number;
  #running = false;
  #failure: { readonly error: unknown } | undefined;
  #idle: PromiseWithResolvers<void> | undefined;
  /** W1. Set once, before anything is enqueued; undefined: the disk alone. */
  elsewhere: Elsewhere | undefined;
  /** What the session logs have for good; set by the code that drains. */
  drained: number;
  queuedBytes = 0;

  constructor(clock: Clock, segments: Segments, position: Position, hooks: WalHooks) {
    this.#clock = clock;
    this.#segments = segments;
    this.#hooks = hooks;
    this.#pace = new SyncPace(clock);
    this.#gen = position.gen;
    this.#durable = position.end;
    this.#drainedOnDisk = position.end;
    this.drained = position.end;
  }

  /** The last seq that a recovery would find only in the session logs. */
  get drainedOnDisk(): number {
    return this.#drainedOnDisk;
  }

  /** A transaction is one frame in one batch in one segment. */
  get maxTransactionBytes(): number {
    return this.#maxBatchBytes - FRAME_OVERHEAD;
  }

  get #maxBatchBytes(): number {
    const { segmentBytes, pageBytes } = this.#segments.options;
    return Math.min(MAX_BATCH_BYTES, segmentBytes - pageBytes - 1);
  }

  get durable(): number {
    return this.#durable;
  }

  /**
   * Starts a new generation with a mark of where the log ends: from here on, lines of earlier processes do not count.
   */
  async start(): Promise<void> {
    assert(await this.#segments.advance(++this.#gen), "a log that starts has a segment to write to");
    await this.#mark();
  }

  /** Resolves when the transaction is durable. `bytes` is the length of its entries in UTF-8. */
  enqueue(transaction: Transaction<Session>, bytes: number): Promise<void> {
    const framed = bytes + FRAME_OVERHEAD;
    let batch = this.#queue.at(-1);
    if (batch === undefined || batch.bytes + framed > this.#maxBatchBytes) {
      batch = newBatch();
      this.#queue.push(batch);
    }
    batch.transactions.push(transaction);
    batch.bytes += framed;
    batch.last = transaction.first + transaction.entries.length - 1;
    this.queuedBytes += framed;
    if (!this.#running) {
      this.#running = true;
      this.#clock.soon(() => this.#run());
    }
    return batch.done.promise;
  }

  /** Resolves when nothing is being written; what is enqueued waits until `release` (GT1). */
  hold(): Promise<void> {
    return this.#gate.hold(this.#running);
  }

  release(): void {
    this.#gate.open();
  }

  /** Resolves when nothing is pending. */
  settled(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    if (!this.#running) return Promise.resolve();
    this.#idle ??= Promise.withResolvers<void>();
    return this.#idle.promise;
  }

  /** Everything is drained: records this on disk, so that the next start has nothing to do. */
  async finish(): Promise<void> {
    await this.#mark();
    this.#segments.close();
  }

  /**
   * W3, also for a sync that failed elsewhere: nothing more is
   * written. A batch that is being synced may still become durable.
   */
  halt(error: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = { error };
    for (const batch of this.#queue.splice(0)) fail(batch, error);
    this.#idle?.reject(error);
    this.#gate.open();
    this.#hooks.stopped(error);
  }

  #run(): void {
    if (this.#gate.isHeld && this.#queue.length > 0) void this.#gate.pass().then(() => this.#next());
    else this.#next();
  }

  /** From here on nothing joins the batch. */
  #next(): void {
    const batch = this.#queue.shift();
    if (batch === undefined) this.#rest();
    else void this.#commit(batch);
  }

  #rest(): void {
    this.#running = false;
    this.#gate.idle();
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  /** On a fast disk it waits for nothing: each turn of a promise costs a lone writer as much as a system call. */
  async #commit(batch: Batch): Promise<void> {
    try {
      const inTheWay = this.#segments.fits(batch.bytes) ? undefined : await this.#makeRoom();
      if (this.#failure !== undefined) throw this.#failure.error;
      const fault = inTheWay ?? this.#write(batch);
      if (fault === undefined) {
        const syncing = this.elsewhere === undefined ? this.#sync() : this.#commitTwice(batch, this.elsewhere);
        if (syncing !== undefined) await syncing; // W1
        this.#acknowledge(batch);
      } else this.#refuse(batch, await fault);
      // W2: lets the callers just acknowledged continue, so that their next entries share one sync.
      this.#clock.soon(() => this.#run());
    } catch (error) {
      fail(batch, error);
      this.halt(error);
    }
  }

  #sync(): Promise<void> | undefined {
    return this.#pace.sync(this.#segments.active.file);
  }

  /** W1. Both at once: a sync on this thread begins when the batch is on its way. */
  async #commitTwice({ last }: Batch, elsewhere: Elsewhere): Promise<void> {
    const committing = elsewhere.commit(last, this.#buffer.subarray(0, this.#framed));
    const { promise: sent, resolve } = Promise.withResolvers<void>();
    this.#clock.soon(resolve);
    await Promise.all([committing, sent.then(() => this.#sync())]);
  }

  #acknowledge(batch: Batch): void {
    this.#durable = batch.last;
    this.#drainedOnDisk = batch.saysDrained;
    this.queuedBytes -= batch.bytes;
    this.#hooks.committed(batch.transactions);
    batch.done.resolve();
  }

  /** Appends the batch, padded with zeros to the next page (at least one): see segment-scan's N2. */
  #write(batch: Batch): Promise<Fault> | undefined {
    const { active, options } = this.#segments;
    this.#reserve(batch.bytes + options.pageBytes);
    batch.saysDrained = this.drained;
    this.#head.set({ gen: active.gen, durable: this.#durable, drained: batch.saysDrained });
    let end = 0;
    for (const frame of inFrames(batch.transactions, options.frameBytes)) {
      end = encodeFrame(this.#buffer, end, this.#head, frame);
    }
    const padded = paddedTo(active.at + end, options.pageBytes) - active.at;
    this.#buffer.fill(0, end, padded);
    try {
      writeAll(active.file, this.#buffer.subarray(0, padded), active.at);
    } catch (error) {
      if (!isRetryable(error)) throw error;
      return this.#wipe(padded, error);
    }
    active.last = batch.last;
    active.at += end;
    this.#framed = end;
    return undefined;
  }

  /** W4: a recovery must not find what a failed write left behind. */
  async #wipe(length: number, fault: Fault): Promise<Fault> {
    const { active } = this.#segments;
    const there = Math.min(length, Math.max(0, active.file.size() - active.at));
    writeAll(active.file, new Uint8Array(there), active.at);
    await this.#pace.sync(active.file);
    return fault;
  }

  #refuse(batch: Batch, fault: Fault): void {
    const refused = [batch, ...this.#queue.splice(0)];
    this.queuedBytes = 0;
    this.#hooks.refused(
      refused.flatMap(({ transactions }) => transactions),
      fault,
    );
    for (const one of refused) fail(one, fault);
  }

  /** The active segment is full: continues with a free one, a new one, or the oldest once it is drained. */
  async #makeRoom(): Promise<Fault | undefined> {
    this.#segments.release(this.#drainedOnDisk);
    if (await this.#advance()) return undefined;
    const fault = await this.#hooks.drainTo(this.#segments.nextFreeAt);
    if (fault !== undefined) return fault;
    await this.#mark();
    this.#segments.release(this.#drainedOnDisk);
    if (!(await this.#advance())) await this.#startOver();
    return undefined;
  }

  /**
   * There is only this segment: it starts again. Its last page repeats what is drained; no batch is written there (G2).
   */
  async #startOver(): Promise<void> {
    const { segmentBytes, pageBytes } = this.#segments.options;
    this.#segments.active.at = segmentBytes - pageBytes;
    await this.#mark();
    this.#gen += 1;
    this.#segments.startOver(this.#gen);
  }

  async #advance(): Promise<boolean> {
    if (!(await this.#segments.advance(this.#gen + 1))) return false;
    this.#gen += 1;
    this.#hooks.sealed();
    return true;
  }

  /** Writes a frame without entries, to record `durable` and `drained`. */
  async #mark(): Promise<void> {
    const { active, options } = this.#segments;
    const saysDrained = this.drained;
    this.#reserve(FRAME_OVERHEAD + options.pageBytes);
    this.#head.set({ gen: active.gen, durable: this.#durable, drained: saysDrained });
    const end = encodeFrame(this.#buffer, 0, this.#head, { first: this.#durable + 1, entries: [] });
    const padded = Math.min(paddedTo(active.at + end, options.pageBytes), options.segmentBytes) - active.at;
    this.#buffer.fill(0, end, padded);
    writeAll(active.file, this.#buffer.subarray(0, padded), active.at);
    await this.#pace.sync(active.file);
    active.at += end;
    active.last = Math.max(active.last, this.#durable);
    this.#drainedOnDisk = saysDrained;
  }

  #reserve(bytes: number): void {
    if (this.#buffer.length < bytes) this.#buffer = Buffer.alloc(2 * bytes);
  }
}

function paddedTo(end: number, page: number): number {
  return (Math.floor(end / page) + 1) * page;
}

function newBatch(): Batch {
  return { transactions: [], bytes: 0, last: 0, saysDrained: 0, done: Promise.withResolvers<void>() };
}

function fail({ done }: Batch, error: unknown): void {
  // Waiting callers get the error; without any, it must not bring the process down.
  done.promise.catch(() => undefined);
  done.reject(error);
}
