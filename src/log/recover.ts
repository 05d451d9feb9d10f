// Recovery, before the log accepts its first entry: reads the write-ahead log of the last process, makes it durable
// again, and writes it to the session logs. Interrupted recoveries can be repeated from the start with the same result.
// C1. Nothing that is only in the page cache is relied on: the live frames are first written to a new file, synced and
//     named, and only then written to any session log. This cannot produce half a transaction.
// C2. Bytes that will not be found again are in the quarantine before they are skipped.
// C3. Damage to one session freezes that session; the others start.
// C4. A session is archived only when the write-ahead log has nothing more of it. If a damaged one says otherwise, the
//     session stays archived as long as its own log has those entries too; with newer ones it is brought back.
// C5. The name of a session that was just brought back may be only in the page cache: it is made durable before
//     anything is appended.
// C6. So may the name of a segment: it is made durable before the file is made that follows it (SG1 of
//     session/log-segments.ts).
// C7. There may be very many sessions: they are looked at in slices, so that the process answers meanwhile, and
//     progress is reported to the owner.
import { assert } from "../base/assert.ts";
import { type Fault, isFault } from "../base/fault.ts";
import { joinPath, parentOf } from "../base/path.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import { inSlices, type SliceStep } from "../world/slices.ts";
import { writeAtomic } from "./file/atomic-file.ts";
import { makeDirectories, removeStaleTemps } from "./file/file.ts";
import { quarantine } from "./file/quarantine.ts";
import { ARCHIVE, archivedEnd } from "./session/archive-index.ts";
import { type EntryHead, headOf } from "./session/entry.ts";
import type { Line } from "./session/lines.ts";
import { judgeLog } from "./session/log-segments.ts";
import { archivedName, EVENTS_FILE, eventsPath, isSession, listSessions, WAL_DIRECTORY } from "./session/places.ts";
import { inOrder, type TailVerdict, tailOf } from "./session/session-log.ts";
import { joinLines, newSession, type Session, type SessionWrite, writeSessions } from "./session/session-writer.ts";
import { entriesOf } from "./wal/frame.ts";
import { anew, harmedStretches, nextSegmentPath, readWal, type WalContents } from "./wal/wal-files.ts";
import type { SeqRange } from "./wal/wal-fold.ts";

export type Recovery = {
  readonly sessions: Map<string, Session>;
  readonly gen: number;
  readonly end: number;
  /** The file that contains the live frames until the log has started. */
  readonly recovered: string;
  readonly report: LogReport;
};

/** What was found and done; empty if all was well. */
export type LogReport = {
  /** The number of entries written from the write-ahead log to the session logs. */
  readonly replayed: number;
  /** Files with an unfinished write, which was cut: nothing on disk says that it was acknowledged. */
  readonly torn: readonly string[];
  /** Acknowledged entries that are gone. */
  readonly lost: readonly SeqRange[];
  readonly frozen: readonly { readonly session: string; readonly reason: string }[];
  /** The paths of what was cut or damaged. */
  readonly quarantined: readonly string[];
  /** The write-ahead log, or its end, was missing: the session logs reach further, and it has every entry first. */
  readonly walMissing: boolean;
};

/** The damage that a person should know about. A torn tail is not included: power cuts leave them. */
export function damageIn({ lost, frozen, walMissing }: LogReport): string[] {
  return [
    ...lost.map(({ from, to }) => `the entries ${from} to ${to} are gone`),
    ...frozen.map(({ session, reason }) => `${session} is frozen: ${reason}`),
    ...(walMissing ? ["the write-ahead log was missing, or ended too early"] : []),
  ];
}

type Live = { readonly head: EntryHead; readonly line: Uint8Array };
type HomeWorld = { readonly disk: Disk; readonly clock: Clock; readonly home: string };

/** How many session logs have been looked at, of how many. */
export type Looked = { readonly done: number; readonly total: number };

