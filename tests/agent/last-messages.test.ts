// The last messages of all agents (daemon/agent/last-messages.ts), over a real log on a simulated disk.
import { beforeAll, expect, test } from "bun:test";
import { lastMessages } from "../../src/daemon/agent/last-messages.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";

const IDS = Array.from({ length: 100 }, (_, at) => at.toString(16).padStart(32, "0"));
const at = "2026-01-01T00:00:00.000Z";
const MANY = 2_000;

/** Message `n` goes to agent `n % 7`; the other agents only work, and one of them prints much. */
function entries(n: number) {
  const recipient = IDS[n % 7] ?? "";
  const data = { message_id: `m${n}`, sender: "user", recipient, kind: "message", payload: `text ${n}`, timestamp: at };
  const said = { generation: 1, offset: n, events: [{ kind: "text", text: "x".repeat(2_000) }], at };
  const message = { ...data, reply_to: null, metadata: {} };
  return [
    { session: `agents/${recipient}`, ts: at, event: "message.enqueued", data: message },
    { session: `agents/${IDS[7 + (n % 90)]}`, ts: at, event: "agent.read", data: said },
    { session: `agents/${IDS[99]}`, ts: at, event: "agent.read", data: said },
  ];
}

let log: EventLog;
beforeAll(async () => {
  const [disk, clock] = [new SimDisk(), new SimClock()];
  disk.makeDirectory("/h");
  log = await EventLog.open(
    { disk, clock, home: "/h" },
    { segmentBytes: 1 << 20, ballastBytes: 0, sessionBytes: 64 << 10 },
  );
  for (let n = 0; n < MANY; n += 50) {
    const done = log.append(Array.from({ length: 50 }, (_, more) => entries(n + more)).flat());
    if (!done.ok) expect.unreachable(done.error.message);
    else await done.value.durable;
    if (n < MANY - 200) await log.drain(); // The last of them wait for their file.
  }
});

test("LM2 the newest messages come first, from whichever agents got them, and none is left out", () => {
  const found = lastMessages(log, IDS.slice(0, 20), 50);
  expect(found.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, back) => `m${MANY - 1 - back}`));
  expect(found[0]).toEqual({
    ...{ id: `m${MANY - 1}`, sender: "user", recipient: IDS[(MANY - 1) % 7] ?? "", kind: "message" },
    ...{ text: `text ${MANY - 1}`, at },
  });
  expect(lastMessages(log, IDS.slice(7), 50)).toEqual([]);
  expect(lastMessages(log, IDS.slice(0, 7))).toHaveLength(200);
});

test("LM1 what is read is bounded, also if agents that get no messages print much", () => {
  let read = 0;
  const counted = {
    lastSeq: (session: string) => log.lastSeq(session),
    readBack: (...[session, stop]: Parameters<EventLog["readBack"]>) =>
      log.readBack(session, (seq, bytes) => {
        read += bytes;
        return stop(seq, bytes);
      }),
  };
  expect(lastMessages(counted, IDS, 50).length).toBeLessThanOrEqual(50);
  expect(read).toBeLessThan(5 << 20);
});
