// What must be true of a log after any crash, checked from outside through nothing but its public face.
// O1. Everything acknowledged is there. O2. What is there is a prefix of what was issued: in order, whole transactions,
//     nothing twice.
// O3. Without damage no session is frozen, and nothing is reported lost or missing.
import type { EventLog } from "../../../src/log/event-log.ts";

/** One transaction that was issued; its entries name their sessions. */
export type Issued = { readonly id: number; readonly sessions: readonly string[]; readonly size: number };

export class BrokenPromise extends Error {
  override readonly name = "BrokenPromise";
}

export function ensure(condition: boolean, claim: string): asserts condition {
  if (!condition) throw new BrokenPromise(claim);
}

/** Checks the log against what was issued; returns the number of transactions present. */
export function check(log: EventLog, issued: readonly Issued[], acknowledged: number): number {
  ensure(log.report.lost.length === 0, `nothing is lost, but ${JSON.stringify(log.report.lost)} is`); // O3
  ensure(log.report.frozen.length === 0, `nothing is frozen, but ${JSON.stringify(log.report.frozen)} is`);
  const found = readAll(log);
  const count = 1 + [...found.values()].flat().reduce((top, id) => Math.max(top, id), -1);
  ensure(count >= acknowledged, `${acknowledged} transactions were acknowledged, ${count} are there`); // O1
  const expected = project(issued.slice(0, count));
  for (const session of new Set([...expected.keys(), ...found.keys()])) {
    const want = JSON.stringify(expected.get(session) ?? []);
    const have = JSON.stringify(found.get(session) ?? []);
    ensure(want === have, `${session} has ${have}, expected ${want}`); // O2
  }
  ensure(!log.report.walMissing, "no session's log reaches further than the write-ahead log"); // O3
  return count;
}

/** The ids in each session, in order. Anything but entries is a broken promise. */
function readAll(log: EventLog): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const session of log.sessions) {
    const ids: number[] = [];
    for (const reading of log.read(session)) {
      ensure(reading.kind === "entry", `${session} reads clean, but has ${JSON.stringify(reading)}`);
      const { data } = reading.entry;
      ensure(
        typeof data === "object" && data !== null && "id" in data && typeof data["id"] === "number",
        "the data came back",
      );
      ids.push(data["id"]);
    }
    if (ids.length > 0) found.set(session, ids);
  }
  return found;
}

function project(issued: readonly Issued[]): Map<string, number[]> {
  const expected = new Map<string, number[]>();
  for (const { id, sessions } of issued) {
    for (const session of sessions) expected.set(session, [...(expected.get(session) ?? []), id]);
  }
  return expected;
}
