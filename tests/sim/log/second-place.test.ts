// A log with a second place beside its disk (src/log/wal/elsewhere.ts): what is acknowledged is in both.
import { expect, test } from "bun:test";
import { EventLog } from "../../../src/log/event-log.ts";
import type { Elsewhere } from "../../../src/log/wal/elsewhere.ts";
import { until } from "../../until.ts";
import { SimClock } from "../clock.ts";
import { SimDisk } from "../disk.ts";
import { HOME, SMALL } from "./life.ts";

/** As many turns of promises as a call to a database takes before anything is sent. */
const TURNS = 20;

test("W1 a batch is on its way to the second place before this thread waits for the disk, and counts when both have it", async () => {
  const [disk, clock, seen] = [new SimDisk(), new SimClock(), [] as string[]];
  const log = await EventLog.open({ disk, clock, home: HOME }, SMALL);
  const answered = Promise.withResolvers<void>();
  const elsewhere: Elsewhere = {
    away: undefined,
    commit: async () => {
      for (let turn = 0; turn < TURNS; turn += 1) await undefined;
      seen.push("sent");
      await answered.promise;
    },
  };
  log.commitTo(elsewhere);
  disk.onCall = ({ operation, path }) => {
    if (operation === "datasyncBlocking" && path.endsWith(".wal")) seen.push("synced");
  };
  const ticket = log.append([{ session: "agents/1", ts: "", event: "tested", data: {} }]);
  if (!ticket.ok) throw new Error(ticket.error.message);
  void ticket.value.durable.then(() => seen.push("acknowledged"));
  await until(
    "both have begun",
    () => seen.length === 2,
    () => seen,
  );
  await clock.settle();
  expect(seen).toEqual(["sent", "synced"]);
  answered.resolve();
  await until(
    "it is acknowledged",
    () => seen.length > 2,
    () => seen,
  );
  expect(seen).toEqual(["sent", "synced", "acknowledged"]);
});
