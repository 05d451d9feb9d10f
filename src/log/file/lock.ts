// Lock: one owner at a time, by `flock`; the system releases it when the owner dies, in whatever way.
// L1. Two owners are impossible: the lock is the kernel's, not the existence or the content of the file.
// L2. Nothing becomes stale: a file left by a dead owner is simply locked again.
// L3. The file is never unlinked: a process that had opened the old one would lock a file without a name, next to the
//     owner of the new one.
// L4. The record in it (pid, start time, boot id) is for diagnosis only; a full disk never prevents taking a lock. The
//     owner writes it again later: until then it cannot be found.
// L5. The record names its own file: a copy of a lock's file does not count as one.
import { isFault } from "../../base/fault.ts";
import { baseName } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import { openRetrying, readAll, writeAll } from "./file.ts";

/** The process that takes the lock. A pid alone is not enough: it is reused after a while, and after every boot. */
export type Owner = { readonly pid: number; readonly startTime: number; readonly bootId: string };

export type Held = {
  readonly path: string;
  /** Writes the record again if it is not there (L4). */
  record(): void;
  /** Releases the lock; further calls do nothing. */
  release(): void;
};

/** Longer than any record of ours; anything beyond it was not written by us. */
const MAX_RECORD = 4096;

/** Takes the lock at `path`, whose directory must exist, or refuses and names the owner. */
export function takeLock(world: { disk: Disk; clock: Clock }, path: string, owner: Owner): Result<Held> {
  const file = openRetrying(world.disk, path, "create");
  try {
    if (!file.tryLock()) return closeAndRefuse(file); // L1, L2
  } catch (error) {
    file.close();
    throw error;
  }
  const facts = { ...owner, at: new Date(world.clock.now()).toISOString() };
  const write = () => {
    if (ownerPid(file) !== owner.pid) record(world.disk, file, facts);
  };
  record(world.disk, file, facts);
  return ok(heldBy(file, write));
}

function heldBy(file: OpenFile, write: () => void): Held {
  let held = true;
  const release = () => {
    if (held) file.close(); // L3: closed, not removed.
    held = false;
  };
  return { path: file.path, record: () => void (held && write()), release };
}

function record(disk: Disk, file: OpenFile, facts: Owner & { readonly at: string }): void {
  try {
    const text = Buffer.from(`${JSON.stringify({ ...facts, file: disk.stat(file.path)?.id })}\n`); // L5
    writeAll(file, text, 0);
    file.truncate(text.length);
  } catch (error) {
    if (!isFault(error)) throw error; // L4
  }
}

function closeAndRefuse(file: OpenFile): Result<Held> {
  const pid = ownerPid(file);
  file.close();
  const who = pid === undefined ? "another process" : `process ${pid}`;
  const hint = pid === undefined ? "Find it with `fuser` on that file." : `See it with \`ps -fp ${pid}\`.`;
  return refused("LOCKED", `${baseName(file.path)} is held by ${who}`, `Only one may run at a time. ${hint}`);
}

/** The record may be half written, or of an earlier owner if its successor could not write: it is only a hint (L4). */
function ownerPid(file: OpenFile): number | undefined {
  try {
    const found: unknown = JSON.parse(new TextDecoder().decode(readAll(file, 0, Math.min(file.size(), MAX_RECORD))));
    if (typeof found !== "object" || found === null || !("pid" in found)) return undefined;
    return typeof found.pid === "number" ? found.pid : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || isFault(error)) return undefined;
    throw error;
  }
}
