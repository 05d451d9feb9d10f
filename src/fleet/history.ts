// What the database has of a home's log: reading it, and making one batch of many.
// HI1. What is read has no hole: every batch begins where the one before ended.
import { ok, type Result, refused } from "../base/result.ts";
import { type Batch, MERGE, READ, type Take } from "./calls.ts";
import { type Answer, type Database, whyOf } from "./database.ts";

/** The next batches: the first has `after` + 1, perhaps not at its start. None: that is the end. */
export async function readBatches(database: Database, home: string, after: number): Promise<Result<readonly Batch[]>> {
  const answer = await database.call(READ, { home, after });
  if (answer.kind !== "done") return noAnswer(answer);
  let end = after;
  for (const { first, last } of answer.value) {
    const isFirst = end === after;
    if (first > end + 1 || (!isFirst && first <= end)) return refused("fleet-hole", holeIn(home, end), HOLE); // HI1
    end = last;
  }
  return ok(answer.value);
}

/**
 * Merges what the snapshot covers, behind `after`. It may end anywhere, and be repeated. Returns how many were
 * made.
 */
export async function mergeBatches(database: Database, take: Take, after = 0): Promise<Result<number>> {
  let end = after;
  for (let made = 0; ; made++) {
    const answer = await database.call(MERGE, { take, after: end });
    if (answer.kind !== "done") return noAnswer(answer);
    if (answer.value === undefined) return ok(made);
    end = answer.value;
  }
}

export function noAnswer(answer: Answer<unknown>): ReturnType<typeof refused> {
  return refused("fleet-database", `The database did not do it: ${whyOf(answer)}`, "It can be repeated.");
}

const HOLE = "Restore the database from a backup, or take the home from the disk of the host that had it.";

function holeIn(home: string, end: number): string {
  return `The log of ${home} in the database has no entry ${end + 1}, and has later ones.`;
}
