// Finds a program that already runs: before one is started, and after we started among existing processes.
// O1. A held lock means that one runs, whatever its record says; a record alone means nothing unless its process is
//     alive.
// O2. Looking leaves no trace: the file is opened for reading, and the lock is released at once. A program that starts
//     in just that moment loses the race, exits, and is started again.
import { isFault } from "../base/fault.ts";
import { notePathOf } from "../home/watched.ts";
import { readJson } from "../log/file/json-file.ts";
import type { Disk } from "../world/disk.ts";
import type { Processes, ProcessIdentity } from "../world/process.ts";
import type { WatchSpec } from "./specs.ts";

export type ProcessFound =
  | { readonly kind: "nobody" }
  | { readonly kind: "known"; readonly who: ProcessIdentity }
  /** Its lock is held, but its owner is not on record (yet). */
  | { readonly kind: "somebody" };

export type Lookout = { readonly disk: Disk; readonly processes: Processes; readonly home: string };

export function findRunning(lookout: Lookout, { name, shows }: WatchSpec): ProcessFound {
  if (shows.kind === "running") return livingIn(lookout, notePathOf(lookout.home, name)) ?? { kind: "nobody" };
  if (!isHeld(lookout.disk, shows.lock)) return { kind: "nobody" };
  return livingIn(lookout, shows.lock) ?? { kind: "somebody" }; // O1
}

function livingIn({ disk, processes }: Lookout, path: string): ProcessFound | undefined {
  const record = readJson(disk, path);
  const { pid, startTime, bootId } = record ?? {};
  if (typeof pid !== "number" || typeof startTime !== "number" || typeof bootId !== "string") return undefined;
  const who = { pid, startTime, bootId };
  return processes.alive(who) ? { kind: "known", who } : undefined; // O1
}

function isHeld(disk: Disk, path: string): boolean {
  try {
    const file = disk.open(path, "read"); // O2
    try {
      return !file.tryLock();
    } finally {
      file.close();
    }
  } catch (error) {
    // If it cannot be checked, no owner can be found: starting one is the way to learn more.
    if (isFault(error)) return false;
    throw error;
  }
}
