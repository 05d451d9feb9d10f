// What the watchdog leaves in run/ about the user's programs that it watches: its settings, and the process of each
// one. The next watchdog reads it; daemon and command line show it.

import { joinPath } from "../base/path.ts";
import { type JsonObject, readJson } from "../log/file/json-file.ts";
import type { Disk } from "../world/disk.ts";
import type { Processes } from "../world/process.ts";
import { RUN, WATCHDOG_SETTINGS } from "./layout.ts";

/** Where the watchdog notes which process it started, so that its successor does not start a second one. */
export function notePathOf(home: string, name: string): string {
  return joinPath(home, `${RUN}/watched-${name}.json`);
}

/** Its last settings (`given`, as text). */
export function watchdogSettingsPath(home: string): string {
  return joinPath(home, WATCHDOG_SETTINGS);
}

/** `pid` is null while it does not run: it ended and is restarted after a pause, or the operator wants `down`. */
export type WatchedProgram = { readonly name: string; readonly pid: number | null };

type HomeWorld = { readonly disk: Disk; readonly processes: Processes; readonly home: string };

export function watchedPrograms(place: HomeWorld): WatchedProgram[] {
  return Object.keys(programsTold(place)).map((name) => ({
    name,
    pid: livingPid(place, notePathOf(place.home, name)),
  }));
}

function programsTold({ disk, home }: HomeWorld): JsonObject {
  const given = readJson(disk, watchdogSettingsPath(home))?.["given"];
  if (typeof given !== "string") return {};
  try {
    const programs: unknown = Object(JSON.parse(given)).programs;
    return Object.fromEntries(Object.entries(Object(programs)));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/** The pid in the record of a lock or a note, if that process is alive: the record outlives its writer. */
export function livingPid({ disk, processes }: Omit<HomeWorld, "home">, path: string): number | null {
  const { pid, startTime, bootId } = readJson(disk, path) ?? {};
  if (typeof pid !== "number" || typeof startTime !== "number" || typeof bootId !== "string") return null;
  return processes.alive({ pid, startTime, bootId }) ? pid : null;
}
