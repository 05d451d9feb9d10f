// What the watchdog was told last, kept in the home: whoever starts it without a word, as the daemon does when it heals and as a service
// manager does, gets the same.

import { readJson, writeJson } from "../log/file/json-file.ts";
import type { Disk } from "../world/disk.ts";
import { watchdogSettingsPath } from "./watched.ts";

/** The words that were given, else those that were given last, else none. */
export function settingsText(disk: Disk, home: string, given: string | undefined): string {
  const kept = given === undefined ? readJson(disk, watchdogSettingsPath(home))?.["given"] : given;
  return typeof kept === "string" ? kept : "{}";
}

export function keepSettings(disk: Disk, home: string, given: string): Promise<void> {
  return writeJson(disk, watchdogSettingsPath(home), { v: 1, given });
}
