// Opens a home for looking, beside a daemon that may be writing to it.
// P1. A segment that is used again while the view reads it looks like lost entries; what is lost only once was not lost.

import { joinPath } from "../../base/path.ts";
import { ok, type Result } from "../../base/result.ts";
import { DAEMON_LOCK } from "../../home/layout.ts";
import { lockOwner } from "../../home/lock-record.ts";
import { LogView } from "../../log/inspect.ts";
import type { Clock } from "../../world/clock.ts";
import { pause } from "../../world/wait.ts";
import type { CommandWorld } from "../command-world.ts";
import { existingHome } from "../home.ts";
import { pickSession } from "../sessions.ts";

/** Three looks that agree are no coincidence: what a look can stumble over lasts microseconds. */
export const LOOKS = 3;
/** Between them, so that whatever was going on has gone on. */
const BETWEEN_LOOKS_MS = 50;

export type Opened = { readonly home: string; readonly view: LogView; readonly sessions: readonly string[] };

/** The home and the sessions that are meant: all, or the one that `key` fits. */
export async function openView(world: CommandWorld, flags: { home?: string }, key?: string): Promise<Result<Opened>> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const view = await steadyView(world, home.value);
  if (key === undefined) return ok({ home: home.value, view, sessions: view.sessions });
  const picked = pickSession(view.sessions, key);
  return picked.ok ? ok({ home: home.value, view, sessions: [picked.value] }) : picked;
}

/** P1 */
export async function steadyView(world: CommandWorld, home: string): Promise<LogView> {
  let view = new LogView(world.disk, home);
  for (let look = 1; look < LOOKS && view.marks.lost.length > 0; look++) {
    await betweenLooks(world.clock);
    view = new LogView(world.disk, home);
  }
  return view;
}

export function betweenLooks(clock: Clock): Promise<void> {
  return pause(clock, BETWEEN_LOOKS_MS);
}

/** Up to where a view has everything. A write-ahead log that says nothing at all says nothing about an end either. */
export function endOf(view: LogView): number {
  return view.marks.gen === 0 ? Number.POSITIVE_INFINITY : view.marks.end;
}

/** Whether a daemon runs on this home. Asking for its lock would answer too, but could keep a starting one from getting it. */
export function isRunning(world: CommandWorld, home: string): boolean {
  const owner = lockOwner(world.disk, joinPath(home, DAEMON_LOCK));
  return owner !== undefined && world.processes.alive(owner);
}
