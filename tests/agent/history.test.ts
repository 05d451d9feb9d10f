// An agent's past in stretches (daemon/agent/history.ts), over a real log on a simulated disk.
import { beforeAll, expect, test } from "bun:test";
import { agentHistory } from "../../src/daemon/agent/history.ts";
import { EventLog } from "../../src/log/event-log.ts";
import type { AgentHistory } from "../../src/wire/rpc/agent.ts";
import type { OpenFile, OpenHow } from "../../src/world/disk.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";

const ID = "a".repeat(32);
const SESSION = `agents/${ID}`;
const MANY = 3_000;
const SESSION_BYTES = 64 << 10;

let read = 0;

/** Counts what is read of the session's own files. */
class CountedDisk extends SimDisk {
  override open(path: string, how: OpenHow) {
    const file = super.open(path, how);
    if (!path.includes(SESSION)) return file;
    const plain: OpenFile["read"] = file.read.bind(file);
    file.read = (into, offset) => {
      const bytes = plain(into, offset);
      read += bytes;
      return bytes;
    };
    return file;
  }
}

const at = "2026-01-01T00:00:00.000Z";
/** Every third is bookkeeping, and every hundredth has sixteen pieces. */
function entry(number: number) {
  const head = { session: SESSION, ts: at };
  if (number % 3 === 0) return { ...head, event: "input.taken", data: { generation: 1, through: number, pieces: 1 } };
  const many = number % 100 === 1 ? 16 : 1;
  const events = Array.from({ length: many }, (_, piece) => ({ kind: "text", text: `${number}.${piece}` }));
  return { ...head, event: "agent.read", data: { generation: 1, offset: number, events, at } };
}

const ALL = Array.from({ length: MANY }, (_, before) => before + 1).flatMap((number) =>
  number % 3 === 0 ? [] : Array.from({ length: number % 100 === 1 ? 16 : 1 }, (_, piece) => `${number}.${piece}`),
);

let log: EventLog;
beforeAll(async () => {
  const [disk, clock] = [new CountedDisk(), new SimClock()];
  disk.makeDirectory("/h");
  const options = { segmentBytes: 1 << 20, ballastBytes: 0, sessionBytes: SESSION_BYTES };
  log = await EventLog.open({ disk, clock, home: "/h" }, options);
  for (let first = 1; first <= MANY; first += 100) {
    const done = log.append(Array.from({ length: 100 }, (_, more) => entry(first + more)));
    if (!done.ok) expect.unreachable(done.error.message);
    else await done.value.durable;
    if (first < MANY - 300) await log.drain(); // The last of them wait for their file.
  }
});

function history(wish: { before?: number; after?: number; limit?: number }): AgentHistory {
  const found = agentHistory(log, { id: ID, ...wish });
  return found.ok ? found.value : expect.unreachable(found.error.message);
}

const texts = ({ rows }: AgentHistory) => rows.map((row) => (row.kind === "text" ? row.text : row.kind));

test("from the end to the beginning, and on from there to the end, every row comes once and in order", () => {
  let part = history({ limit: 100 });
  let back = texts(part);
  while (part.earlier !== null) {
    part = history({ before: part.earlier, limit: 100 });
    back = [...texts(part), ...back];
  }
  expect(back).toEqual(ALL);
  const on = texts(part);
  for (let last: number | null = part.last; last !== null; ) {
    part = history({ after: last, limit: 100 });
    on.push(...texts(part));
    last = part.later;
  }
  expect(on).toEqual(ALL);
});

test("AY1 a stretch in the middle or at the beginning reads no more than a few files, as at the end", () => {
  const cost = (wish: object) => {
    read = 0;
    history({ ...wish, limit: 100 });
    return read;
  };
  const places = [MANY - 1, Math.floor(MANY / 2), 200].map((before) => cost({ before }));
  expect(places.every((bytes) => bytes > 0 && bytes < 4 * SESSION_BYTES)).toBe(true);
});

test("AY2 a stretch has about as many rows as were asked for, and one entry at least", () => {
  for (const limit of [1, 10, 100, 1_000_000]) {
    const { rows } = history({ before: 2_000, limit });
    expect(rows.length).toBeLessThanOrEqual(Math.min(limit, 500) + 16);
  }
  expect(history({ before: 4, limit: 1 })).toMatchObject({ rows: [], earlier: 3, last: 3 });
  expect(history({ before: 1 })).toMatchObject({ rows: [], earlier: null, last: 0 });
});

test("what is new is found from the last entry on; another agent, and an entry that is not there, are refused", () => {
  const { last } = history({ limit: 10 });
  expect([last, history({ after: last })]).toMatchObject([MANY, { rows: [], later: null, last: MANY }]);
  expect(agentHistory(log, { id: ID, after: MANY + 5 })).toMatchObject({ ok: false });
  for (const id of ["b".repeat(32), "../runs", "__proto__", ""])
    expect(agentHistory(log, { id })).toMatchObject({ error: { code: "archived" } });
});
