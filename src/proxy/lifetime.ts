// How long a sandbox's proxy lives: as long as the process of its agent, whatever happens to the daemon.
// LT1. The holder of that process is what counts: while it lives, its program may want something.
// LT2. A process that was not claimed yet may be about to start; one that is never started ends the wait.
import { joinPath } from "../base/path.ts";
import { readWhole } from "../log/file/file.ts";
import { parseClaim } from "../wire/holder/json.ts";
import type { Disk } from "../world/disk.ts";
import { type Identities, isAlive } from "../world/process.ts";

/** LT2. Starting a holder takes this long at most on a machine that has other things to do. */
const UNCLAIMED_MS = 120_000;

/** `directory` is that of the process; `sinceMs`: how long we have been waiting for it. */
export function isNeeded(disk: Disk, processes: Identities, directory: string, sinceMs: number): boolean {
  if (disk.stat(joinPath(directory, "exit.json")) !== undefined) return false;
  const bytes = readWhole(disk, joinPath(directory, "claim.json"));
  const claim = bytes && parseClaim(bytes);
  if (claim === undefined) return sinceMs < UNCLAIMED_MS; // LT2
  return claim.by === "holder" && isAlive(processes, claim); // LT1
}
