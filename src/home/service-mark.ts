// What restarts the watchdog on this home: a service manager, if
// its mark is in the home, else the daemon and the command line.
// M1. The mark counts only while the unit it names exists: if a unit was deleted by hand, or a home moved to another
//     machine, the daemon still restarts the watchdog.
// M2. It is a file, not a variable, because daemons outlive the change: one that was started before `service install`
//     stops restarting the watchdog, and one that outlives `service remove` begins again.

import { joinPath } from "../base/path.ts";
import { removeIfThere } from "../log/file/file.ts";
import { readJson, writeJson } from "../log/file/json-file.ts";
import type { Disk } from "../world/disk.ts";
import { RECOVERY, SERVICE_MARK } from "./layout.ts";

export type ServiceMark = { readonly manager: "systemd"; readonly unit: string };

export function serviceMarkPath(home: string): string {
  return joinPath(home, SERVICE_MARK);
}

/** The service that keeps this home; undefined if there is none. */
export function readServiceMark(disk: Disk, home: string): ServiceMark | undefined {
  const { manager, unit } = readJson(disk, serviceMarkPath(home)) ?? {};
  if (manager !== "systemd" || typeof unit !== "string") return undefined;
  return disk.stat(unit)?.kind === "file" ? { manager, unit } : undefined; // M1
}

export function writeServiceMark(disk: Disk, home: string, mark: ServiceMark): Promise<void> {
  return writeJson(disk, serviceMarkPath(home), { v: 1, ...mark });
}

/** Returns false if there was none. */
export async function removeServiceMark(disk: Disk, home: string): Promise<boolean> {
  if (!removeIfThere(disk, serviceMarkPath(home))) return false;
  await disk.syncDirectory(joinPath(home, RECOVERY));
  return true;
}
