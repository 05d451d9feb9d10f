// Who starts the watchdog again on this home: a service manager, where its mark lies in the home, else daemon and command line.
// M1. The mark counts only while the unit it names is there: a unit that was deleted by hand, or a home that moved to another machine,
//     leaves nobody without a healer.
// M2. It is a file and no variable, because daemons live longer than the change: one that was started before `service install` stops
//     healing with it, and one that outlives `service remove` begins again.

import { joinPath } from "../base/path.ts";
import { removeIfThere } from "../log/file/file.ts";
import { readJson, writeJson } from "../log/file/json-file.ts";
import type { Disk } from "../world/disk.ts";

export type ServiceMark = { readonly manager: "systemd"; readonly unit: string };

export function serviceMarkPath(home: string): string {
  return joinPath(home, "recovery/service.json");
}

/** The service that keeps this home; undefined where none does. */
export function readServiceMark(disk: Disk, home: string): ServiceMark | undefined {
  const { manager, unit } = readJson(disk, serviceMarkPath(home)) ?? {};
  if (manager !== "systemd" || typeof unit !== "string") return undefined;
  return disk.stat(unit)?.kind === "file" ? { manager, unit } : undefined; // M1
}

export function writeServiceMark(disk: Disk, home: string, mark: ServiceMark): Promise<void> {
  return writeJson(disk, serviceMarkPath(home), { v: 1, ...mark });
}

/** False where there was none. */
export async function removeServiceMark(disk: Disk, home: string): Promise<boolean> {
  if (!removeIfThere(disk, serviceMarkPath(home))) return false;
  await disk.syncDirectory(joinPath(home, "recovery"));
  return true;
}
