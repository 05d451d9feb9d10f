// The two small files of a holder's life: `claim.json` before its command is executed, `exit.json` after it has ended.
// E1. A claim is made once, whole and durable, or not at all; if one exists, nothing is started. The name of its
//     directory is made durable with it, in case its creator did not sync it. If that fails, the claim is withdrawn:
//     nothing was started, and another holder may.
// E2. `exit.json` is whole and durable when `recordExit` resolves. On a full or failing disk it is retried for as long
//     as it takes, unless the terminal's directory is gone: then no one needs it.
import { isFault } from "../base/fault.ts";
import { joinPath, parentOf } from "../base/path.ts";
import { createExclusive } from "../log/file/exclusive-file.ts";
import { readWhole, removeIfThere } from "../log/file/file.ts";
import { parseClaim } from "../wire/holder/json.ts";
import { type HolderClaim, type HolderExit, PROTOCOL } from "../wire/holder/protocol.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import type { Identities } from "../world/process.ts";

const RETRY_MS = 1000;
const CLAIM = "claim.json";

type HolderDirectory = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly processes: Identities;
  readonly directory: string;
};

/** E1. Returns false if a claim already exists. */
export async function claim(place: HolderDirectory, generation: number): Promise<boolean> {
  const { processes, clock, disk, directory } = place;
  const { pid } = processes;
  const facts: HolderClaim = {
    v: PROTOCOL,
    generation,
    by: "holder",
    pid,
    startTime: processes.startTime(pid) ?? 0,
    bootId: processes.bootId(),
    at: new Date(clock.now()).toISOString(),
  };
  const done = [make(place, CLAIM, facts), disk.syncDirectory(parentOf(directory)).then(() => true)];
  try {
    return (await Promise.all(done)).every(Boolean);
  } catch (error) {
    await Promise.allSettled(done);
    withdraw(place, facts);
    throw error;
  }
}

/** E1. Only our own. If that fails as well, it stays, and the start counts as lost. */
function withdraw({ disk, directory }: HolderDirectory, { pid, startTime }: HolderClaim): void {
  const path = joinPath(directory, CLAIM);
  const bytes = readWhole(disk, path);
  const made = bytes === undefined ? undefined : parseClaim(bytes);
  if (made?.by === "holder" && made.pid === pid && made.startTime === startTime) removeIfThere(disk, path);
}

/** E2. An existing file stays: an end is recorded once. */
export async function recordExit(place: HolderDirectory, exit: HolderExit): Promise<void> {
  for (;;) {
    try {
      if (place.disk.stat(place.directory) === undefined) return;
      await make(place, "exit.json", exit);
      return;
    } catch (error) {
      if (!isFault(error)) throw error;
      await new Promise<void>((again) => place.clock.after(RETRY_MS, again));
    }
  }
}

function make(
  { disk, directory, processes }: HolderDirectory,
  name: string,
  facts: HolderClaim | HolderExit,
): Promise<boolean> {
  const line = Buffer.from(`${JSON.stringify(facts)}\n`);
  return createExclusive(disk, joinPath(directory, name), line, String(processes.pid));
}
