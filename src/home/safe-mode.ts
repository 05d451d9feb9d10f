// Safe mode: everything not needed to look after the running
// children is off, until the operator leaves it (SM-3, SM-4).
// S1. The file is the mode, since several programs read it and the operator changes it. Only what the disk has not
//     accepted yet is remembered here instead, until the file changes: a full disk does not prevent entering.
// S2. A file that exists and cannot be read means safe mode: it was written by someone, and this is the side on which
//     nothing is lost.
// S3. Entering a mode that is on, or leaving one that is off, changes nothing and is not published; but what the disk
//     has not accepted is retried, so that an operator can free some space and try again.
// S4. If the disk fails for a moment, the mode stays as the file said last: asking for it never ends a program.
// S5. Decisions ask whether it is on, each of them: for those the file is looked at once a second at most. A change of
//     our own is in force at once, one of another program or of a person within a second.

import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { refused } from "../base/result.ts";
import { readJson, writeJson } from "../log/file/json-file.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import { SAFE_MODE, TUNNEL_IDENTITY } from "./layout.ts";
import { type Complain, type RecoveryBus, tell, tolerating } from "./recovery-bus.ts";

export const SAFE_MODE_ENTERED = "recovery.safemode.entered";
export const SAFE_MODE_EXITED = "recovery.safemode.exited";

type Subsystem = { readonly name: string; readonly says: string };
const TUNNEL = "tunnel";

/** The file and the event contain their names, so that a banner needs nothing else (SM-6). */
const SAFE_MODE_OFF: readonly Subsystem[] = Object.freeze([
  { name: "providers", says: "provider adapters: new agent turns and workflow steps wait" },
  { name: TUNNEL, says: "the tunnel: this home cannot be reached through its relay" },
  { name: "background-checkpoints", says: "background checkpoint writes" },
]);

/** For people: what is off, by the names. */
export function offTexts(names: readonly string[]): string[] {
  return SAFE_MODE_OFF.filter(({ name }) => names.includes(name)).map(({ says }) => says);
}

/** A home that is not enrolled has no tunnel that could be off. */
export function safeModeOff(disk: Disk, home: string): string[] {
  const isEnrolled = readJson(disk, joinPath(home, TUNNEL_IDENTITY)) !== undefined;
  return SAFE_MODE_OFF.map(({ name }) => name).filter((name) => name !== TUNNEL || isEnrolled);
}

/** `recovery/safe-mode.json` */
export type SafeModeState =
  /** `since` is empty if it was never on. */
  | { readonly active: false; readonly since: string }
  | { readonly active: true; readonly reason: string; readonly since: string; readonly off: readonly string[] };

export type SafeModePlace = { readonly disk: Disk; readonly clock: Clock; readonly home: string };

export function safeModePath(home: string): string {
  return joinPath(home, SAFE_MODE);
}

/** For programs that ask now and then. A disk that does not answer is a file that cannot be read (S2). */
export function readSafeMode(disk: Disk, home: string): SafeModeState {
  try {
    return lookAt(disk, home);
  } catch (error) {
    if (!isFault(error)) throw error;
    return on({ disk, home }, unreadable(safeModePath(home)), "");
  }
}

/** Throws a Fault if the disk does not answer. */
function lookAt(disk: Disk, home: string): SafeModeState {
  const path = safeModePath(home);
  if (disk.stat(path) === undefined) return { active: false, since: "" };
  const found = readJson(disk, path);
  const text = (key: string, otherwise: string) => (typeof found?.[key] === "string" ? found[key] : otherwise);
  const since = text("since", "");
  if (found?.["active"] === false) return { active: false, since };
  return on({ disk, home }, text("reason", unreadable(path)), since); // S2
}

function unreadable(path: string): string {
  return `${path} cannot be read`;
}

function on({ disk, home }: Pick<SafeModePlace, "disk" | "home">, reason: string, since: string): SafeModeState {
  return { active: true, reason, since, off: safeModeOff(disk, home) };
}

