// The last settings of the watchdog, kept in the home: a watchdog that is started without any, by the daemon or a
// service manager, gets the same.
// WS1. Settings that are there and cannot be read are not missing: without them the user's programs would not be
//      watched any more. The watchdog ends, and the next one tries again.

import { readWhole } from "../log/file/file.ts";
import { writeJson } from "../log/file/json-file.ts";
import type { Disk } from "../world/disk.ts";
import { watchdogSettingsPath } from "./watched.ts";

/** The given settings, else the last ones, else none. Throws a Fault if they cannot be read (WS1). */
export function settingsText(disk: Disk, home: string, given: string | undefined): string {
  if (given !== undefined) return given;
  const bytes = readWhole(disk, watchdogSettingsPath(home)); // WS1
  const kept = bytes === undefined ? undefined : givenIn(new TextDecoder().decode(bytes));
  return typeof kept === "string" ? kept : "{}";
}

/** Undefined if it was not written by us. */
function givenIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "given" in value ? value.given : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function keepSettings(disk: Disk, home: string, given: string): Promise<void> {
  return writeJson(disk, watchdogSettingsPath(home), { v: 1, given });
}
