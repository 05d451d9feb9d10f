// Inspects a log without changing it: while a daemon is running, or after a crash before any recovery.
// X1. Nothing is written, locked or cut. What a recovery would restore from the write-ahead log is shown as if it had
//     run.
// X2. The write-ahead log is read before the session logs: what is drained in between is seen twice rather than not at
//     all.
import { joinPath } from "../base/path.ts";
import type { Disk } from "../world/disk.ts";
import { listQuarantine, type QuarantineItem } from "./file/quarantine.ts";
import { type EntryHead, headOf } from "./session/entry.ts";
import type { FoldableLog } from "./session/fold-log.ts";
import { wholeLines } from "./session/lines.ts";
import { judgeLog, readFiles, segmentsIn } from "./session/log-segments.ts";
import { EVENTS_FILE, isSession, listArchived, listSessions, sessionPath } from "./session/places.ts";
import { skippedEvents } from "./session/poisons.ts";
import { FROM_START, inOrder, type ReadFrom, type Reading, readLines } from "./session/session-log.ts";
import { joinLines } from "./session/session-writer.ts";
import { entriesOf } from "./wal/frame.ts";
import { harmedStretches, readWal, type WalContents } from "./wal/wal-files.ts";
import type { SeqRange, WalView } from "./wal/wal-fold.ts";

/**
 * Something that is wrong. `damage`: acknowledged data is corrupt or gone. `torn`: an unfinished write, as far as is
 * known: nothing on disk says that it was acknowledged.
 */
export type Finding = {
  readonly kind: "damage" | "torn";
  readonly where: string;
  readonly offset: number | undefined;
  readonly what: string;
};

export type SessionSummary = {
  readonly session: string;
  readonly entries: number;
  readonly first: number;
  readonly last: number;
  /** How many of these are still only in the write-ahead log. */
  readonly waiting: number;
  /** Everything up to this seq was removed by retention; 0 if nothing was. It is complete from there on. */
  readonly trimmed: number;
};

export type Inspection = {
  readonly sessions: readonly SessionSummary[];
  readonly wal: {
    readonly files: number;
    readonly bytes: number;
    readonly durable: number;
    readonly drained: number;
    readonly end: number;
    readonly lost: readonly SeqRange[];
  };
  readonly quarantine: readonly QuarantineItem[];
  readonly findings: readonly Finding[];
};

type Waiting = { readonly head: EntryHead; readonly line: Uint8Array };

/** A read-only view of a home as it is on disk. */
export class LogView {
  readonly #disk: Disk;
  readonly #home: string;
  readonly #wal: WalContents;
  readonly #waiting = new Map<string, Waiting[]>();
  readonly sessions: readonly string[];
  readonly poisons: FoldableLog["poisons"];

