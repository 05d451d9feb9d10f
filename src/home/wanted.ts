// What the operator wants: up or down. Durable, so that nothing restarts what the operator stopped.
// N1. `down` is in force once it is written; code that is about to start something reads it first.
// N2. Without a readable file it is `up`: a watchdog runs only because someone started it.

import { joinPath } from "../base/path.ts";
import { readJson, writeJson } from "../log/file/json-file.ts";
import type { Disk } from "../world/disk.ts";
import { WANTED } from "./layout.ts";

export type Wanted = "up" | "down";

export function wantedPath(home: string): string {
  return joinPath(home, WANTED);
}

export function readWanted(disk: Disk, home: string): Wanted {
  return readJson(disk, wantedPath(home))?.["wanted"] === "down" ? "down" : "up"; // N2
}

/** Undefined for a home that was never started. */
export function wantedOn(disk: Disk, home: string): Wanted | undefined {
  const wanted = readJson(disk, wantedPath(home))?.["wanted"];
  return wanted === "up" || wanted === "down" ? wanted : undefined;
}

/** Resolves when it is durable; throws a Fault to the caller, which must know that the order does not hold. */
export function writeWanted(disk: Disk, home: string, wanted: Wanted): Promise<void> {
  return writeJson(disk, wantedPath(home), { v: 1, wanted });
}
