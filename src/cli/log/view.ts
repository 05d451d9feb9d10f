// Opens a home for reading, while a daemon may be writing to it.
// P1. A segment that is reused while the view reads it looks like lost entries; a loss counts only if seen repeatedly.

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

/** Three looks that agree are no coincidence: what a look can hit lasts microseconds. */
export const LOOKS = 3;
/** The pause between looks lets a write in progress finish. */
const BETWEEN_LOOKS_MS = 50;

export type Opened = { readonly home: string; readonly view: LogView; readonly sessions: readonly string[] };

/** The home and the sessions that are meant: all, or the one that `key` matches. */
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

/** Up to which seq a view is complete. An empty write-ahead log says nothing about the end. */
export function endOf(view: LogView): number {
  return view.marks.gen === 0 ? Number.POSITIVE_INFINITY : view.marks.end;
}

/**
 * Whether a daemon is running on this home. Taking its lock would tell too, but could keep a starting daemon from it.
 */
export function isRunning(world: CommandWorld, home: string): boolean {
  const owner = lockOwner(world.disk, joinPath(home, DAEMON_LOCK));
  return owner !== undefined && world.processes.alive(owner);
}