  constructor(disk: Disk, home: string) {
    this.poisons = { skipped: (session) => skippedEvents({ disk, home }, session) };
    this.#disk = disk;
    this.#home = home;
    this.#wal = readWal(disk, home); // X2
    for (const { session, line } of this.#wal.view.live.flatMap(entriesOf)) this.#wait(session, line);
    // The living ones first: one that is archived in between is seen twice rather than not at all.
    const onDisk = [...listSessions(disk, home), ...listArchived(disk, home)];
    this.sessions = [...new Set([...onDisk, ...this.#waiting.keys()])].filter(isSession).sort();
  }

  #wait(session: string, line: Uint8Array): void {
    const head = headOf(line);
    if (head === undefined) return;
    const waiting = this.#waiting.get(session) ?? [];
    waiting.push({ head, line });
    this.#waiting.set(session, waiting);
  }

  /**
   * Everything in a session, as a recovery would leave it: its own log up to what was synced, then the write-ahead log.
   */
  *read(session: string, from: ReadFrom = FROM_START): Generator<Reading> {
    const { verdict, again } = this.#judge(session);
    const seq = yield* readFiles(this.#disk, this.#directoryOf(session), from, verdict.from);
    const block = joinLines(inOrder(verdict.kept, again));
    // Where these will be in the file is not certain: it may be continued in a new one.
    for (const reading of readLines(wholeLines(block, verdict.from, true), { file: -1, seq })) {
      if (reading.kind !== "double") yield reading.kind === "entry" ? { ...reading, end: -1 } : reading;
    }
  }

  /** What follows the entry with this seq; undefined if the session does not have it. */
  readAfter(session: string, seq: number): Iterable<Reading> | undefined {
    const readings = this.read(session);
    for (let next = readings.next(); next.done !== true; next = readings.next())
      if (seqIn(next.value) === seq) return readings;
    return undefined;
  }

  #judge(session: string) {
    const drained = this.#wal.view.gen === 0 ? Number.POSITIVE_INFINITY : this.#wal.view.drained;
    return judgeLog(this.#disk, this.#directoryOf(session), drained, this.#waiting.get(session) ?? []);
  }

  #directoryOf(session: string): string {
    return sessionPath(this.#disk, this.#home, session);
  }

  /**
   * The extent of the write-ahead log. `lost` may include what
   * was drained and overwritten while this view was being read.
   */
  get marks(): Pick<WalView, "gen" | "durable" | "end" | "lost"> {
    return this.#wal.view;
  }

  /** Checks every line of everything; of the sessions, only the requested ones. */
  inspect(asked: readonly string[] = this.sessions): Inspection {
    const findings = this.#walFindings();
    const sessions = asked.map((session) => this.#inspectSession(session, findings));
    const { view, files } = this.#wal;
    const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
    const { durable, drained, end, lost } = view;
    const wal = { files: files.length, bytes, durable, drained, end, lost };
    return { sessions, wal, quarantine: listQuarantine(this.#disk, this.#home), findings };
  }

  #walFindings(): Finding[] {
    const harmed = harmedStretches(this.#wal).map((stretch): Finding => {
      const kind = stretch.kind === "torn" ? "torn" : "damage";
      const what = `${stretch.bytes.length} bytes that are no frame`;
      return { kind, where: this.#below(stretch.path), offset: stretch.start, what };
    });
    const lost = this.#wal.view.lost.map((range): Finding => {
      const what = `seq ${range.from} to ${range.to} were acknowledged and are gone`;
      return { kind: "damage", where: "wal", offset: undefined, what };
    });
    const cut = this.#wal.view.cut.map(({ path, start }): Finding => {
      return { kind: "torn", where: this.#below(path), offset: start, what: "a whole frame behind a torn one" };
    });
    return [...harmed, ...cut, ...lost];
  }

  #below(path: string): string {
    return path.slice(this.#home.length + 1);
  }

  #inspectSession(session: string, findings: Finding[]): SessionSummary {
    const waiting = (this.#waiting.get(session) ?? []).length;
    const summary = { session, entries: 0, first: 0, last: 0, waiting, trimmed: 0 };
    for (const reading of this.read(session)) {
      if (reading.kind === "entry") {
        summary.entries += 1;
        summary.first ||= reading.entry.seq;
        summary.last = reading.entry.seq;
      } else if (reading.kind === "trimmed") summary.trimmed = reading.through;
      else findings.push({ where: this.#below(this.#fileOf(session, reading.file)), ...describe(reading) });
    }
    for (const line of this.#judge(session).verdict.torn) {
      findings.push({
        kind: "torn",
        where: this.#below(joinPath(this.#directoryOf(session), EVENTS_FILE)),
        offset: line.start,
        what: "an unfinished line, which the write-ahead log has whole",
      });
    }
    return summary;
  }

  /** The file of a log that follows this seq. */
  #fileOf(session: string, before: number): string {
    const directory = this.#directoryOf(session);
    const segment =
      before < 0 ? undefined : segmentsIn(this.#disk, directory).segments.find((one) => one.last > before);
    return segment?.path ?? joinPath(directory, EVENTS_FILE);
  }
}

/** The seq up to which the log is known after this reading. */
function seqIn(reading: Reading): number | undefined {
  if (reading.kind === "trimmed") return reading.through;
  return reading.kind === "entry" ? reading.entry.seq : undefined;
}

type NotAnEntry = Exclude<Reading, { kind: "entry" | "trimmed" }>;

function describe(reading: NotAnEntry): Omit<Finding, "where"> {
  if (reading.kind === "harmed") return { kind: "damage", offset: reading.start, what: "a harmed line" };
  if (reading.kind === "double")
    return { kind: "damage", offset: reading.start, what: `seq ${reading.seq} stands there twice` };
  const what = `seq ${reading.seq} follows ${reading.expected}, but the line before it is ${reading.found}`;
  return { kind: "damage", offset: reading.start < 0 ? undefined : reading.start, what };
}
