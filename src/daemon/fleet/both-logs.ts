// A home's log on this disk and in the database of its fleet, before the home is opened: what only the database has,
// and whether both are of one history.
// BL1. One history contains the other if both have the same entry where the shorter one ends: an entry contains the
//      number of the one before in its session, its time and its text, and nobody but an owner ever appends.
import { ok, type Result, refused } from "../../base/result.ts";
import type { Database } from "../../fleet/database.ts";
import { readBatches } from "../../fleet/history.ts";
import type { FleetSeal } from "../../fleet/seal.ts";
import { entryAt, entryIn } from "../../log/entries-after.ts";
import { solidEndOf } from "../../log/import.ts";
import type { Disk } from "../../world/disk.ts";

const HOLE = "fleet-hole";

type Ports = {
  readonly database: Database;
  readonly seal: FleetSeal;
  /** The id of the home. */
  readonly home: string;
};

/** What the database has behind `after` up to `lastSeq`, as runs of frames. */
export async function batchesBehind(ports: Ports, after: number, lastSeq: number): Promise<Result<Uint8Array[]>> {
  const { database, seal, home } = ports;
  const frames: Uint8Array[] = [];
  for (let at = after; at < lastSeq; ) {
    const batches = await readBatches(database, home, at);
    if (!batches.ok) return batches;
    if (batches.value.length === 0) return refused(HOLE, `The database has no entry ${at + 1}.`, "");
    for (const row of batches.value) {
      const opened = seal.openBatches(home, row);
      if (!opened.ok) return opened;
      frames.push(...opened.value.map(({ bytes }) => bytes));
      at = row.last;
    }
  }
  return ok(frames);
}

/** BL1. `unknown`: one of them does not have that entry any more. `lastSeq`: where the log ends in the database. */
export async function comparedLogs(
  ports: Ports,
  place: { readonly disk: Disk; readonly home: string },
  lastSeq: number,
): Promise<Result<"one history" | "two histories" | "unknown">> {
  const end = Math.min(solidEndOf(place), lastSeq);
  if (end === 0) return ok("one history");
  const there = await batchesBehind(ports, end - 1, end);
  if (!there.ok) return there.error.code === HOLE ? ok("unknown") : there;
  const [theirs, ours] = [entryIn(there.value, end), entryAt(place, end)];
  if (theirs === undefined || ours === undefined) return ok("unknown");
  return ok(isSame(theirs, ours) ? "one history" : "two histories");
}

type Entry = { readonly session: string; readonly line: Uint8Array };

function isSame(a: Entry, b: Entry): boolean {
  return a.session === b.session && Buffer.compare(a.line, b.line) === 0;
}
