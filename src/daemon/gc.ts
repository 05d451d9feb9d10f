// Throws away what nobody needs any more: once a day by itself, and when asked to (`holdfast gc`).
// GC1. What cannot be removed is said and left; the rest goes on.
// GC2. By itself it trusts the wall clock only while that agrees with the machine's own: after a jump nothing is removed until
//      the new time has held for a day, or a clock that was set to the next century would take everything.
// GC3. In safe mode it is off: whatever is wrong, what is there may be needed to find out.
// GC4. An agent is let go of before its files go, and its log goes last, when it is durable that the others are gone: as long as any
//      of them may come back after a power cut, the log does too, and the next round finds it.
import { isFault } from "../base/fault.ts";
import { baseName, parentOf } from "../base/path.ts";
import type { Chosen } from "../core/retention.ts";
import type { HomeWorld } from "../home/held/holder-files.ts";
import { removeIfThere } from "../log/file/file.ts";
import { EVENTS_FILE } from "../log/session/places.ts";
import type { Config } from "../wire/files/config-schema.ts";
import type { GcResult } from "../wire/rpc/rpc.ts";
import { chooseGarbage, type GcPorts } from "./gc-survey.ts";

export type GarbagePorts = GcPorts & {
  /** Those of the agents that nobody remembers any more (GC4). */
  forget(agents: readonly string[]): Promise<ReadonlySet<string>>;
  isOff(): boolean;
  say(words: string): void;
  onBug(error: unknown): void;
};

/** Late enough that a start is over, and that a clock which is set after boot has been set. */
const FIRST_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;
/** A clock that is kept right by the network is moved by seconds. */
const JUMP_MS = 3_600_000;

export class Garbage {
  readonly #place: HomeWorld;
  readonly #rules: Config["retention"];
  readonly #ports: GarbagePorts;
  #cancel: () => void = () => undefined;
  #clocks = { now: 0, elapsed: 0 };
  #turn: Promise<unknown> = Promise.resolve();

  constructor(place: HomeWorld, rules: Config["retention"], ports: GarbagePorts) {
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
    this.#cancel();
  }

  /** One at a time. */
  collect(dryRun: boolean): Promise<GcResult> {
    const result = this.#turn.then(() => this.#collect(dryRun));
    this.#turn = result.catch(() => undefined); // Whoever asked for it hears of it.
    return result;
  }

  async #collect(dryRun: boolean): Promise<GcResult> {
    const chosen = chooseGarbage(this.#place, this.#ports, this.#rules);
    const agents = chosen.flatMap(({ agent }) => agent ?? []);
    const gone = dryRun || agents.length === 0 ? NOBODY : await this.#ports.forget(agents); // GC4
    const done: (Chosen & { readonly failed: string | undefined })[] = [];
    for (const each of chosen) done.push({ ...each, failed: dryRun ? undefined : await this.#removeAll(each, gone) });
    const removed = done.filter(({ failed }) => failed === undefined);
    return {
      dryRun,
      bytes: removed.reduce((sum, { bytes }) => sum + bytes, 0),
      items: removed.map(({ what, paths, bytes, reason }) => ({ what, path: paths.at(-1) ?? "", bytes, reason })),
      failed: done.flatMap(({ failed }) => failed ?? []),
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
    if (jumped) this.#ports.say("the clock was set: nothing is thrown away until it has held for a day"); // GC2
    if (jumped || this.#ports.isOff()) return; // GC3
    const { bytes, items, failed } = await this.collect(false);
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
  async #removeAll({ agent, paths }: Chosen, gone: ReadonlySet<string>): Promise<string | undefined> {
    if (agent !== undefined && !gone.has(agent)) return `agent ${agent} could not be let go of yet`;
    try {
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

  /** A directory in which there is more than ours stays. */
  #removeOne(path: string): void {
    const { disk } = this.#place;
    if (disk.stat(path)?.kind !== "directory") removeIfThere(disk, path);
    else if (disk.list(path).length === 0) disk.removeDirectory(path);
  }

  async #tolerating(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#ports.say(`nothing was thrown away: ${error.message}. ${error.hint}`);
    }
  }
}

const NOBODY: ReadonlySet<string> = new Set();
