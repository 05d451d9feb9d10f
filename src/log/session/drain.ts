// Copies what is durable in the write-ahead log to the session logs, so that its segments can be reused.
// R1. `pass` resolves only when every entry added before it began is synced in its session's log, and so are the names
//     of new files and directories up to the home.
// R2. A pass that finds no room changes nothing: what it did not sync still waits, and the next pass writes it to the
//     same place.
// R3. A session whose file has become long begins a new one with its next lines (SG1 of log-segments.ts). If the disk
//     has no room even for that, or names are to stay, the old file becomes longer.
import type { Fault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import type { Disk } from "../../world/disk.ts";
import type { Transaction } from "../wal/frame.ts";
import { isRetryable } from "../wal/wal.ts";
import { becomeSegment } from "./log-segments.ts";
import { type Session, writeSessions } from "./session-writer.ts";

/** How many files are open at a time: enough for syncs to share the disk's work, far below any limit on descriptors. */
const FILES_AT_ONCE = 256;
/** How much is written before the event loop has its turn: some milliseconds' worth. */
const BYTES_AT_ONCE = 16 << 20;

/** What waits is in memory: a session that writes faster than sessions are drained does not take more there. */
const LONG_BYTES = 1 << 20;

export type DrainOutcome =
  | { readonly kind: "drained"; readonly to: number }
  | { readonly kind: "blocked"; readonly fault: Fault };

type HomeDisk = { readonly disk: Disk; readonly home: string };

export class Drain {
  readonly #place: HomeDisk;
  readonly #sessionBytes: number;
  readonly #waiting = new Set<Session>();
  #last: number;
  #isLong = false;
  keepsNames = false;
  #pass: Promise<DrainOutcome> | undefined;

  constructor(place: HomeDisk, sessionBytes: number, drained: number) {
    this.#place = place;
    this.#sessionBytes = sessionBytes;
    this.#last = drained;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0 && this.#pass === undefined;
  }

  /** Whether a session has so much that it should be drained now, and no pass is on its way. */
  get isDue(): boolean {
    return this.#isLong && this.#pass === undefined;
  }

  /** Copies the lines: the caller may reuse their memory. */
  add(transactions: readonly Transaction<Session>[]): void {
    for (const { first, entries } of transactions) {
      for (const { session, line } of entries) {
        if (session.waiting.isEmpty) this.#waiting.add(session);
        session.waiting.add(line);
        this.#isLong ||= session.waiting.length >= LONG_BYTES;
      }
      this.#last = first + entries.length - 1;
    }
  }

  /** One pass at a time; a call during a pass starts the next one. */
  async pass(): Promise<DrainOutcome> {
    while (this.#pass !== undefined) await this.#pass;
    this.#pass = this.#run();
    try {
      return await this.#pass;
    } finally {
      this.#pass = undefined;
    }
  }

  async #run(): Promise<DrainOutcome> {
    const to = this.#last;
    this.#isLong = false;
    for (const sessions of groupsOf([...this.#waiting])) {
      const fault = await this.#bring(sessions);
      if (fault !== undefined) return { kind: "blocked", fault };
    }
    return { kind: "drained", to }; // R1
  }

  async #bring(sessions: readonly Session[]): Promise<Fault | undefined> {
    const { disk, home } = this.#place;
    const long = this.keepsNames ? [] : sessions.filter(({ length }) => length >= this.#sessionBytes);
    for (const session of long) await this.#beginNext(session); // R3
    const writes = sessions.map((session) => ({ session, block: session.waiting.bytes() }));
    const fault = await writeSessions(disk, home, writes, isRetryable);
    if (fault !== undefined) return fault; // R2
    for (const { session, block } of writes) {
      session.waiting.drop(block.length); // More may have been added while the sync ran.
      if (session.waiting.isEmpty) this.#waiting.delete(session);
    }
    return undefined;
  }

  async #beginNext(session: Session): Promise<void> {
    const { disk, home } = this.#place;
    const directory = joinPath(home, session.name);
    try {
      if (!becomeSegment(disk, directory, session)) return;
    } catch (error) {
      if (isRetryable(error)) return; // R3
      throw error;
    }
    await disk.syncDirectory(directory);
  }
}

function groupsOf(sessions: readonly Session[]): Session[][] {
  const groups: Session[][] = [];
  let bytes = 0;
  for (const session of sessions) {
    const group = groups.at(-1);
    bytes += session.waiting.length;
    if (group !== undefined && group.length < FILES_AT_ONCE && bytes <= BYTES_AT_ONCE) group.push(session);
    else {
      groups.push([session]);
      bytes = session.waiting.length;
    }
  }
  return groups;
}
