// What is watched: a command, and how it shows that it is alive.

import { joinPath } from "../base/path.ts";
import { RUN } from "../home/layout.ts";
import type { Command } from "../world/children.ts";
import { DEFAULT_INTERVAL_MS } from "./watchdog.ts";

/**
 * `heartbeat`: it sends heartbeats and holds a lock that only one process can have. `running`: it counts as alive until
 * it ends; with an interval, it also sends heartbeats.
 */
export type Shows =
  | { readonly kind: "heartbeat"; readonly intervalMs: number; readonly lock: string }
  | { readonly kind: "running"; readonly intervalMs: number | undefined };

export type WatchSpec = {
  /** Also used in file names: letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  readonly command: Command;
  readonly shows: Shows;
  /** Whether its crashes lead to safe mode. The daemon's do; those of the page or of a user's program never do. */
  readonly essential: boolean;
};

export const DAEMON = "daemon";
export const WEB = "web";
export const STANDBY = "standby";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export function isProgramName(name: string): boolean {
  return NAME.test(name);
}

export function lockPathOf(home: string, name: string): string {
  return joinPath(home, `${RUN}/${name}.lock`);
}

export function daemonSpec(home: string, command: Command, intervalMs = DEFAULT_INTERVAL_MS): WatchSpec {
  return { name: DAEMON, command, shows: beating(home, DAEMON, intervalMs), essential: true };
}

export function webSpec(home: string, command: Command, intervalMs = DEFAULT_INTERVAL_MS): WatchSpec {
  return { name: WEB, command, shows: beating(home, WEB, intervalMs), essential: false };
}

/** Only in a fleet (docs/FLEET.md). */
export function standbySpec(home: string, command: Command, intervalMs = DEFAULT_INTERVAL_MS): WatchSpec {
  return { name: STANDBY, command, shows: beating(home, STANDBY, intervalMs), essential: false };
}

/** A user's program (`[watch.NAME]`). */
export function programSpec(name: string, command: Command, intervalMs?: number): WatchSpec {
  return { name, command, shows: { kind: "running", intervalMs }, essential: false };
}

function beating(home: string, name: string, intervalMs: number): Shows {
  return { kind: "heartbeat", intervalMs, lock: lockPathOf(home, name) };
}
