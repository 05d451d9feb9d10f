// Deletes what is no longer needed: once a day, and on request (`holdfast gc`).
// GC1. A failed removal is reported and the thing is left; the others are still removed.
// GC2. The daily round trusts the wall clock only while it agrees with the monotonic clock: after a jump nothing is
//      removed until the new time has held for a day. Otherwise a clock set to the next century would delete
//      everything.
// GC3. It is off in safe mode: whatever is wrong, the files may be needed to find out. Nor is anything removed while a
//      backup is being written.
// GC4. If a session's log is to be removed, its part forgets the session before any of its files are removed, and its
//      log is removed last, when the removal of the others is durable: as long as any of them may come back after a
//      power cut, the log does too, and the next round finds it. Only the checkpoints of an agent go after it (GA2 of
//      agent/gc.ts).
// GC5. The owner names what can be deleted: each part for its sessions, and this file for reports and quarantine. The
//      write-ahead log and the recovery's own records are never included, because recovery reads them.
// GC6. If a part cannot name what it can delete, because of a bug, that is reported, and the others' is still deleted.
// GC7. What may hold somebody's work is looked at first. If it must stay, so does everything that belongs to it; the
//      reason is reported, with what to do.

import { isFault } from "../base/fault.ts";
import { baseName, joinPath, parentOf } from "../base/path.ts";
import { beyond, type Chosen, daysMs, type Thing } from "../core/retention.ts";
import type { HomeWorld } from "../home/held/holder-files.ts";
import { REPORTS } from "../home/layout.ts";
import { removeIfThere } from "../log/file/file.ts";
import { listQuarantine } from "../log/file/quarantine.ts";
import { EVENTS_FILE } from "../log/session/places.ts";
import type { Config } from "../wire/files/config-schema.ts";
import { whole, wholeWords } from "../wire/rpc/page.ts";
import type { GcResult } from "../wire/rpc/rpc.ts";
import type { Disk } from "../world/disk.ts";

/** Forgets these sessions; returns those that were forgotten (GC4). */
export type Forget = (ids: readonly string[]) => Promise<ReadonlySet<string>>;

/** What is removed with a thing, unless it holds work (GC7). */
export type Work = {
  readonly what: string;
  /** Its size, or why it must stay. */
  look(): Promise<{ readonly bytes: number } | { readonly kept: string }>;
  /** Returns why it could not be removed. */
  remove(): Promise<string | undefined>;
};

/** Something to remove, and why. `session`: the session whose log is among the paths, to be forgotten first. */
export type Garbage = Chosen & {
  readonly session?: { readonly id: string; readonly forget: Forget };
  readonly work?: Work | undefined;
};

export type CollectorPorts = {
  /** They name what they can delete (GC5). */
  readonly parts: readonly { garbage(rules: Config["retention"]): readonly Garbage[] }[];
  /** Called after something was removed. */
  collected?(): void;
  isOff(): boolean;
  say(words: string): void;
  onBug(error: unknown): void;
};

/** Late enough that the start is over, and that a clock which is set after boot has been set. */
const FIRST_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;
/** A clock that is synchronised by the network is moved by seconds. */
const JUMP_MS = 3_600_000;

export class GarbageCollector {
  readonly #place: HomeWorld;
  #rules: Config["retention"];
  readonly #ports: CollectorPorts;
  #cancel: () => void = () => undefined;
  #clocks = { now: 0, elapsed: 0 };
  #turn: Promise<unknown> = Promise.resolve();

  constructor(place: HomeWorld, rules: Config["retention"], ports: CollectorPorts) {
    this.#place = place;
    this.#rules = rules;
    this.#ports = ports;
  }

  /** From the next round on. */
  follow(rules: Config["retention"]): void {
    this.#rules = rules;
  }

  /** Schedules the daily rounds. */
  start(): void {
    this.#readClocks();
    this.#again(FIRST_MS);
  }

  stop(): void {
    this.#cancel();
  }

  /** Resolves when nothing that was begun is being removed. */
  get settled(): Promise<unknown> {
    return this.#turn;
  }

  /** One at a time. */
  collect(dryRun: boolean): Promise<GcResult> {
    const result = this.#turn.then(() => this.#collect(dryRun));
    this.#turn = result.catch(() => undefined); // The caller gets the error.
    return result;
  }

  async #collect(dryRun: boolean): Promise<GcResult> {
    const bugs: string[] = [];
    const parts = [...this.#ports.parts, { garbage: () => homeGarbage(this.#place, this.#rules) }]; // GC5
    const found = parts.flatMap((part) => named(() => part.garbage(this.#rules), bugs));
    const { chosen, kept } = await withoutWork(found);
    const gone = dryRun ? NONE : await forgetAll(chosen);
    const done: (Garbage & { readonly failed: string | undefined })[] = [];
    for (const each of chosen) done.push({ ...each, failed: dryRun ? undefined : await this.#removeAll(each, gone) });
    const removed = done.filter(({ failed }) => failed === undefined);
    if (!dryRun && removed.length > 0) this.#ports.collected?.();
    return {
      dryRun,
      bytes: removed.reduce((sum, { bytes }) => sum + bytes, 0),
      ...whole(removed.map(({ what, paths, bytes, reason }) => ({ what, path: paths.at(-1) ?? "", bytes, reason }))),
      failed: wholeWords([...bugs, ...done.flatMap(({ failed }) => failed ?? [])]),
      kept: wholeWords(kept),
    };
  }

  #again(ms: number): void {
    this.#cancel();
    this.#cancel = this.#place.clock.after(ms, () => {
      this.#again(DAY_MS);
      void this.#tolerating(() => this.#round()).catch(this.#ports.onBug);
    });
  }

  async #round(): Promise<void> {
    const jumped = this.#clockJumped();
    this.#readClocks();
    if (jumped) this.#ports.say("the clock was set: nothing is deleted until it has held for a day"); // GC2
    if (jumped || this.#ports.isOff()) return; // GC3
    const { bytes, items, more = 0, failed, kept = [] } = await this.collect(false);
    if (items.length > 0)
      this.#ports.say(`deleted ${items.length + more} things that are no longer needed: ${bytes} bytes`);
    for (const words of failed) this.#ports.say(`could not be deleted: ${words}`);
    for (const words of kept) this.#ports.say(`kept: ${words}`);
  }

  #clockJumped(): boolean {
    const { now, elapsed } = this.#clocks;
    const { clock } = this.#place;
    return Math.abs(clock.now() - now - (clock.elapsed() - elapsed)) > JUMP_MS;
  }

  #readClocks(): void {
    const { clock } = this.#place;
    this.#clocks = { now: clock.now(), elapsed: clock.elapsed() };
  }

