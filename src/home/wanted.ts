// What the operator wants: up or down. Durable, so that nobody heals what was told to stop.
// N1. `down` is in force once it is written; whoever is about to start something reads it first.
// N2. Where nobody said anything that can be read it is `up`: a watchdog only runs because somebody started it.

import { joinPath } from "../base/path.ts";
import { readJson, writeJson } from "../log/file/json-file.ts";
import type { Disk } from "../world/disk.ts";

export type Wanted = "up" | "down";

export function wantedPath(home: string): string {
  return joinPath(home, "recovery/wanted.json");
}

export function readWanted(disk: Disk, home: string): Wanted {
  return readJson(disk, wantedPath(home))?.["wanted"] === "down" ? "down" : "up"; // N2
}

/** Resolves when it is durable; a Fault goes to whoever gave the order, who must know that it does not hold. */
export function writeWanted(disk: Disk, home: string, wanted: Wanted): Promise<void> {
  return writeJson(disk, wantedPath(home), { v: 1, wanted });
}
