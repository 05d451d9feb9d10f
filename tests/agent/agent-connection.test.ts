// A connection to the holder of an agent's process, with the holder's frames written by the test.
import { expect, test } from "bun:test";
import type { ProviderEvent } from "../../src/core/agent/provider.ts";
import { AgentConnection } from "../../src/daemon/agent/agent-connection.ts";
import { PoisonedBytes } from "../../src/log/session/poisons.ts";
import type { HolderWireEvents } from "../../src/wire/holder/framed-connection.ts";
import type { HolderSpec } from "../../src/wire/holder/protocol.ts";
import * as protocol from "../../src/wire/holder/protocol.ts";
import { scripted } from "../../src/wire/provider/scripted.ts";
import { AgentFixture } from "./house.ts";

const AT = "2026-01-01T00:00:00.000Z";
const STATUS = {
  ...{ v: 1, generation: 1, mode: "pipe", pid: 1, child: null, startedAt: AT, consumed: 0, clients: 1 },
  ...{ tape: { start: 0, end: 0, gaps: 0 }, size: { cols: 80, rows: 24 }, lastOutputAt: null, writers: {} },
  ...{ exit: null, trouble: null },
};

function setUp(codec = scripted, later: (act: () => void) => () => void = () => () => undefined) {
  const fixture = new AgentFixture();
  fixture.create("a");
  const read: ProviderEvent[] = [];
  const reads: number[] = [];
  const partials: (readonly [offset: number, from: number, text: string])[] = [];
  const bugs: unknown[] = [];
  const wire: { events?: HolderWireEvents } = {};
  const spec: HolderSpec = {
    ...{ v: 1, id: "a", generation: 1, argv: ["agent"], cwd: "/", env: {}, socket: "/s", size: STATUS.size },
    ...{ mode: "pipe", token: "x".repeat(32), tape: { segmentBytes: 4096, maxBytes: 65_536 } },
  };
  const peer = {
    spec,
    dial: async (events: HolderWireEvents) => {
      wire.events = events;
      return { send: () => undefined, end: () => undefined, destroy: () => undefined };
    },
    events: { ended: () => undefined, lost: () => undefined },
  };
  const connection = new AgentConnection(
    peer,
    { generation: 1, from: 0, skipped: new Set() },
    {
      codec,
      tools: { command: [], env: {} },
      agent: () => fixture.agent("a"),
      read: async (offset, events) => {
        reads.push(offset);
        fixture.do({ kind: "read", id: "a", generation: 1, offset, events });
        if (events.some((event) => event.kind === "done" && event.response === "poison")) throw new Error("undecided");
        read.push(...events);
        return true;
      },
      taken: async () => true,
      partial: ({ offset, from, text }) => void partials.push([offset, from, text]),
      clock: { now: () => fixture.now, after: (_, act) => later(act) },
      onBug: (error) => void bugs.push(error),
    },
  );
  const hears = (...frames: readonly Uint8Array[]) => wire.events?.bytes(Buffer.concat(frames));
  return { fixture, connection, hears, read, reads, partials, bugs };
}

const settled = () => new Promise((done) => setImmediate(done));

test("a line in two frames that arrive together is read at once, without waiting for more output", async () => {
  const { connection, hears, read, bugs } = setUp();
  const welcomed = connection.client.connect();
  await settled();
  hears(protocol.jsonFrame(protocol.WELCOME, STATUS));
  expect(await welcomed).toMatchObject({ ok: true });
  const line = Buffer.from('{"type":"done","response":"yes"}\n');
  hears(protocol.outputFrame(0, line.subarray(0, 9)), protocol.outputFrame(9, line.subarray(9)));
  await settled();
  expect(read).toEqual([{ kind: "done", response: "yes" }]);
  expect(bugs).toEqual([]);
});

test("A5 if the codec throws, the connection is over: that is reported once, and no more output is decoded", async () => {
  const bug = new RangeError("too deep");
  const LINE = { kind: "output", generation: 1, from: 0, to: 33 } as const;
  let decoded = 0;
  const decode = () => {
    decoded += 1;
    throw bug;
  };
  const { connection, hears, read, bugs } = setUp({ ...scripted, decode });
  const welcomed = connection.client.connect();
  await settled();
  hears(protocol.jsonFrame(protocol.WELCOME, STATUS));
  expect(await welcomed).toMatchObject({ ok: true });
  const line = Buffer.from('{"type":"done","response":"yes"}\n');
  for (const at of [0, 1]) {
    hears(protocol.outputFrame(at * line.length, line));
    await settled();
  }
  expect({ decoded, read }).toEqual({ decoded: 1, read: [] });
  expect(bugs).toEqual([new PoisonedBytes(LINE, bug)]);
  expect(bugs).toMatchObject([{ bytes: LINE, cause: bug }]);
});