export async function recover(place: HomeWorld, progress: (looked: Looked) => void): Promise<Recovery> {
  await prepareHome(place);
  const wal = readWal(place.disk, place.home);
  const kept: string[] = [];
  const torn = await setAsideWal(place, wal, kept);
  const recovered = await writeAnew(place, wal); // C1
  const survey = await surveySessions(place, wal, progress);
  for (const { verdict, session } of survey) await setAsideTail(place, session.name, verdict, kept);
  await writeAgain(place, survey);
  const sessions = new Map(survey.map(({ session }) => [session.name, session]));
  const known = Math.max(wal.view.end, archivedEnd(place));
  const end = survey.reduce((top, { session }) => Math.max(top, session.last), known);
  const frozen = survey.flatMap(({ session }) =>
    session.frozen === undefined ? [] : [{ session: session.name, reason: session.frozen }],
  );
  const replayed = survey.reduce((sum, { live }) => sum + live.length, 0);
  const tornTails = survey
    .filter(({ verdict }) => verdict.torn.length > 0)
    .map(({ session }) => eventsPath(place.home, session.name));
  return {
    sessions,
    gen: wal.view.gen + 1,
    end,
    recovered,
    report: {
      replayed,
      torn: [...torn, ...tornTails],
      lost: wal.view.lost,
      frozen,
      quarantined: kept,
      walMissing: end > wal.view.end,
    },
  };
}

/** Existing levels are synced too, up to the root: the process that made them may have been killed before it did so. */
async function prepareHome({ disk, home }: HomeWorld): Promise<void> {
  const directory = joinPath(home, WAL_DIRECTORY);
  for (const parent of makeDirectories(disk, directory, "/")) await syncIfAllowed(disk, parent);
  removeStaleTemps(disk, directory);
}

/** A directory that we may not even open was not made by us. */
async function syncIfAllowed(disk: Disk, directory: string): Promise<void> {
  try {
    await disk.syncDirectory(directory);
  } catch (error) {
    if (!isFault(error, "EACCES", "EPERM")) throw error;
  }
}

/** C2 for the write-ahead log. Frames behind a torn one are kept as well. Returns the files that are torn. */
export async function setAsideWal(place: HomeWorld, wal: WalContents, kept: string[]): Promise<string[]> {
  const torn: string[] = [];
  for (const stretch of harmedStretches(wal)) {
    const reason = stretch.kind === "torn" ? "torn: not known to be acknowledged" : "damaged: was acknowledged";
    if (stretch.kind === "torn") torn.push(stretch.path);
    kept.push(await keepBytes(place, { from: stretch.path, offset: stretch.start, reason }, stretch.bytes));
  }
  for (const frame of wal.view.cut) {
    const reason = "whole, but behind a torn line: not known to be acknowledged";
    if (!torn.includes(frame.path)) torn.push(frame.path);
    kept.push(await keepBytes(place, { from: frame.path, offset: frame.start, reason }, frame.line));
  }
  return torn;
}

type Origin = { readonly from: string; readonly offset: number; readonly reason: string };

function keepBytes(place: HomeWorld, origin: Origin, bytes: Uint8Array): Promise<string> {
  const from = origin.from.slice(place.home.length + 1);
  const name = from.replaceAll("/", "-");
  return quarantine(
    place.disk,
    place.home,
    { name, from, offset: origin.offset, reason: origin.reason, at: place.clock.now() },
    bytes,
  );
}

/** C1 */
async function writeAnew({ disk, home }: HomeWorld, wal: WalContents): Promise<string> {
  const path = nextSegmentPath(disk, home);
  await writeAtomic(disk, path, anew(wal));
  return path;
}

type Surveyed = { readonly session: Session; readonly live: readonly Live[]; readonly verdict: TailVerdict };

async function surveySessions(
  { disk, clock, home }: HomeWorld,
  { view }: WalContents,
  progress: (looked: Looked) => void,
): Promise<Surveyed[]> {
  const live = liveBySession(view.live.flatMap(entriesOf));
  for (const [name, entries] of live) if (staysArchived({ disk, home }, name, entries)) live.delete(name); // C4
  const names = new Set([...listSessions(disk, home), ...live.keys()]);
  if (disk.stat(joinPath(home, ARCHIVE)) !== undefined)
    for (const parent of new Set([...names].map((name) => parentOf(joinPath(home, name)))))
      if (disk.stat(parent) !== undefined) await disk.syncDirectory(parent); // C5
  // An empty write-ahead log is no evidence against a session's log.
  const drained = view.gen === 0 ? Number.POSITIVE_INFINITY : view.drained;
  const judge = (name: string) => {
    const { verdict, again, before } = judgeLog(disk, joinPath(home, name), drained, live.get(name) ?? []);
    return { session: sessionOf(name, verdict, again), live: again, verdict, before };
  };
  const survey = await inSlices(clock, each([...names].filter(isSession), judge), progress); // C7
  for (const { session, before } of survey) if (before > 0) await disk.syncDirectory(joinPath(home, session.name)); // C6
  return survey;
}