  /** Returns why it could not be removed (GC1); undefined if it is gone. */
  async #removeAll({ session, work, paths }: Garbage, gone: ReadonlySet<string>): Promise<string | undefined> {
    if (session !== undefined && !gone.has(session.id)) return `${session.id} could not be forgotten yet`;
    try {
      const failed = await work?.remove();
      if (failed !== undefined) return failed;
      for (const path of paths) {
        if (baseName(path) === EVENTS_FILE) await this.#place.disk.syncDirectory(parentOf(path)); // GC4
        this.#removeOne(path);
      }
      return undefined;
    } catch (error) {
      if (!isFault(error)) throw error;
      return error.message;
    }
  }

  /** A directory that still holds other files stays. */
  #removeOne(path: string): void {
    const { disk } = this.#place;
    if (disk.lstat(path)?.kind !== "directory") removeIfThere(disk, path);
    else if (disk.list(path).length === 0) disk.removeDirectory(path);
  }

  async #tolerating(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#ports.say(`nothing was deleted: ${error.message}. ${error.hint}`);
    }
  }
}

const NONE: ReadonlySet<string> = new Set();

/** GC4. One call for all sessions of the same owner. */
async function forgetAll(garbage: readonly Garbage[]): Promise<ReadonlySet<string>> {
  const sessions = garbage.flatMap(({ session }) => session ?? []);
  const gone = await Promise.all(
    [...Map.groupBy(sessions, ({ forget }) => forget)].map(([forget, of]) => forget(of.map(({ id }) => id))),
  );
  return new Set(gone.flatMap((ids) => [...ids]));
}

/** GC7 */
async function withoutWork(found: readonly Garbage[]): Promise<{ chosen: Garbage[]; kept: string[] }> {
  const [chosen, kept]: [Garbage[], string[]] = [[], []];
  for (const each of found) {
    const looked = (await each.work?.look()) ?? { bytes: 0 };
    if ("kept" in looked) kept.push(looked.kept);
    else chosen.push({ ...each, bytes: each.bytes + looked.bytes });
  }
  return { chosen, kept };
}

/** GC6 */
function named(garbage: () => readonly Garbage[], bugs: string[]): readonly Garbage[] {
  try {
    return garbage();
  } catch (error) {
    if (isFault(error)) throw error;
    bugs.push(`holdfast has a bug: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
}

/** What belongs to no part of the daemon. */
function homeGarbage({ disk, home, clock }: HomeWorld, rules: Config["retention"]): Garbage[] {
  const aside = { ageMs: daysMs(rules.quarantineDays), bytes: rules.quarantineBytes };
  return [
    ...beyond(reports(disk, home), { ageMs: daysMs(rules.reportDays), count: rules.reports }, clock.now()),
    ...beyond(quarantined(disk, home), aside, clock.now()),
  ];
}

/** Without the newest, which `holdfast recovery report` shows. */
function reports(disk: Disk, home: string): Thing[] {
  const directory = joinPath(home, REPORTS);
  const names = disk
    .list(directory)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .slice(0, -1);
  return names.map((name) => {
    const [, date, hour, minute, second] = /^(.{10}T)(\d\d)-(\d\d)-(\d\d)/.exec(name) ?? [];
    const at = timeOf(`${date}${hour}:${minute}:${second}Z`);
    return { ...sized(disk, "report of a recovery", [joinPath(directory, name)]), at };
  });
}

function quarantined(disk: Disk, home: string): Thing[] {
  const names = disk.list(joinPath(home, "quarantine"));
  return listQuarantine(disk, home).map(({ path, notes }) => {
    const ours = names.filter((name) => name.startsWith(`${baseName(path)}.`));
    const paths = [path, ...ours.map((name) => joinPath(joinPath(home, "quarantine"), name))];
    const times = notes.flatMap(({ at }) => timeOf(at) ?? []);
    return { ...sized(disk, "quarantine", paths), at: times.length === 0 ? undefined : Math.max(...times) };
  });
}

/** Adds the total size of its files. */
export function sized(disk: Disk, what: string, paths: readonly string[]): Omit<Thing, "at"> {
  const sizes = paths.map((path) => disk.lstat(path)).map((stat) => (stat?.kind === "file" ? stat.size : 0));
  return { what, paths, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

/** Undefined if the text is not a time. */
export function timeOf(text: string): number | undefined {
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