test("A5 if the events of a line cannot be decided, the lines before it are read, and the error names its bytes", async () => {
  const { connection, hears, read, bugs } = setUp();
  const welcomed = connection.client.connect();
  await settled();
  hears(protocol.jsonFrame(protocol.WELCOME, STATUS));
  expect(await welcomed).toMatchObject({ ok: true });
  const [one, poison, two] = ["one", "poison", "two"].map(
    (response) => `${JSON.stringify({ type: "done", response })}\n`,
  );
  hears(protocol.outputFrame(0, Buffer.from(`${one}${poison}${two}`)));
  await settled();
  expect(read).toEqual([{ kind: "done", response: "one" }]);
  const bytes = { kind: "output", generation: 1, from: one?.length, to: `${one}${poison}`.length };
  expect(bugs).toMatchObject([{ message: "undecided", bytes }]);
});

test("A6 partial text is passed on and not recorded, but for a sign of life now and then, and before there is too much of it", async () => {
  const { fixture, connection, hears, read, reads, partials } = setUp();
  fixture.send("a", "m1");
  fixture.start("a");
  const welcomed = connection.client.connect();
  await settled();
  hears(protocol.jsonFrame(protocol.WELCOME, STATUS));
  await welcomed;
  let end = 0;
  const says = async (...lines: readonly object[]) => {
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    hears(protocol.outputFrame(end, bytes));
    end += bytes.length;
    await settled();
  };
  const partial = (text: string) => ({ type: "partial", text });
  for (let number = 0; number < 100; number += 1) await says(partial("word "));
  expect([partials.length, partials.at(-1), reads]).toEqual([100, [end, 495, "word "], []]);
  fixture.wait(30_000);
  await says(partial("more"));
  expect(reads).toEqual([end]);
  for (let number = 0; number < 33; number += 1) await says(partial("x".repeat(32 << 10)));
  expect(reads).toHaveLength(2);
  await says(partial("the end"), { type: "text", text: "all of it" }, partial("next"));
  expect(read).toEqual([{ kind: "text", text: "all of it" }]);
  expect(partials.slice(-2).map(([, from, text]) => [from > 0, text])).toEqual([
    [true, "the end"],
    [false, "next"],
  ]);
  expect(partials.at(-2)?.[0]).toBe(Number(reads.at(-1))); // It belongs to what was read with it.
  expect(Number(partials.at(-1)?.[0])).toBeGreaterThan(Number(reads.at(-1)));
});

test("A6 text that comes in parts only is recorded before anything else, and after two seconds in any case", async () => {
  const timers: (() => void)[] = [];
  const decode: typeof scripted.decode = (text, known) => {
    if (!text.startsWith("part ")) return scripted.decode(text, known);
    return { events: [], replies: [], part: text.slice("part ".length) };
  };
  const { fixture, connection, hears, read, reads } = setUp({ ...scripted, decode }, (act) => {
    timers.push(act);
    return () => undefined;
  });
  fixture.send("a", "m1");
  fixture.start("a");
  const welcomed = connection.client.connect();
  await settled();
  hears(protocol.jsonFrame(protocol.WELCOME, STATUS));
  await welcomed;
  let end = 0;
  const says = async (text: string) => {
    hears(protocol.outputFrame(end, Buffer.from(`${text}\n`)));
    end += text.length + 1;
    await settled();
  };
  for (const word of ["Once ", "upon ", "a "]) await says(`part ${word}`);
  expect([reads, timers.length]).toEqual([[], 1]);
  timers[0]?.();
  await settled();
  expect([reads, read]).toEqual([[end], [{ kind: "text", text: "Once upon a ", part: true }]]);
  await says("part time");
  await says('{"type":"done"}');
  expect(read.slice(1)).toEqual([
    { kind: "text", text: "time", part: true },
    { kind: "done", response: "" },
  ]);
  expect([reads.length, fixture.state("a")]).toEqual([2, "idle"]);
});
