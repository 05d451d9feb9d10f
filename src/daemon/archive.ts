// Finished sessions are archived: they leave memory and the log, and no start reads them again. Requests find them as
// before. The reasons are in docs/decisions/0029-archive.md and 0033-archived-agents.md.
// AR1. Only a session that is over and quiet is archived: nothing works on it, no request uses it, and its log is
//      drained, also after a crash. The most recent ones stay (`notAtHand` of core/retention.ts).
// AR2. It leaves the store, the log and its directory's old name in one step without a pause: a request finds it alive
//      or archived, and nothing can be decided about it in between. A crash leaves it in one of the two as well.
// AR3. Its line is in the index before (AI2 of log/session/archive-index.ts).
// AR4. A request that only looks reads it where it is. One that may change it brings it back first. Its old name is
//      durable before the log accepts an entry: after a power cut, the entries and their session are in one place. If
//      the name cannot be made durable, the session is archived again, so that the next request makes a new change.
// AR5. Neither way costs more the more is archived: one that comes back leaves its line where it is, and gets another
//      one if it has changed. The index is written anew only when most of its lines no longer count.
// AR6. It happens in small steps, never in safe mode or while a backup is written, and what fails is logged and tried
//      again later.
import { isFault } from "../base/fault.ts";
import { joinPath, parentOf } from "../base/path.ts";
import { notAtHand } from "../core/retention.ts";
import type { HomeWorld } from "../home/held/holder-files.ts";
import type { EventLog } from "../log/event-log.ts";
import type { ArchivedLine } from "../log/session/archive-index.ts";
import { archivedLog } from "../log/session/archived-log.ts";
import type { Json } from "../log/session/entry.ts";
import { foldWhole } from "../log/session/fold-log.ts";
import { logBytes } from "../log/session/log-segments.ts";
import { archivedName, EVENTS_FILE, findArchived, listArchived } from "../log/session/places.ts";
import type { Disk } from "../world/disk.ts";
import { inSlices } from "../world/slices.ts";
import { ArchivedLines, MIN_LINES } from "./archive-lines.ts";
import { type Folding, foldAgain, idOf } from "./fold.ts";
import type { PartBorder } from "./part.ts";
import type { Kind, SessionStore } from "./session-store.ts";

/** What a part knows of its sessions. */
export type Archiving<K extends Kind> = {
  readonly folding: Folding<K>;
  session(state: K["state"]): string;
  /** Those that are over, and need nothing that has to be done. */
  over(): Iterable<K["state"]>;
  /** When it ended; null if it is not known. */
  endedAt(state: K["state"]): string | null;
  /** Whether nothing works on it beside the store. */
  isQuiet(id: string): boolean;
  /** What lists show of it; null if they show nothing. */
  row(state: K["state"]): Json;
  /** Forgets what is remembered of its files; also called when one was read in the archive. */
  forget(id: string, session: string): void;
  /** Called when it was archived. */
  left?(state: K["state"]): void;
};

export type ArchivePorts<K extends Kind> = {
  readonly place: HomeWorld;
  readonly log: EventLog;
  readonly store: SessionStore<K>;
  readonly border: PartBorder;
  /** How long an ended session stays at hand. */
  readonly afterMs: number;
  isOff(): boolean;
};

/** Between two looks for sessions to archive. */
const EVERY_MS = 10_000;
/** How many are archived with one sync: short enough not to delay a request. */
const AT_ONCE = 32;
/** How many ended sessions stay at hand, even if they ended just now. */
const KEPT = 100;

type Returning = { readonly session: string; readonly done: Promise<void> };

export class Archive<K extends Kind> extends ArchivedLines {
  readonly #ports: ArchivePorts<K>;
  readonly #kind: Archiving<K>;
  /** How many requests use a session. */
  readonly #used = new Map<string, number>();
  readonly #returning = new Map<string, Returning>();
  /** Those that were brought back, with the end of the log then (AR5). */
  readonly #back = new Map<string, number>();
  /** The end of the log when this daemon began. */
  readonly #began: number;
  /** How many got another line since the index was last looked through. */
  #again = 0;
  #next = 0;
  #round: Promise<void> = Promise.resolve();
  #state: "idle" | "working" | "closed" = "idle";

