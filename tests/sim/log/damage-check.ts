// What must hold for a log that was damaged while it was not running. Acknowledged entries may be gone, but never
// silently.
// H1. It opens, and returns only what was written: no entry is invented, changed or out of order.
// H2. A missing acknowledged entry was reported: as lost, by its session being frozen, by other findings of a read, or,
//     if it was above all that is left, as a torn end that is kept in quarantine: nothing on disk tells the last batch,
//     damaged, from one that a power cut tore. If zeros are in its place, nothing tells that there was one
//     (`looksLikeTheEnd`). Complete entries of a session's log are returned (`strict`; lines that were moved or
//     duplicated by hand are another matter).
// H3. A frozen session accepts nothing more; every other one does, and what it accepts survives.
// H4. Reading changes nothing; a reader gets a report of damage or of torn files if recovery does, and reads the same
//     entries.
import { EventLog } from "../../../src/log/event-log.ts";
import { LogView } from "../../../src/log/inspect.ts";
import { wholeLines } from "../../../src/log/session/lines.ts";
import { listSessions } from "../../../src/log/session/places.ts";
import type { Reading } from "../../../src/log/session/session-log.ts";
import { SimClock } from "../clock.ts";
import type { SimDisk } from "../disk.ts";
import { nothing } from "../survive.ts";
import { filesOf, pathsOf } from "./damage-home.ts";
import { HOME, type Memory, SMALL } from "./life.ts";
import { ensure } from "./oracle.ts";

/** Its seqs, ascending, and whether reading reported anything besides entries. */
export type Read = { readonly seqs: readonly number[]; readonly told: boolean };
export type Outcome = {
  readonly log: EventLog;
  readonly missing: readonly Expected[];
  readonly sessions: ReadonlyMap<string, Read>;
};
export type Expected = { readonly seq: number; readonly session: string; readonly text: string };

/** Every entry that was acknowledged. */
export function expectedOf({ issued, acknowledged }: Memory): Expected[] {
  let seq = 0;
  return issued.slice(0, acknowledged).flatMap(({ id, sessions, size }) =>
    sessions.map((session) => {
      seq += 1;
      return { seq, session, text: JSON.stringify({ id, pad: "x".repeat(size) }) };
    }),
  );
}

export function openOn(disk: SimDisk): Promise<EventLog> {
  return EventLog.open({ disk, clock: new SimClock(), home: HOME }, SMALL);
}

function collect(readings: Iterable<Reading>, session: string, genuine: ReadonlyMap<number, Expected>): Read {
  const seqs: number[] = [];
  let told = false;
  for (const reading of readings) {
    if (reading.kind !== "entry") {
      told = true;
      continue;
    }
    const { seq, data } = reading.entry;
    const expected = genuine.get(seq);
    ensure(seq > (seqs.at(-1) ?? 0), `${session}: ${seq} comes in order`); // H1
    ensure(expected?.session === session, `${session}: ${seq} was written there`);
    ensure(expected.text === JSON.stringify(data), `${session}: ${seq} is as it was written`);
    seqs.push(seq);
  }
  return { seqs, told };
}

/** The seqs of the whole lines in the files of a session's log. */
function wholeIn(disk: SimDisk, session: string): number[] {
  const files = pathsOf(disk, `/${session}/events`).map((path) => disk.peek(path) ?? new Uint8Array(0));
  const lines = files.flatMap((bytes) => [...wholeLines(bytes, 0, true)]);
  return lines.flatMap(({ head }) => (head === undefined ? [] : [head.seq]));
}

/** `moved`: lines were moved or duplicated by hand. `wiped`: it `looksLikeTheEnd`. */
type How = "strict" | "moved" | "wiped";

/** Opens a harmed home, checks H1 to H4, and lives a second life on it. */
export async function examine(disk: SimDisk, memory: Memory, how: How = "strict"): Promise<Outcome> {
  const expected = expectedOf(memory);
  const genuine = new Map(expected.map((entry) => [entry.seq, entry]));
  const look = lookOnly(disk.fork(), genuine);
  const whole = new Map(listSessions(disk, HOME).map((session) => [session, wholeIn(disk, session)]));
  const log = await openOn(disk);
  const sessions = new Map(log.sessions.map((name) => [name, collect(log.read(name), name, genuine)]));
  const missing = expected.filter(({ seq, session }) => !sessions.get(session)?.seqs.includes(seq));
  for (const entry of missing) {
    const excused = how === "wiped" && entry.seq > log.durable;
    ensure(excused || isTold(log, sessions, entry), `seq ${entry.seq} is missing, and nothing tells of it`); // H2
  }
  if (how !== "moved") for (const [session, seqs] of whole) givesOut(session, seqs, sessions.get(session)?.seqs);
  agree(look, log, sessions);
  await writeOn(disk, log, sessions);
  return { log, missing, sessions };
}

