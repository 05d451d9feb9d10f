// Write-ahead log: one durable order for the events of all sessions.
// W1. A batch is announced (`committed`, and its promise resolved) only after fdatasync covered every line of it.
// W2. One batch is on its way at a time, and the next one gathers meanwhile: one sync for all who wait (group commit).
// W3. A failed sync is never repeated: the log stops for good, and only a new process may go on.
// W4. A batch that the disk had no room for is wiped and refused; nothing of it can come back. What was before it stays.
import { assert } from "../../base/assert.ts";
import { type Fault, isFault } from "../../base/fault.ts";
import type { Clock } from "../../world/clock.ts";
import { writeAll } from "../file/file.ts";
import type { Session } from "../session/session-writer.ts";
import { encodeFrame, FRAME_OVERHEAD, frameHead, type Transaction } from "./frame.ts";
import type { Segments } from "./segments.ts";
import { SyncPace } from "./sync-pace.ts";

/** One write and one sync take this much at the most, so that nobody waits behind a mountain. */
const MAX_BATCH_BYTES = 1 << 20;

/** Failures that pass: the same entry may be taken later. Everything else about a write is fatal. */
const PASSING = ["ENOSPC", "EDQUOT", "EROFS", "EMFILE", "ENFILE"] as const;

export function isRetryable(error: unknown): error is Fault {
  return isFault(error, ...PASSING);
}

export type WalHooks = {
  /** Durable, in order. */
  committed(transactions: readonly Transaction<Session>[]): void;
  /** Not written, and never will be; nor will anything that was enqueued behind. */
  refused(transactions: readonly Transaction<Session>[], fault: Fault): void;
  /** Brings at least `seq` into the session logs, or says what is in the way. */
  drainTo(seq: number): Promise<Fault | undefined>;
  /** A segment was filled. */
  sealed(): void;
  /** W3. */
  stopped(error: unknown): void;
};

type Batch = {
  readonly transactions: Transaction<Session>[];
  bytes: number;
  readonly done: PromiseWithResolvers<void>;
};

export type Position = { readonly gen: number; readonly end: number };

export class WriteAheadLog {
  readonly #clock: Clock;
  readonly #segments: Segments;
  readonly #hooks: WalHooks;
  readonly #pace: SyncPace;
  readonly #queue: Batch[] = [];
  #buffer = Buffer.alloc(0);
  #gen: number;
  #durable: number;
  #drainedOnDisk: number;
  #running = false;
  #onItsWay: Batch | undefined;
  #failure: { readonly error: unknown } | undefined;
  #idle: PromiseWithResolvers<void> | undefined;
  /** What the session logs have for good; told by whoever drains. */
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

  /** Of what a recovery finds in the session logs and nowhere else, the last seq. */
  get drainedOnDisk(): number {
    return this.#drainedOnDisk;
  }

  /** A transaction is one frame of one batch of one segment. */
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