  constructor(ports: ArchivePorts<K>, kind: Archiving<K>) {
    const [first = ""] = kind.folding.place.split("/");
    super(ports.place, first, (id) => this.#returning.has(id));
    this.#ports = ports;
    this.#kind = kind;
    this.#began = ports.log.end;
    ports.border.keepsAlive((id, work) => this.#keepAlive(id, work));
  }

  /** Called when the daemon is live, and on every heartbeat. */
  tick(): void {
    const { place, border, isOff } = this.#ports;
    if (this.#state !== "idle" || isOff() || place.clock.elapsed() < this.#next) return; // AR6
    this.#next = place.clock.elapsed() + Math.min(EVERY_MS, this.#ports.afterMs);
    border.outcome(() => border.tolerating(() => this.round()));
  }

  /** Archives what is due. One at a time; a failure of the disk is a Fault. */
  round(): Promise<void> {
    this.#state = "working";
    const round = this.#work().finally(() => {
      if (this.#state === "working") this.#state = "idle";
    });
    this.#round = round.catch(() => undefined); // The caller gets the error.
    return round;
  }

  /** Begins nothing new; resolves when what was begun is done. */
  async stop(): Promise<void> {
    this.#state = "closed";
    await this.#round;
  }

  async #work(): Promise<void> {
    this.isWhole ??= this.index.isThere || listArchived(...this.#where()).length === 0;
    if (!this.isWhole) await this.rewrite();
    const due = await inSlices(this.#ports.place.clock, this.#due(), () => undefined); // AR6
    const listed = await this.#listed(due.map((state) => this.#kind.session(state)));
    for (let at = 0; at < due.length && this.#state === "working"; at += AT_ONCE) {
      await this.#archive(due.slice(at, at + AT_ONCE), listed);
      await this.#others();
    }
  }

  /** AR6. Other work has its turn. */
  #others(): Promise<void> {
    return new Promise((go) => this.#ports.place.clock.soon(go));
  }

  #where(): [Disk, string, string] {
    const { disk, home } = this.#ports.place;
    return [disk, home, this.#kind.folding.place];
  }

  /** AR1 */
  *#due(): Generator<undefined, K["state"][]> {
    const { place, afterMs } = this.#ports;
    const ended = [...this.#kind.over()].map((state) => ({ state, at: timeOf(this.#kind.endedAt(state)) }));
    const due: K["state"][] = [];
    for (const { state } of notAtHand(ended, { ageMs: afterMs, count: KEPT }, place.clock.now())) {
      if (this.#mayGo(state)) due.push(state);
      yield undefined;
    }
    return due;
  }

  #mayGo(state: K["state"]): boolean {
    if (this.#ports.isOff()) return false; // AR6. Since a moment ago, perhaps.
    const { log, store } = this.#ports;
    const session = this.#kind.session(state);
    const id = idOf(session);
    if (this.#used.has(id) || store.settled(id) !== state || store.states.get(id) !== state) return false;
    return log.frozen(session) === undefined && log.isDrained(session) && this.#kind.isQuiet(id);
  }

  /** `listed`: those that need no other line. */
  async #archive(states: readonly K["state"][], listed: ReadonlySet<string>): Promise<void> {
    const { disk, home } = this.#ports.place;
    const all = states.map((state) => ({ state, line: this.#lineOf(this.#kind.session(state), state) }));
    const fresh = all.flatMap(({ line }) => (listed.has(line.session) ? [] : [line]));
    if (fresh.length > 0) await this.index.append(fresh); // AR3
    const parents = new Set<string>();
    for (const { state, line } of all) {
      if (!this.#mayGo(state) || line.log !== this.lengthOf(line.session)) continue; // AI1
      this.#leave(state);
      parents.add(parentOf(joinPath(home, line.session)));
    }
    for (const parent of parents) await disk.syncDirectory(parent);
    if (this.#again < MIN_LINES) return;
    this.#again = 0;
    this.collected(); // AR5
  }

  /**
   * AR5. Those that were archived before, and have not changed since: their lines count again. One that this daemon has
   * not changed may have been brought back by an earlier one: only if there are such, the index is read.
   */
  async #listed(sessions: readonly string[]): Promise<ReadonlySet<string>> {
    const { log } = this.#ports;
    const isBack = (session: string) => log.lastSeq(session) <= (this.#back.get(session) ?? -1);
    const listed = new Set(sessions.filter(isBack));
    const older = new Set(sessions.filter((one) => !this.#back.has(one) && log.lastSeq(one) <= this.#began));
    let read = 0;
    for (const { line } of older.size === 0 ? [] : this.index.newest()) {
      read += 1;
      if (read % AT_ONCE === 0) await this.#others();
      if (line === undefined || !older.has(line.session)) continue;
      // Its file may have become another one of the same length.
      const isSame = line.log === this.lengthOf(line.session) && log.lastSeq(line.session) <= line.end;
      if (line.log !== undefined && isSame) listed.add(line.session);
    }
    return listed;
  }

  /** AR2 */
  #leave(state: K["state"]): void {
    const { place, log, store } = this.#ports;
    const session = this.#kind.session(state);
    place.disk.rename(joinPath(place.home, session), joinPath(place.home, archivedName(session)));
    log.release(session);
    if (this.#back.delete(session)) this.#again += 1;
    store.put(idOf(session), undefined);
    this.#kind.forget(idOf(session), session);
    this.#kind.left?.(state);
  }

  #lineOf(session: string, state: K["state"]): ArchivedLine {
    const { place, log } = this.#ports;
    const { row, endedAt } = this.#kind;
    const at = endedAt(state);
    const known = { session, at, end: log.end, row: row(state) };
    return { ...known, ...measured(place.disk, joinPath(place.home, session)) };
  }

  /** An archived session as it is on disk (AR4); undefined if there is none with this id. */
  look(id: string): K["state"] | undefined {
    const session = this.#sessionOf(id);
    return session === undefined ? undefined : this.#read(session);
  }

  /** Whether it is archived, or is just being brought back. */
  has(id: string): boolean {
    return this.#sessionOf(id) !== undefined;
  }

  #sessionOf(id: string): string | undefined {
    const { disk, home } = this.#ports.place;
    return this.#returning.get(id)?.session ?? findArchived(disk, home, this.#kind.folding.place, id);
  }

  #read(session: string): K["state"] | undefined {
    const { place, store } = this.#ports;
    const { folding, forget } = this.#kind;
    try {
      const { state, trouble } = foldWhole<K["state"], K["event"]>(archivedLog(place.disk, place.home), session, {
        saved: folding.load?.(session),
        eventOf: (entry) => folding.eventOf(entry),
        apply: (before, event) => store.apply(before, event),
      });
      if (state === undefined) return undefined;
      if (trouble !== undefined && !store.isOver(state)) return folding.aside(state, trouble);
      return folding.kept?.(state) ?? state;
    } catch (error) {
      if (isFault(error)) throw error;
      return undefined; // As one that was set aside at a start.
    } finally {
      forget(idOf(session), session);
    }
  }

  /** Does something that may change a session: it is alive meanwhile (AR4). */
  async #keepAlive<T>(id: string, work: () => Promise<T>): Promise<T> {
    this.#used.set(id, (this.#used.get(id) ?? 0) + 1);
    try {
      await this.#bringBack(id);
      return await work();
    } finally {
      const left = (this.#used.get(id) ?? 0) - 1;
      if (left > 0) this.#used.set(id, left);
      else this.#used.delete(id);
    }
  }

  async #bringBack(id: string): Promise<void> {
    const { place, store } = this.#ports;
    const { disk, home } = place;
    if (store.states.has(id)) return;
    const returning = this.#returning.get(id);
    if (returning !== undefined) return returning.done;
    const session = findArchived(disk, home, this.#kind.folding.place, id);
    if (session === undefined) return;
    const done = this.#return(session).finally(() => this.#returning.delete(id));
    this.#returning.set(id, { session, done });
    await done;
  }

  /** AR4 */
  async #return(session: string): Promise<void> {
    const { place, log, store, border } = this.#ports;
    const { disk, home } = place;
    const [living, archived] = [joinPath(home, session), joinPath(home, archivedName(session))];
    disk.rename(archived, living);
    this.#back.set(session, log.end); // AR5
    try {
      await disk.syncDirectory(parentOf(living));
    } catch (error) {
      disk.rename(living, archived);
      this.#back.delete(session);
      throw error;
    }
    log.adopt(session);
    foldAgain({ border, log, store }, this.#kind.folding, session);
  }

  /**
   * Writes the index anew, from the directories and what it has of them (AI2). The last line is not always that of the
   * newest entry: each of them says how far the log is now.
   */
  async rewrite(): Promise<void> {
    const { end } = this.#ports.log;
    const known = new Map<string, ArchivedLine>();
    for (const line of this.lines()) {
      known.set(line.session, line);
      if (known.size % AT_ONCE === 0) await this.#others();
    }
    const lines: ArchivedLine[] = [];
    for (const session of listArchived(...this.#where())) {
      const line = known.get(session) ?? this.#newLine(session);
      lines.push({ ...line, end, log: this.lengthOf(session) ?? 0 });
      if (line !== known.get(session)) await this.#others();
    }
    lines.sort((one, other) => (timeOf(one.at) ?? 0) - (timeOf(other.at) ?? 0));
    await this.index.rewrite(lines);
    const listed = new Set(lines.map(({ session }) => session));
    for (const session of this.#back.keys()) if (!listed.has(session)) this.#back.delete(session);
    this.isWhole = true;
  }

  /** Of one that cannot be read, nothing is shown. Garbage collection still finds it. */
  #newLine(session: string): ArchivedLine {
    const { place, log } = this.#ports;
    const directory = joinPath(place.home, archivedName(session));
    const state = this.#read(session);
    const at = state === undefined ? null : this.#kind.endedAt(state);
    const row = state === undefined ? null : this.#kind.row(state);
    const changed = new Date(place.disk.stat(directory)?.modifiedMs ?? 0).toISOString();
    return { session, at: at ?? changed, end: log.end, row, ...measured(place.disk, directory) };
  }
}

const KEPT_LONGEST: readonly string[] = ["checkpoint.json", "session.json"];

function measured(disk: Disk, directory: string): Pick<ArchivedLine, "bytes" | "kept" | "log"> {
  const sizeNow = (name: string) => disk.lstat(joinPath(directory, name))?.size ?? 0;
  const kept = KEPT_LONGEST.reduce((sum, name) => sum + sizeNow(name), logBytes(disk, directory));
  return { bytes: sizeOf(disk, directory), kept, log: sizeNow(EVENTS_FILE) };
}

function sizeOf(disk: Disk, path: string): number {
  const stat = disk.lstat(path);
  if (stat?.kind !== "directory") return stat?.kind === "file" ? stat.size : 0;
  return disk.list(path).reduce((sum, name) => sum + sizeOf(disk, joinPath(path, name)), 0);
}

function timeOf(text: string | null): number | undefined {
  const time = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