function* each<T>(names: readonly string[], look: (name: string) => T): Generator<Looked & SliceStep, T[]> {
  const found: T[] = [];
  for (const name of names) {
    found.push(look(name));
    yield { done: found.length, total: names.length };
  }
  return found;
}

/** C4 */
function staysArchived({ disk, home }: Pick<HomeWorld, "disk" | "home">, name: string, live: readonly Live[]): boolean {
  const [living, archived] = [joinPath(home, name), joinPath(home, archivedName(name))];
  if (!isSession(name) || disk.stat(living) !== undefined || disk.stat(archived) === undefined) return false;
  const lines = tailOf(disk, joinPath(archived, EVENTS_FILE), Number.POSITIVE_INFINITY);
  const last = lines.findLast(({ head }) => head !== undefined)?.head?.seq ?? 0;
  if (live.every(({ head }) => head.seq <= last)) return true;
  disk.rename(archived, living);
  return false;
}

function liveBySession(
  entries: readonly { readonly session: string; readonly line: Uint8Array }[],
): Map<string, Live[]> {
  const bySession = new Map<string, Live[]>();
  for (const { session, line } of entries) {
    const head = headOf(line);
    assert(head !== undefined, "an entry under a frame's good checksum is whole");
    const lines = bySession.get(session);
    if (lines === undefined) bySession.set(session, [{ head, line }]);
    else lines.push({ head, line });
  }
  return bySession;
}

function sessionOf(name: string, verdict: TailVerdict, again: readonly Live[]): Session {
  const last = Math.max(verdict.last, again.at(-1)?.head.seq ?? 0);
  const known = { last, length: verdict.from, named: verdict.from > 0, frozen: verdict.broken };
  return Object.assign(newSession(name), known);
}

/** A session as its file alone has it: the write-ahead log, which ends at this seq, has nothing of it. */
export function sessionOnDisk({ disk, home }: Pick<HomeWorld, "disk" | "home">, name: string, end: number): Session {
  const all = Number.POSITIVE_INFINITY;
  const { verdict } = judgeLog(disk, joinPath(home, name), all, []);
  const session = sessionOf(name, verdict, []);
  if (session.last > end) session.frozen ??= "its log goes on after the end of the write-ahead log";
  return session;
}

/** C2 for a session's log. Corrupt lines that stay in place are copied too: they will be asked for. */
async function setAsideTail(place: HomeWorld, name: string, verdict: TailVerdict, kept: string[]): Promise<void> {
  const path = eventsPath(place.home, name);
  const aside = async (lines: readonly Line[], reason: string) => {
    for (const run of runsOf(lines)) {
      kept.push(
        await keepBytes(place, { from: path, offset: run.offset, reason }, joinLines(run.lines).subarray(0, -1)),
      );
    }
  };
  await aside(verdict.torn, "torn: written again from the write-ahead log");
  await aside(
    verdict.kept.filter((line) => line.head === undefined),
    "damaged: still in its place",
  );
}

/** Adjacent lines are one piece of damage. */
function runsOf(lines: readonly Line[]): { readonly offset: number; readonly lines: Uint8Array[] }[] {
  const runs: { offset: number; end: number; lines: Uint8Array[] }[] = [];
  for (const { start, end, bytes } of lines) {
    const run = runs.at(-1);
    if (run === undefined || run.end !== start) runs.push({ offset: start, end, lines: [bytes] });
    else {
      run.lines.push(bytes);
      run.end = end;
    }
  }
  return runs;
}

/** Everything after the synced part is written again, even what stays the same: the page cache is not the disk. */
async function writeAgain({ disk, home }: HomeWorld, survey: readonly Surveyed[]): Promise<void> {
  const writes: SessionWrite[] = survey.flatMap(({ session, live, verdict }) => {
    const lines = inOrder(verdict.kept, live);
    return lines.length === 0 && verdict.torn.length === 0 ? [] : [{ session, block: joinLines(lines) }];
  });
  for (let at = 0; at < writes.length; at += 64) {
    await writeSessions(disk, home, writes.slice(at, at + 64), nothingPasses);
  }
}

/** In recovery every failure goes to the caller, which starts over. */
function nothingPasses(_error: unknown): _error is Fault {
  return false;
}
