// What is wrong with a home that should be up, with the next command: for `status`, which then fails, and for `doctor`.
// TR1. A start that we have just begun ourselves is not trouble; a watchdog that runs without a daemon is.
// TR2. The page is in trouble if its last crash is on record and it is not back. Without a record it may be starting.
// TR3. Output that is not recorded is kept by its holder, as far as there is room: it can still be read.
// TR4. Safe mode is trouble until a person leaves it: it was entered because Holdfast kept crashing, and what is off
//      stays off.

import { readLastCrash } from "../home/last-crash.ts";
import { wantedOn } from "../home/wanted.ts";
import type { Trouble } from "../wire/rpc/rpc.ts";
import type { Disk } from "../world/disk.ts";
import { lastLogLine } from "./log-file.ts";
import { hangs } from "./start.ts";

type Place = { readonly disk: Disk; readonly home: string };
type MaybeRunning = { readonly pid: number | null };

/** Of a listed terminal. */
type Recording = {
  readonly name: string;
  readonly state: { readonly kind: string };
  readonly trouble?: string;
};

export type Seen = {
  readonly watchdog: MaybeRunning;
  readonly daemon: MaybeRunning;
  readonly web: MaybeRunning;
  /** Null if no daemon answers. */
  readonly recovery: { readonly stage: string | null };
  readonly safeMode?: { readonly active: boolean; readonly reason: string | null };
  /** What the daemon reports. */
  readonly troubles?: readonly Trouble[];
};

const UNWATCHED: Trouble = {
  what: "the watchdog is not running: the daemon would not be restarted after a crash",
  next: "holdfast up",
};

/** `watched`: whether a watchdog was running before we started one (TR1). */
export function troublesOf(place: Place, seen: Seen, watched: boolean): Trouble[] {
  const { stage } = seen.recovery;
  const own = stage?.endsWith("_FAILED") ? [failedRecovery(stage)] : [];
  if (!isWantedUp(place)) return own;
  if (seen.safeMode?.active) own.push(inSafeMode(seen.safeMode.reason)); // TR4
  if (stage === null) return watched || seen.daemon.pid !== null ? [...own, noDaemon(place, seen.daemon)] : own;
  const unwatched = seen.watchdog.pid === null ? [UNWATCHED] : [];
  return [...own, ...unwatched, ...pageTroubles(place, seen.web), ...(seen.troubles ?? [])];
}

/** TR3 */
export function tapeTroubles(terminals: readonly Recording[]): Trouble[] {
  return terminals.flatMap(({ name, state, trouble }) =>
    state.kind === "running" && trouble !== undefined ? [unrecorded(name, trouble)] : [],
  );
}

export function unrecorded(name: string, trouble: string): Trouble {
  return { what: `the output of ${name} is not recorded: ${trouble}`, next: `holdfast history ${name}` };
}

export function isWantedUp({ disk, home }: Place): boolean {
  return wantedOn(disk, home) === "up";
}

function inSafeMode(reason: string | null): Trouble {
  const why = reason === null ? "" : `, because ${reason}`;
  return {
    what: `parts of Holdfast are off: it is in safe mode${why}`,
    next: "holdfast logs, then: holdfast safe-mode exit",
  };
}

function failedRecovery(stage: string): Trouble {
  return { what: `the recovery has stopped (${stage})`, next: "holdfast recovery retry" };
}

/** If its process is there, it hangs, or is just starting. */
export function noDaemon({ disk, home }: Place, { pid }: MaybeRunning): Trouble {
  if (pid !== null) return { what: hangs(pid).message, next: hangs(pid).hint };
  const last = lastLogLine(disk, home);
  const words = last === undefined ? "" : `. The last message: ${last}`;
  return { what: `no daemon answers, and the watchdog starts it again and again${words}`, next: "holdfast logs" };
}

/** TR2 */
export function pageTroubles({ disk, home }: Place, web: MaybeRunning): Trouble[] {
  const crash = web.pid === null ? readLastCrash(disk, home)?.programs["web"] : undefined;
  if (crash === undefined) return [];
  const how = crash.signal ?? (crash.exitCode === null ? crash.reason : `exit code ${crash.exitCode}`);
  return [{ what: `the page is not running: it ended with ${how} at ${crash.time}`, next: "holdfast logs" }];
}
