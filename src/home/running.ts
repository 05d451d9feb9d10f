// Which programs run on a home, by the records in their locks. The locks themselves are not touched: even a brief
// attempt could make an owner that is just starting fail.

import { joinPath } from "../base/path.ts";
import type { Disk } from "../world/disk.ts";
import type { Processes, ProcessIdentity } from "../world/process.ts";
import { DAEMON_LOCK, WATCHDOG_LOCK, WEB_LOCK } from "./layout.ts";
import { lockOwner } from "./lock-record.ts";

type Doors = { readonly disk: Disk; readonly processes: Processes };

export function holderOf({ disk, processes }: Doors, path: string): ProcessIdentity | undefined {
  const owner = lockOwner(disk, path);
  return owner !== undefined && processes.alive(owner) ? owner : undefined;
}

export function isHeld(doors: Doors, path: string): boolean {
  return holderOf(doors, path) !== undefined;
}

export function runningOn(doors: Doors, home: string) {
  return {
    watchdog: holderOf(doors, joinPath(home, WATCHDOG_LOCK)),
    daemon: holderOf(doors, joinPath(home, DAEMON_LOCK)),
    web: holderOf(doors, joinPath(home, WEB_LOCK)),
  };
}