/**
 * Whether zeros that begin at `start` of a segment begin where a frame did, and reach to the end of its page: then they
 * are exactly what follows the last batch, and what is behind them is exactly like residue (N2 of segment-scan.ts).
 */
export function looksLikeTheEnd(segment: Uint8Array | undefined, start: number): boolean {
  const { pageBytes } = SMALL;
  const pageEnd = (Math.floor(start / pageBytes) + 1) * pageBytes;
  const beginsFrame = start === 0 || segment?.[start - 1] === 10;
  return beginsFrame && segment?.subarray(start, pageEnd).every((byte) => byte === 0) === true;
}

function isTold(log: EventLog, sessions: ReadonlyMap<string, Read>, { seq, session }: Expected): boolean {
  const { report } = log;
  const torn = report.torn.some((path) => path.endsWith(".wal")) && report.quarantined.length > 0;
  return (
    report.lost.some(({ from, to }) => seq >= from && seq <= to) ||
    report.frozen.some((frozen) => frozen.session === session) ||
    sessions.get(session)?.told === true ||
    report.walMissing ||
    (torn && seq > log.durable)
  );
}

function givesOut(session: string, whole: readonly number[], found: readonly number[] = []): void {
  const unseen = whole.filter((seq) => !found.includes(seq));
  ensure(unseen.length === 0, `${session}: ${unseen} stood there whole, but it gives out ${found}`); // H2
}

type Look = {
  readonly damage: readonly string[];
  /** The files of the write-ahead log that have an unfinished write. */
  readonly torn: readonly string[];
  readonly sessions: ReadonlyMap<string, Read>;
};

/** H4: on a disk that refuses every change, and is the same afterwards. */
function lookOnly(disk: SimDisk, genuine: ReadonlyMap<number, Expected>): Look {
  const before = filesOf(disk);
  disk.readOnly = true;
  const view = new LogView(disk, HOME);
  const { findings } = view.inspect();
  const sessions = new Map(view.sessions.map((name) => [name, collect(view.read(name), name, genuine)]));
  ensure(disk.fired.length === 0 && disk.openCount === 0, "whoever looks changes nothing and leaves nothing open");
  ensure(JSON.stringify(filesOf(disk)) === JSON.stringify(before), "not one byte is changed");
  const damage = findings.filter(({ kind }) => kind === "damage").map(({ where, what }) => `${where}: ${what}`);
  const torn = findings.filter(({ kind }) => kind === "torn").map(({ where }) => `${HOME}/${where}`);
  return { damage, torn: tornFiles(torn), sessions };
}

function tornFiles(paths: readonly string[]): string[] {
  return [...new Set(paths)].filter((path) => path.endsWith(".wal")).sort();
}

function agree(look: Look, { report }: EventLog, sessions: ReadonlyMap<string, Read>): void {
  const told = [...sessions.values()].some((read) => read.told);
  const harmed = told || report.lost.length > 0 || report.frozen.length > 0;
  ensure(harmed === look.damage.length > 0, `recovery and the view agree on damage: ${harmed}, ${look.damage}`);
  ensure(`${look.torn}` === `${tornFiles(report.torn)}`, `the view sees ${look.torn} torn, recovery ${report.torn}`);
  for (const [name, { seqs }] of sessions) {
    const seen = look.sessions.get(name)?.seqs ?? [];
    ensure(`${seen}` === `${seqs}`, `${name}: the view reads ${seen}, recovery ${seqs}`);
  }
}

/** H3, then a power cut, and everything is as it was before it. */
async function writeOn(disk: SimDisk, log: EventLog, sessions: ReadonlyMap<string, Read>): Promise<void> {
  const wrote = new Map<string, number>();
  for (const session of [...sessions.keys(), "agents/9999"]) {
    const answer = log.append([{ session, ts: "", event: "later", data: "again" }]);
    if (log.frozen(session) === undefined) {
      ensure(answer.ok, `${session} goes on`);
      await answer.value.durable;
      wrote.set(session, answer.value.first);
    } else ensure(!answer.ok && answer.error.code === "log.frozen", `${session} is frozen`);
  }
  const later = await openOn(disk.powerCut(nothing));
  for (const [session, seq] of wrote) {
    const seqs = [...later.read(session)].flatMap((reading) => (reading.kind === "entry" ? [reading.entry.seq] : []));
    ensure(seqs.at(-1) === seq, `${session} keeps what it took after the damage`);
    ensure(`${seqs.slice(0, -1)}` === `${sessions.get(session)?.seqs ?? []}`, `${session} loses nothing more`);
  }
}