  /** A new generation, which says at once where the log ends: no line of an earlier life counts from here on. */
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
    this.queuedBytes += framed;
    if (!this.#running) {
      this.#running = true;
      this.#clock.soon(() => void this.#run());
    }
    return batch.done.promise;
  }

  /** Resolves when nothing is on its way. */
  settled(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    if (!this.#running) return Promise.resolve();
    this.#idle ??= Promise.withResolvers<void>();
    return this.#idle.promise;
  }

  /** Everything is drained: says so on disk, so that the next start has nothing to do. */
  async finish(): Promise<void> {
    await this.#mark();
    this.#segments.close();
  }

  /** W3, also for a sync that failed elsewhere: nothing is written from here on. What is in its sync may still become durable. */
  halt(error: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = { error };
    for (const { done } of this.#queue.splice(0)) done.reject(error);
    this.#idle?.reject(error);
    this.#hooks.stopped(error);
  }

  async #run(): Promise<void> {
    try {
      for (let batch = this.#queue[0]; batch !== undefined; batch = this.#queue[0]) {
        await this.#commit(batch);
        await this.#pause(); // W2: lets everyone who was just told go on, so that their next entries share one sync.
      }
      this.#running = false;
      this.#idle?.resolve();
      this.#idle = undefined;
    } catch (error) {
      this.#onItsWay?.done.reject(error);
      this.halt(error);
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#clock.soon(resolve));
  }

  async #commit(batch: Batch): Promise<void> {
    this.#queue.shift(); // From here on nothing joins it.
    this.#onItsWay = batch;
    const inTheWay = this.#segments.fits(batch.bytes) ? undefined : await this.#makeRoom();
    if (this.#failure !== undefined) throw this.#failure.error;
    const saysDrained = this.drained; // As the frames will say: a pass may end while we wait.
    const fault = inTheWay ?? (await this.#write(batch));
    if (fault !== undefined) return this.#refuse(batch, fault);
    await this.#pace.sync(this.#segments.active.file); // W1
    const last = batch.transactions.at(-1);
    assert(last !== undefined, "a batch has a transaction");
    this.#durable = last.first + last.entries.length - 1;
    this.#drainedOnDisk = saysDrained;
    this.queuedBytes -= batch.bytes;
    this.#hooks.committed(batch.transactions);
    batch.done.resolve();
  }

  /** Writes the batch behind what is there, followed by zeros up to the next page (at least one): see segment-scan's N2. */
  async #write(batch: Batch): Promise<Fault | undefined> {
    const { active, options } = this.#segments;
    this.#reserve(batch.bytes + options.pageBytes);
    const head = frameHead({ gen: active.gen, durable: this.#durable, drained: this.drained });
    let end = 0;
    for (const transaction of batch.transactions) end = encodeFrame(this.#buffer, end, head, transaction);
    const padded = paddedTo(active.at + end, options.pageBytes) - active.at;
    this.#buffer.fill(0, end, padded);
    try {
      writeAll(active.file, this.#buffer.subarray(0, padded), active.at);
    } catch (error) {
      if (!isRetryable(error)) throw error;
      await this.#wipe(padded);
      return error;
    }
    const last = batch.transactions.at(-1);
    active.last = last === undefined ? active.last : last.first + last.entries.length - 1;
    active.at += end;
    return undefined;
  }

  /** W4: what a failed write left behind must not be found by a recovery. */
  async #wipe(length: number): Promise<void> {
    const { active } = this.#segments;
    const there = Math.min(length, Math.max(0, active.file.size() - active.at));
    writeAll(active.file, new Uint8Array(there), active.at);
    await this.#pace.sync(active.file);
  }

  #refuse(batch: Batch, fault: Fault): void {
    const refused = [batch, ...this.#queue.splice(0)];
    this.queuedBytes = 0;
    this.#hooks.refused(
      refused.flatMap(({ transactions }) => transactions),
      fault,
    );
    for (const { done } of refused) done.reject(fault);
  }

  /** The active segment is full: a free one, a new one, or the oldest once all it holds is in the session logs. */
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

  /** There is only this segment: it begins anew. What it says of `drained` is said again in its last page, where no batch comes (G2). */
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

  /** A frame of no entries, for what it says of `durable` and `drained`. */
  async #mark(): Promise<void> {
    const { active, options } = this.#segments;
    const saysDrained = this.drained;
    this.#reserve(FRAME_OVERHEAD + options.pageBytes);
    const head = frameHead({ gen: active.gen, durable: this.#durable, drained: saysDrained });
    const end = encodeFrame(this.#buffer, 0, head, { first: this.#durable + 1, entries: [] });
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
  const done = Promise.withResolvers<void>();
  // Whoever waits sees the failure; a batch that nobody waits for must not bring the process down.
  done.promise.catch(() => undefined);
  return { transactions: [], bytes: 0, done };
}
