// Where a drill takes place: its own home, and a world that is limited to it.
// S1. Never the user's home: it is newly created, and the user's configuration is not read.
// S2. Its path is short, because a socket's path is limited (world/socket.ts, K1).
// S3. Every process of ours carries the home in a variable, so that none can be forgotten.
// S4. Aborting a drill stops its clock: every actor stays in its next wait, and nothing more is written.

import { assert } from "../base/assert.ts";
import { joinPath } from "../base/path.ts";
import { CRASH_HISTORY, WEB_LOCK } from "../home/layout.ts";
import { holderOf, runningOn } from "../home/running.ts";
import { writeAtomic } from "../log/file/atomic-file.ts";
import { removeIfThere, removeTree } from "../log/file/file.ts";
import type { Clock } from "../world/clock.ts";
import type { Console } from "../world/console.ts";
import type { ProcessIdentity } from "../world/process.ts";
import type { Self } from "../world/self.ts";
import type { Sockets } from "../world/socket.ts";
import type { World } from "../world/world.ts";

/** S3 */
export const DRILL_VARIABLE = "HOLDFAST_DRILL";

const USUAL_PLACE = "/tmp";
/** S2: this leaves room for the names of sockets and of terminals. */
const MAX_PLACE = 40;
const NAMES_TRIED = 100;

export type DrillWorld = World & { readonly console: Console; readonly sockets: Sockets; readonly self: Self };

/** `world`: for this home only (S1). */
export type Site = {
  readonly world: DrillWorld;
  readonly home: string;
  /** S4 */
  stopClock(): void;
};

export function makeSite(world: DrillWorld): Site {
  return siteAt(world, newDirectory(world, "hfd"));
}

/** `more`: variables that all its processes get, too. */
export function siteAt(world: DrillWorld, home: string, more: Readonly<Record<string, string>> = {}): Site {
  const ours = { HOLDFAST_CONFIG: configPath(home), HOLDFAST_HOME: home, [DRILL_VARIABLE]: home, ...more };
  const environment = (): Readonly<Record<string, string>> => ({ ...world.self.environment(), ...ours });
  const env = (name: string) => environment()[name];
  const { clock, stop } = stoppable(world.clock);
  const theirs = { ...world, clock, console: { ...world.console, env }, self: { ...world.self, environment } };
  return { world: theirs, home, stopClock: stop };
}

/** S4 */
export function stoppable(clock: Clock): { readonly clock: Clock; readonly stop: () => void } {
  let goes = true;
  const whileItGoes = (fn: () => void) => () => {
    if (goes) fn();
  };
  return {
    clock: {
      ...clock,
      after: (ms, fn) => clock.after(ms, whileItGoes(fn)),
      soon: (fn) => clock.soon(whileItGoes(fn)),
    },
    stop: () => {
      goes = false;
    },
  };
}

/** `most`: how long the path of the place for it may be (S2). */
export function newDirectory({ console, disk, random }: DrillWorld, prefix: string, most = MAX_PLACE): string {
  const given = console.env("TMPDIR");
  const place = given?.startsWith("/") && Buffer.byteLength(given) <= most ? given : USUAL_PLACE;
  for (let tried = 0; tried < NAMES_TRIED; tried += 1) {
    const directory = joinPath(place, `${prefix}-${random.bytes(4).toHex()}`);
    if (disk.makeDirectory(directory)) return directory; // S1
  }
  assert(false, `${place} has a directory for every name that was tried`);
}

function configPath(home: string): string {
  return joinPath(home, "config.toml");
}

export type CrashLoop = { readonly crashes: number; readonly windowS: number };

/** In effect with the next watchdog that is started. */
export function configure({ world, home }: Site, { crashes, windowS }: CrashLoop, more = ""): Promise<void> {
  const text = `[crash_loop]\ncrashes = ${crashes}\nwindow_s = ${windowS}\n${more}`;
  return writeAtomic(world.disk, configPath(home), Buffer.from(text));
}

/** Intended crashes must not count in the next phase. */
export function forgetCrashes({ world, home }: Site): void {
  removeIfThere(world.disk, joinPath(home, CRASH_HISTORY));
}

export type Running = {
  readonly watchdog: ProcessIdentity | undefined;
  readonly daemon: ProcessIdentity | undefined;
  readonly web: ProcessIdentity | undefined;
};

/** The living owners of this home's locks. */
export function whoRuns({ world, home }: Site): Running {
  return { ...runningOn(world, home), web: holderOf(world, joinPath(home, WEB_LOCK)) };
}

export function removeSite({ world, home }: Site): void {
  removeTree(world.disk, home);
}