/** For a home on which nothing runs: it starts like this. */
export function enterSafeMode({ disk, home }: Pick<SafeModePlace, "disk" | "home">, reason: string, now: number) {
  const state = on({ disk, home }, reason, new Date(now).toISOString());
  return writeJson(disk, safeModePath(home), { v: 1, ...state });
}

/** S5 */
const FRESH_MS = 1000;

type Unwritten = { readonly state: SafeModeState; readonly instead: SafeModeState };

export class SafeMode {
  readonly #place: SafeModePlace;
  readonly #complain: Complain;
  readonly #bus: RecoveryBus | undefined;
  /** What the disk has not accepted, and what the file contains instead (S1). */
  #unwritten: Unwritten | undefined;
  #seen: SafeModeState;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(place: SafeModePlace, complain: Complain, bus?: RecoveryBus) {
    this.#place = place;
    this.#seen = on(place, unreadable(safeModePath(place.home)), ""); // S2
    this.#complain = complain;
    this.#bus = bus;
  }

  get state(): SafeModeState {
    return this.#inForce(this.#look());
  }

  #inForce(file: SafeModeState): SafeModeState {
    const { state, instead } = this.#unwritten ?? { state: file, instead: file };
    return instead.active === file.active && instead.since === file.since ? state : file; // S1
  }

  /** S4 */
  #look(): SafeModeState {
    this.#lookedAt = this.#place.clock.elapsed();
    try {
      this.#seen = lookAt(this.#place.disk, this.#place.home);
    } catch (error) {
      if (!isFault(error)) throw error;
    }
    return this.#seen;
  }

  isActive(): boolean {
    const isFresh = this.#place.clock.elapsed() - this.#lookedAt < FRESH_MS; // S5
    return this.#inForce(isFresh ? this.#seen : this.#look()).active;
  }

  /** Why it is on, for a program that we start; undefined if the file cannot be read, since it looks for itself. */
  get reason(): string | undefined {
    const { state } = this;
    return state.active && state.reason !== unreadable(safeModePath(this.#place.home)) ? state.reason : undefined;
  }

  /** In force at once; resolves to whether it is durable. */
  async enter(reason: string): Promise<boolean> {
    if (this.state.active) return this.#settled(true); // S3
    return this.#change(on(this.#place, reason, this.#now()), SAFE_MODE_ENTERED);
  }

  /** Called for the operator: everything that was off may be on again. */
  async exit(): Promise<boolean> {
    if (!this.state.active) return this.#settled(false); // S3
    return this.#change({ active: false, since: this.#now() }, SAFE_MODE_EXITED);
  }

  #now(): string {
    return new Date(this.#place.clock.now()).toISOString();
  }

  async #change(state: SafeModeState, topic: string): Promise<boolean> {
    const mine = { state, instead: this.#look() };
    this.#unwritten = mine; // S1
    tell(this.#bus, this.#complain, [topic, state]);
    return this.#write(mine);
  }

  /** Whether the mode in force is durable; what the disk did not accept before is retried (S3). */
  async #settled(active: boolean): Promise<boolean> {
    const unwritten = this.#unwritten;
    const stands = this.#look().active === active;
    return stands || unwritten?.state.active !== active ? stands : this.#write(unwritten);
  }

  async #write(mine: Unwritten): Promise<boolean> {
    const { disk, home } = this.#place;
    const { state } = mine;
    const written = await tolerating(this.#complain, () => writeJson(disk, safeModePath(home), { v: 1, ...state }));
    if (written && this.#unwritten === mine) {
      this.#unwritten = undefined;
      this.#seen = state;
    }
    return written;
  }
}

export const STILL_SAFE = refused(
  "disk",
  "The disk refused the write: safe mode would be back after the next crash.",
  "`holdfast logs` says why. Free some space, then try again.",
);
