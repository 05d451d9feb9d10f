// A home in no fleet pays nothing for fleets: what a commit asks of the disk is one write and one sync, and nothing
// else happens; with a second place it is the same on the disk.
import { expect, test } from "bun:test";
import { EventLog } from "../../src/log/event-log.ts";
import type { Elsewhere } from "../../src/log/wal/elsewhere.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { driven } from "../sim/postgres.ts";

const COMMITS = 20;

/** The calls for so many commits, one after the other, by their names. */
async function callsOf(elsewhere?: Elsewhere): Promise<readonly string[]> {
  const [clock, disk] = [new SimClock(), new SimDisk()];
  const options = { segmentBytes: 1 << 20, pageBytes: 256, ballastBytes: 0 };
  const log = await driven(clock, EventLog.open({ disk, clock, home: "/h" }, options));
  if (elsewhere !== undefined) log.commitTo(elsewhere);
  const calls: string[] = [];
  disk.onCall = ({ operation, path }) => {
    if (path.includes("/wal/")) calls.push(operation.replace("datasyncBlocking", "datasync"));
  };
  for (let n = 0; n < COMMITS; n += 1) {
    const entry = { session: "agents/a", ts: "2026-01-01T00:00:00.000Z", event: "e", data: { n } };
    const ticket = log.append([entry]);
    if (!ticket.ok) throw new Error(ticket.error.message);
    await driven(clock, ticket.value.durable);
  }
  return calls;
}

test("without a fleet, a commit is one write and one sync of the write-ahead log; with one, no more than that", async () => {
  const alone = Array.from({ length: COMMITS }, () => ["write", "datasync"]).flat();
  expect(await callsOf()).toEqual(alone);
  let commits = 0;
  const commit = async () => {
    commits += 1;
  };
  expect(await callsOf({ commit, away: undefined })).toEqual(alone);
  expect(commits).toBe(COMMITS);
});
