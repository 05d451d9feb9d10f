// The daemon's clock: durations run on the machine's time since boot, whatever happens to the wall clock.
// TK1. Every decision looks at the clocks first. If the wall clock was set, all times that are waited for are moved
//      with it (core/due-times.ts): what was decided before is by the old clock, what is decided afterwards by the new.
// TK2. Time that the machine is asleep counts: only timers stand still then, and are set again.
// TK3. What was moved, and the difference of the clocks, are on disk: a daemon that starts in the same boot finds out
//      whether the clock was set in between. After a reboot only the wall clock is left; if it is behind the last time
//      that is known (there may be no battery, and nobody has set it yet), what waits, waits as long as it did then.
// TK5. While anything is decided, the present time is written once a minute; while nothing is, nothing is written.
// TK4. A clock that cannot be read, and a file that cannot be written, are reported once and tried again; a daemon that
//      could not read it at its start follows the wall clock.
import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { type Left, leftUntil, type MovedTimes, movedBy } from "../core/due-times.ts";
import type { HomeWorld } from "../home/held/holder-files.ts";
import { CLOCK } from "../home/layout.ts";
import { readJson, writeJson } from "../log/file/json-file.ts";

/** Less than this is how a clock is corrected all the time. */
const NOTICED_MS = 1_000;
/** TK5 */
const SEEN_MS = 60_000;
const INIT = 1;

export type Times = {
  /** The wall clock. */
  now(): number;
  /** Milliseconds until a time that is waited for; 0 or less if it has come. */
  readonly left: Left;
};

export type TimekeeperPorts = {
  /** All times that are waited for. */
  waits(): Iterable<string>;
  /** The clock was set, or the machine was asleep: timers are late, or early. */
  changed(): void;
  say(words: string): void;
};

type Kept = { readonly boot: string; readonly offset: number; readonly seen: number };

export class Timekeeper implements Times {
  readonly #place: HomeWorld;
  readonly #ports: TimekeeperPorts;
  #moved: MovedTimes = new Map();
  /** The wall clock, less the time since boot; undefined before everything is read. */
  #offset: number | undefined;
  /** The wall clock, less the time of this process. */
  #apart = 0;
  /** The wall clock when something was last decided, and that on disk (TK5). */
  #seen = 0;
  #seenOnDisk = 0;
  #unsaved = false;
  #complained = false;

  constructor(place: HomeWorld, ports: TimekeeperPorts) {
    this.#place = place;
    this.#ports = ports;
  }

  now(): number {
    this.#look();
    this.#seen = this.#place.clock.now();
    return this.#seen;
  }

  readonly left: Left = (due) => leftUntil(due, this.now(), this.#moved);

  /** TK3. Called once all sessions are read, before anything is decided about them. */
  async begin(): Promise<void> {
    if (this.#offset !== undefined) return; // A recovery that is retried: we have noticed everything since.
    const { disk, home } = this.#place;
    const file = readJson(disk, joinPath(home, CLOCK));
    this.#moved = movedBy(movedIn(file), this.#ports.waits(), 0);
    const kept = keptIn(file);
    const boot = this.#boot();
    this.#unsaved = kept?.boot !== boot;
    this.#try(() => {
      this.#offset = this.#present();
      if (kept?.boot === boot) this.#compare(kept.offset);
      else if (kept !== undefined) this.#notBefore(kept.seen);
    });
    await this.tend();
  }

  /** Called on every heartbeat. */
  async tend(): Promise<void> {
    this.#look();
    const isOld = Math.abs(this.#seen - this.#seenOnDisk) >= SEEN_MS; // TK5
    if (!(this.#unsaved || isOld) || this.#offset === undefined) return;
    this.#unsaved = false;
    const { disk, home, clock } = this.#place;
    const moved = Object.fromEntries(this.#moved);
    this.#seenOnDisk = clock.now();
    this.#seen = this.#seenOnDisk;
    const known = { boot: this.#boot(), offset: this.#offset, seen: this.#seen };
    try {
      await writeJson(disk, joinPath(home, CLOCK), { v: 1, ...known, moved });
    } catch (error) {
      this.#unsaved = true;
      this.#complain(error);
    }
  }

  /** TK1. Costs next to nothing if the two clocks of this process agree. */
  #look(): void {
    const { clock } = this.#place;
    const before = this.#offset;
    if (before === undefined || Math.abs(clock.now() - clock.elapsed() - this.#apart) < NOTICED_MS) return;
    if (this.#try(() => this.#compare(before))) this.#ports.changed(); // TK2
  }

  #compare(before: number): void {
    const now = this.#present();
    this.#offset = before;
    if (Math.abs(now - before) < NOTICED_MS) return;
    this.#move(`was set by ${Math.round((now - before) / 1000)} s`, now - before);
    this.#offset = now;
  }

  /** TK3. In a new boot. */
  #notBefore(seen: number): void {
    const behindMs = seen - this.#place.clock.now();
    if (behindMs >= NOTICED_MS) this.#move(`is ${Math.round(behindMs / 1000)} s behind the last known time`, -behindMs);
  }

  #move(why: string, byMs: number): void {
    this.#ports.say(`the clock ${why}: what waits, waits as long as before`);
    this.#moved = movedBy(this.#moved, this.#ports.waits(), byMs);
    this.#unsaved = true;
  }

  #present(): number {
    const { clock } = this.#place;
    const offset = clock.now() - clock.sinceBoot();
    this.#apart = clock.now() - clock.elapsed();
    return offset;
  }

  /** In a container the time since boot may be its own, and the boot that of the machine: the first process knows. */
  #boot(): string {
    const { processes } = this.#place;
    return `${processes.bootId()}/${processes.startTime(INIT) ?? 0}`;
  }

  #try(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      this.#complain(error);
      return false;
    }
  }

  /** TK4 */
  #complain(error: unknown): void {
    if (!isFault(error)) throw error;
    if (!this.#complained) this.#ports.say(`the clocks: ${error.message}. ${error.hint}`);
    this.#complained = true;
  }
}

function keptIn(file: ReturnType<typeof readJson>): Kept | undefined {
  const boot = file?.["boot"];
  const offset = file?.["offset"];
  const seen = file?.["seen"];
  if (typeof boot !== "string" || typeof offset !== "number") return undefined;
  return { boot, offset, seen: typeof seen === "number" ? seen : 0 }; // Version 0.1 did not write it.
}

function movedIn(file: ReturnType<typeof readJson>): MovedTimes {
  const entries = Object.entries(file?.["moved"] ?? {});
  return new Map(entries.filter((entry): entry is [string, number] => typeof entry[1] === "number"));
}
