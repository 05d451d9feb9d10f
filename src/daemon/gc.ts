// Throws away what nobody needs any more: once a day by itself, and when asked to (`holdfast gc`).
// GC1. What cannot be removed is said and left; the rest goes on.
// GC2. By itself it trusts the wall clock only while that agrees with the machine's own: after a jump nothing is removed until
//      the new time has held for a day, or a clock that was set to the next century would take everything.
// GC3. In safe mode it is off: whatever is wrong, what is there may be needed to find out.
import { isFault } from "../base/fault.ts";
import type { Chosen } from "../core/retention.ts";
import { removeIfThere } from "../log/file.ts";
import type { Config } from "../wire/config-schema.ts";
import type { GcResult } from "../wire/rpc.ts";
import { chooseGarbage, type GcPorts } from "./gc-survey.ts";
import type { HolderPlace } from "./holder-files.ts";

export type GarbagePorts = GcPorts & {
  isOff(): boolean;
  say(words: string): void;
};

/** Late enough that a start is over, and that a clock which is set after boot has been set. */
const FIRST_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;
/** A clock that is kept right by the network is moved by seconds. */
const JUMP_MS = 3_600_000;

export class Garbage {
  readonly #place: HolderPlace;
  readonly #rules: Config["retention"];
  readonly #ports: GarbagePorts;
  #callOff: () => void = () => undefined;
  #clocks = { now: 0, elapsed: 0 };

  constructor(place: HolderPlace, rules: Config["retention"], ports: GarbagePorts) {
    this.#place = place;
    this.#rules = rules;
    this.#ports = ports;
  }

  /** From now on, once a day. */
  start(): void {
    this.#readClocks();
    this.#again(FIRST_MS);
  }

  stop(): void {
    this.#callOff();
  }

  collect(dryRun: boolean): GcResult {
    const chosen = chooseGarbage(this.#place, this.#ports, this.#rules);
    const done = chosen.map((each) => ({ ...each, failed: dryRun ? undefined : this.#remove(each) }));
    const removed = done.filter(({ failed }) => failed === undefined);
    return {
      dryRun,
      bytes: removed.reduce((sum, { bytes }) => sum + bytes, 0),
      items: removed.map(({ what, paths, bytes, reason }) => ({ what, path: paths.at(-1) ?? "", bytes, reason })),
      failed: done.flatMap(({ failed }) => failed ?? []),
    };
  }

  #again(ms: number): void {
    this.#callOff();
    this.#callOff = this.#place.clock.after(ms, () => {
      this.#again(DAY_MS);
      this.#round();
    });
  }

  #round(): void {
    const jumped = this.#clockJumped();
    this.#readClocks();
    if (jumped) this.#ports.say("the clock was set: nothing is thrown away until it has held for a day"); // GC2
    if (jumped || this.#ports.isOff()) return; // GC3
    const { bytes, items, failed } = this.#tolerating(() => this.collect(false)) ?? NOTHING;
    if (items.length > 0) this.#ports.say(`threw away ${items.length} things that nobody needs: ${bytes} bytes`);
    for (const words of failed) this.#ports.say(`could not be thrown away: ${words}`);
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

  /** Why it could not (GC1); undefined where it is gone. */
  #remove({ paths }: Chosen): string | undefined {
    try {
      for (const path of paths) this.#removeOne(path);
      return undefined;
    } catch (error) {
      if (!isFault(error)) throw error;
      return error.message;
    }
  }

  /** A directory in which there is more than ours stays. */
  #removeOne(path: string): void {
    const { disk } = this.#place;
    if (disk.stat(path)?.kind !== "directory") removeIfThere(disk, path);
    else if (disk.list(path).length === 0) disk.removeDirectory(path);
  }

  #tolerating<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#ports.say(`nothing was thrown away: ${error.message}. ${error.hint}`);
      return undefined;
    }
  }
}

const NOTHING: GcResult = { dryRun: false, bytes: 0, items: [], failed: [] };
