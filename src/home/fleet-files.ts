// The files of a home that is in a fleet (docs/FLEET.md): under which take it is ours, until when, and whose it is
// otherwise.
// FF1. A take is in `owner.json` before it is sent, beside the one that is ours already: after a crash in between, the
//      one that the database has is the one that counts.
// FF2. A file that is missing or does not have its form says nothing. None is removed because of that. One that the
//      disk does not give now is a Fault: an owner that takes its record for missing would follow, and a step that was
//      begun on another host would count as not started.
// FF3. The lease is not durable: after a boot it says nothing, and its writer waits for no disk.
import { isFault } from "../base/fault.ts";
import { joinPath, parentOf } from "../base/path.ts";
import { removeIfThere } from "../log/file/file.ts";
import { readJson, readJsonSurely, writeJson } from "../log/file/json-file.ts";
import { writeUnsynced } from "../log/file/unsynced-file.ts";
import { fitting } from "../wire/check.ts";
import { count, flag, type Infer, nullable, number, object, optional, table, text } from "../wire/shape.ts";
import type { Disk } from "../world/disk.ts";
import { FLEET_FENCED, FLEET_OWNER, LEASE, TAKEN, UNCLAIMED_SESSIONS } from "./layout.ts";

const TAKE = object({ epoch: count, id: text });

/** FF1. `take`: ours for certain. `wished`: sent, perhaps not carried out. */
const OWNER = object({ home: text, take: nullable(TAKE), wished: nullable(TAKE) });
export type OwnerRecord = Infer<typeof OWNER>;

const FENCED = object({ at: text, owner: text, epoch: count });
export type FencedRecord = Infer<typeof FENCED>;

/**
 * `from`: the name of the host; `at`: when it was taken; `seq`: where the log ended in the database. `claimed`: what
 * was begun there has a claim that says so (TO1 of daemon/held/taken-over.ts).
 */
const TAKEN_OVER = object({ from: text, at: text, seq: count, epoch: count, claimed: optional(flag) });
export type TakenRecord = Infer<typeof TAKEN_OVER>;

/** `until`: in milliseconds since boot, by `Clock.sinceBoot`. */
const LEASING = object({ epoch: count, id: text, bootId: text, until: number });
export type LeaseRecord = Infer<typeof LEASING>;

type Place = { readonly disk: Disk; readonly home: string };

export function readOwner({ disk, home }: Place): OwnerRecord | undefined {
  return fitting(OWNER, readJsonSurely(disk, joinPath(home, FLEET_OWNER)));
}

export function writeOwner({ disk, home }: Place, record: OwnerRecord): Promise<void> {
  return writeJson(disk, joinPath(home, FLEET_OWNER), { v: 1, ...record });
}

export function readFenced({ disk, home }: Place): FencedRecord | undefined {
  return fitting(FENCED, readJsonSurely(disk, joinPath(home, FLEET_FENCED)));
}

export function writeFenced({ disk, home }: Place, record: FencedRecord): Promise<void> {
  return writeJson(disk, joinPath(home, FLEET_FENCED), { v: 1, ...record });
}

/** This host has the home again. */
export async function removeFenced({ disk, home }: Place): Promise<void> {
  const path = joinPath(home, FLEET_FENCED);
  if (removeIfThere(disk, path)) await disk.syncDirectory(parentOf(path));
}

/** Undefined: it was not taken over, or that is reported. */
export function readTaken({ disk, home }: Place): TakenRecord | undefined {
  return fitting(TAKEN_OVER, readJsonSurely(disk, joinPath(home, TAKEN)));
}

export function writeTaken({ disk, home }: Place, record: TakenRecord): Promise<void> {
  return writeJson(disk, joinPath(home, TAKEN), { v: 1, ...record });
}

export async function removeTaken({ disk, home }: Place): Promise<void> {
  const path = joinPath(home, TAKEN);
  if (removeIfThere(disk, path)) await disk.syncDirectory(parentOf(path));
}

const UNCLAIMED = object({ sessions: table(text) });

/** Sessions that could not be read at a takeover, each with the host it is from (TO2 of daemon/held/taken-over.ts). */
export function readUnclaimed({ disk, home }: Place): Map<string, string> {
  const found = fitting(UNCLAIMED, readJsonSurely(disk, joinPath(home, UNCLAIMED_SESSIONS)));
  return new Map(Object.entries(found?.sessions ?? {}));
}

export async function writeUnclaimed({ disk, home }: Place, sessions: ReadonlyMap<string, string>): Promise<void> {
  const path = joinPath(home, UNCLAIMED_SESSIONS);
  if (sessions.size > 0) await writeJson(disk, path, { v: 1, sessions: Object.fromEntries(sessions) });
  else if (removeIfThere(disk, path)) await disk.syncDirectory(parentOf(path));
}

export function readLease({ disk, home }: Place): LeaseRecord | undefined {
  return fitting(LEASING, readJson(disk, joinPath(home, LEASE)));
}

/** FF3. Returns whether the disk took it. */
export function writeLease({ disk, home }: Place, record: LeaseRecord): boolean {
  try {
    writeUnsynced(disk, joinPath(home, LEASE), Buffer.from(`${JSON.stringify({ v: 1, ...record })}\n`));
    return true;
  } catch (error) {
    if (!isFault(error)) throw error;
    return false;
  }
}
