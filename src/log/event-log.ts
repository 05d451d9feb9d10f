// The event log as its users see it: events of many sessions in one durable order, then each in its session's own file.
// L1. An entry is acknowledged (`durable` resolves) only when it is on disk (EL-2); entries appended together are
//     written together or not at all.
// L2. `append` returns at once: it assigns seqs to the entries, or refuses and has changed nothing. Memory is bounded:
//     past the limit it refuses with `log.busy`, and `room` resolves when there is room again.
// L3. After a failed sync nothing is ever written again (W3), and `halted` tells the owner, whose process must end;
//     after a full disk everything continues once there is room.
// L4. A session whose file is damaged accepts nothing more. One that a reader set aside still accepts its end.
import { AssertionError, assert } from "../base/assert.ts";
import { type Fault, isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { ok, type Refusal, type Result } from "../base/result.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import { giveUpBallast, keepBallast } from "./file/ballast.ts";
import { removeIfThere } from "./file/file.ts";
import { DEFAULT_OPTIONS, type LogOptions } from "./log-options.ts";
import * as refusals from "./log-refusals.ts";
import { type LogReport, type Looked, type Recovery, recover, sessionOnDisk } from "./recover.ts";
import { readBack, type Stop } from "./session/back.ts";
import { Drain, type DrainOutcome } from "./session/drain.ts";
import { DrainTimer } from "./session/drain-timer.ts";
import type { NewEntry } from "./session/entry.ts";
import { EntryEncoder } from "./session/entry-encoder.ts";
import { readAfter, readFiles } from "./session/log-segments.ts";
import { isSession } from "./session/places.ts";
import { Poisons } from "./session/poisons.ts";
import { FROM_START, type Reading, readOn, readWaiting } from "./session/session-log.ts";
import { newSession, type Session } from "./session/session-writer.ts";
import { Unwritable } from "./session/unwritable.ts";
import { Stillness } from "./stillness.ts";
import type { Elsewhere } from "./wal/elsewhere.ts";
import { type FramedEntry, sizeOf, type Transaction } from "./wal/frame.ts";
import { Segments } from "./wal/segments.ts";
import { WriteAheadLog } from "./wal/wal.ts";
import { segmentPaths } from "./wal/wal-files.ts";

/** A pending acknowledgement: seqs first … last, their length, and a promise that they are on disk. */
export type Ticket = {
  readonly first: number;
  readonly last: number;
  readonly bytes: number;
  readonly durable: Promise<void>;
};

const NONE: ReadonlySet<string> = new Set();

type HomeWorld = { readonly disk: Disk; readonly clock: Clock; readonly home: string };
type State =
  | { readonly kind: "open" }
  | { readonly kind: "blocked"; readonly fault: Fault }
  | { readonly kind: "stopped"; readonly error: unknown }
  | { readonly kind: "closed" };

export class EventLog {
  readonly #place: HomeWorld;
  readonly #options: LogOptions;
  readonly #sessions: Map<string, Session>;
  readonly #wal: WriteAheadLog;
  readonly #drain: Drain;
  readonly #encoder = new EntryEncoder();
  readonly report: LogReport;
  readonly poisons: Poisons;
  readonly still: Stillness;
  #end: number;
  #state: State = { kind: "open" };
  readonly #timer: DrainTimer;
  #room: PromiseWithResolvers<void> | undefined;
  readonly #halted = Promise.withResolvers<unknown>();

  /** Recovers what the last process left and starts a new life. A failing disk is a Fault; then nothing is lost. */
  static async open(
    place: HomeWorld,
    options: Partial<LogOptions> = {},
    progress: (looked: Looked) => void = () => undefined,
  ): Promise<EventLog> {
    const all = { ...DEFAULT_OPTIONS, ...options };
    for (;;) {
      try {
        return await openOnce(place, all, progress);
      } catch (error) {
        // This is what the ballast is for: recovery itself needs room.
        if (!isFault(error, "ENOSPC", "EDQUOT") || !(await giveUpBallast(place.disk, place.home))) throw error;
      }
    }
  }

  constructor(place: HomeWorld, options: LogOptions, recovery: Recovery, segments: Segments) {
    this.#place = place;
    this.#options = options;
    this.#sessions = recovery.sessions;
    this.#end = recovery.end;
    this.report = recovery.report;
    this.poisons = new Poisons(place);
    this.#drain = new Drain(place, options.sessionBytes, recovery.end);
    this.#timer = new DrainTimer(place.clock, () => this.#timeToDrain());
    this.#wal = new WriteAheadLog(place.clock, segments, recovery, {
      committed: (transactions) => this.#committed(transactions),
      refused: (transactions, fault) => this.#refused(transactions, fault),
      drainTo: (seq) => this.#drainTo(seq),
      sealed: () => this.#sealed(segments),
      stopped: (error) => this.#stopped(error),
    });
    this.still = new Stillness(this.#wal, this.#drain);
  }

  /** The last seq that is on disk. */
  get durable(): number {
    return this.#wal.durable;
  }

  /** The last seq, on disk or not. */
  get end(): number {
    return this.#end;
  }

  /** The seq of the last entry of a session; 0 if there is none. */
  lastSeq(session: string): number {
    return this.#sessions.get(session)?.last ?? 0;
  }

  get hasStopped(): boolean {
    return this.#state.kind === "stopped";
  }

  /** Resolves with the reason when it has (L3). */
  get halted(): Promise<unknown> {
    return this.#halted.promise;
  }

  /** Why everything is refused until the disk is tried again; undefined if it is not (L3). */
  get blocked(): Fault | undefined {
    return this.#state.kind === "blocked" ? this.#state.fault : undefined;
  }

  /** The names of all sessions, as `agents/<id>`. */
  get sessions(): string[] {
    // If the first entry of a session was refused, there is a name and nothing else.
    const real = [...this.#sessions.values()].filter(({ last, length, named }) => last > 0 || length > 0 || named);
    return real.map(({ name }) => name);
  }

  /** Why a session accepts no more entries; undefined if it does. */
  frozen(session: string): string | undefined {
    const known = this.#sessions.get(session);
    return known?.frozen ?? known?.aside;
  }

  /** For readers that cannot use a session's log: it accepts no more entries, except those that end it (L4). */
  freeze(session: string, reason: string): void {
    const known = this.#sessions.get(session);
    if (known !== undefined) known.aside ??= reason;
  }

  /** Whether all of a session is drained, and still is after a crash. */
  isDrained(session: string): boolean {
    const known = this.#sessions.get(session);
    return known === undefined || (known.waiting.isEmpty && known.last <= this.#wal.drainedOnDisk);
  }

  /** Forgets a session, so that its files can be moved or removed. Returns false while it is not drained. */
  release(session: string): boolean {
    if (!this.isDrained(session)) return false;
    this.#sessions.delete(session);
    return true;
  }

  /** Knows a released session again, by its file. The name of its directory must be durable. */
  adopt(session: string): void {
    this.#sessions.set(session, sessionOnDisk(this.#place, session, this.#end));
  }

  async start(): Promise<void> {
    await this.#wal.start();
  }

  /** Nothing may be acknowledged any more: the second place has failed (EW2 of wal/elsewhere.ts). */
  halt(error: Error): void {
    this.#wal.halt(error);
  }

  /** From now on, what is acknowledged is durable there as well. Nothing was appended yet. */
  commitTo(elsewhere: Elsewhere): void {
    this.#wal.elsewhere = elsewhere;
  }

  /** Appends all entries or none; they become durable together (L1). `over`: the sessions that they end (L4). */
  append(entries: readonly NewEntry[], over: ReadonlySet<string> = NONE): Result<Ticket> {
    const sessions: Session[] = [];
    const refusal = this.#refusal(entries, sessions, over);
    if (refusal !== undefined) return { ok: false, error: refusal };
    const transaction = this.#number(entries, sessions);
    const bytes = sizeOf(transaction);
    if (bytes > this.#wal.maxTransactionBytes) {
      this.#forget([transaction]);
      return { ok: false, error: refusals.tooLarge(bytes, this.#wal.maxTransactionBytes) };
    }
    const durable = this.#wal.enqueue(transaction, bytes);
    return ok({ first: transaction.first, last: this.#end, bytes, durable });
  }

  /** Resolves when `append` is not busy, even if it then refuses for another reason. */
  room(): Promise<void> {
    const busy = this.#state.kind === "open" && this.#wal.queuedBytes >= this.#options.maxQueuedBytes;
    if (!busy) return Promise.resolve();
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  /** Reads all durable entries of a session. */
  *read(session: string): Generator<Reading> {
    const known = this.#sessions.get(session);
    if (known === undefined) return;
    const waiting = known.waiting.bytes().slice();
    yield* readOn(readFiles(this.#place.disk, this.#directoryOf(session), FROM_START, known.length), waiting, 0);
  }

  /** A session's durable entries after `seq`; undefined if it has no entry with that seq. Reads only what follows. */
  readAfter(session: string, seq: number): Iterable<Reading> | undefined {
    const known = this.#sessions.get(session);
    if (known === undefined) return undefined;
    const waiting = known.waiting.bytes().slice();
    const files = readAfter(this.#place.disk, this.#directoryOf(session), seq, known.length);
    if (files !== undefined) return readOn(files, waiting, seq);
    const waits = [...readWaiting(waiting, 0)].some((reading) => reading.kind === "entry" && reading.entry.seq === seq);
    return waits ? readWaiting(waiting, seq) : undefined;
  }

  /** A session's durable entries up to seq `until`, from as far back as `stop` lets pass. */
  readBack(session: string, stop: Stop, until?: number): Iterable<Reading> {
    const known = this.#sessions.get(session);
    return known === undefined ? [] : readBack(this.#place.disk, this.#directoryOf(session), known, { stop, until });
  }

  #directoryOf(session: string): string {
    return joinPath(this.#place.home, session);
  }

  /** Writes everything durable to the session logs now. */
  async drain(): Promise<void> {
    await this.#wal.settled();
    const fault = await this.#drainTo(this.#wal.durable);
    if (fault !== undefined) throw fault;
  }

  /** Finishes pending work; the next start then has nothing to recover. */
  async close(): Promise<void> {
    if (this.#state.kind === "stopped" || this.#state.kind === "closed") return;
    this.#state = { kind: "closed" };
    this.#timer.cancel();
    this.still.release();
    await this.drain();
    await this.#wal.finish();
  }

  /** Also collects the entries' sessions, so that each is looked up once. */
  #refusal(entries: readonly NewEntry[], sessions: Session[], over: ReadonlySet<string>): Refusal | undefined {
    if (this.#state.kind === "blocked") return refusals.blocked(this.#state.fault);
    if (this.#state.kind === "stopped") return refusals.stopped(this.#state.error);
    if (this.#state.kind === "closed") return refusals.CLOSED;
    if (this.#wal.elsewhere?.away !== undefined) return this.#wal.elsewhere.away; // EW3 of wal/elsewhere.ts
    if (this.#wal.queuedBytes >= this.#options.maxQueuedBytes) return refusals.BUSY; // L2
    if (entries.length === 0) return refusals.EMPTY;
    for (const { session } of entries) {
      const known = this.#sessions.get(session) ?? this.#newSession(session);
      if (known === undefined) return refusals.noSession(session);
      const why = known.frozen ?? (over.has(session) ? undefined : known.aside); // L4
      if (why !== undefined) return refusals.frozen(session, why);
      sessions.push(known);
    }
    return undefined;
  }

  /** Assigns seqs to the entries. Throws Unwritable if one cannot be written, and then has changed nothing. */
  #number(entries: readonly NewEntry[], sessions: readonly Session[]): Transaction<Session> {
    const framed: FramedEntry<Session>[] = [];
    const transaction = { first: this.#end + 1, entries: framed };
    try {
      for (const [at, session] of sessions.entries()) framed.push(this.#frame(entries[at], session));
    } catch (error) {
      this.#forget([transaction]);
      throw error instanceof AssertionError ? error : new Unwritable(error);
    }
    return transaction;
  }

  #frame(entry: NewEntry | undefined, session: Session): FramedEntry<Session> {
    assert(entry !== undefined, "every entry has its session");
    const prev = session.last;
    const line = this.#encoder.encode(entry, { seq: this.#end + 1, prev }, session.parts);
    this.#end += 1;
    session.last = this.#end;
    return { session, prev, line };
  }

  #newSession(name: string): Session | undefined {
    if (!isSession(name)) return undefined;
    const session = newSession(name);
    this.#sessions.set(name, session);
    return session;
  }

  /** Undoes the newest transactions: they were never written. */
  #forget(transactions: readonly Transaction<Session>[]): void {
    for (const { first, entries } of transactions.toReversed()) {
      for (const { session, prev } of entries.toReversed()) session.last = prev;
      this.#end = first - 1;
    }
  }

  #committed(transactions: readonly Transaction<Session>[]): void {
    this.#drain.add(transactions);
    if (this.#wal.queuedBytes === 0) this.#encoder.reuse();
    this.#timer.touch();
    if (this.#drain.isDue) this.#drainNow();
    this.#giveRoom();
  }

  #giveRoom(): void {
    if (this.#wal.queuedBytes >= this.#options.maxQueuedBytes) return;
    this.#room?.resolve();
    this.#room = undefined;
  }

  #refused(transactions: readonly Transaction<Session>[], fault: Fault): void {
    this.#forget(transactions);
    this.#block(fault);
    this.#giveRoom();
  }

  /** New work is refused from now on, and the disk is retried regularly (L3). */
  #block(fault: Fault): void {
    if (this.#state.kind !== "open") return;
    this.#state = { kind: "blocked", fault };
    this.#timer.retry();
  }

  #timeToDrain(): void {
    if (this.#state.kind === "blocked") this.#state = { kind: "open" };
    this.#drainNow();
  }

  #sealed(segments: Segments): void {
    if (segments.sealedCount * 2 >= this.#options.maxSegments) this.#drainNow();
  }

  #drainNow(): void {
    this.#timer.cancel();
    if (this.#state.kind !== "open" || this.#drain.isEmpty) return;
    // `halted` reports it (L3).
    this.#drainTo(this.#wal.durable).catch(() => undefined);
  }

  async #drainTo(seq: number): Promise<Fault | undefined> {
    while (this.#wal.drained < seq) {
      const outcome = await this.#passOrHalt();
      if (outcome.kind === "blocked") {
        this.#block(outcome.fault);
        return outcome.fault;
      }
      this.#wal.drained = Math.max(this.#wal.drained, outcome.to);
    }
    return undefined;
  }

  /** L3 applies to every caller: the timer, a full write-ahead log, or a caller of `drain` or `close`. */
  async #passOrHalt(): Promise<DrainOutcome> {
    try {
      return await this.#drain.pass();
    } catch (error) {
      this.#wal.halt(error);
      throw error;
    }
  }

  #stopped(error: unknown): void {
    this.#state = { kind: "stopped", error };
    this.#timer.cancel();
    this.#room?.resolve();
    this.#halted.resolve(error);
  }
}

async function openOnce(place: HomeWorld, options: LogOptions, progress: (looked: Looked) => void): Promise<EventLog> {
  const recovery = await recover(place, progress);
  const segments = new Segments(place.disk, place.home, options);
  const { reusable, obsolete } = segmentPaths(place.disk, place.home, options.segmentBytes, recovery);
  const log = new EventLog(place, options, recovery, segments);
  try {
    for (const path of reusable.slice(0, options.maxSegments).toReversed()) segments.adopt(path); // Last one first.
    await log.start();
  } catch (error) {
    segments.close();
    throw error;
  }
  // More than there may be are of a time when there might be more.
  for (const path of [...obsolete, ...reusable.slice(options.maxSegments)]) removeIfThere(place.disk, path);
  await keepBallast(place.disk, place.home, options.ballastBytes);
  return log;
}
