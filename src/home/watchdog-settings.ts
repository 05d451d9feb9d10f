// The last settings of the watchdog, kept in the home: a watchdog that is started without any, by the daemon or a
// service manager, gets the same.

import { readJson, writeJson } from "../log/file/json-file.ts";
import type { Disk } from "../world/disk.ts";
import { watchdogSettingsPath } from "./watched.ts";

/** The given settings, else the last ones, else none. */
export function settingsText(disk: Disk, home: string, given: string | undefined): string {
  const kept = given === undefined ? readJson(disk, watchdogSettingsPath(home))?.["given"] : given;
  return typeof kept === "string" ? kept : "{}";
}

export function keepSettings(disk: Disk, home: string, given: string): Promise<void> {
  return writeJson(disk, watchdogSettingsPath(home), { v: 1, given });
}
