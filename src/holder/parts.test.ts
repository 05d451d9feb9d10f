// Tests of the holder's parts in a simulated world: situations
// that occur too rarely, too slowly or never with real ones.
import { describe, expect, test } from "bun:test";
import { SimClock } from "../../tests/sim/clock.ts";
import { SimDisk } from "../../tests/sim/disk.ts";
import { nothing } from "../../tests/sim/survive.ts";
import { TapeTimes } from "../log/tape/times.ts";
import { HELLO, jsonFrame, WELCOME } from "../wire/holder/protocol.ts";
import type { Connection } from "../world/socket.ts";
import { Batch } from "./batch.ts";
import { commandOf } from "./child.ts";
import { Client, type Host } from "./client.ts";
import { Clients } from "./clients.ts";
import { Writers } from "./input.ts";
import { Pressure } from "./pressure.ts";
import { Recorder } from "./recorder.ts";
import { Rest } from "./rest.ts";
import { Ring } from "./ring.ts";
import { Sizing } from "./sizing.ts";

const LIMITS = { segmentBytes: 1 << 20, maxBytes: 8 << 20 };
const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (found: Uint8Array): string => Buffer.from(found).toString();
const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

describe("ring", () => {
  test("keeps the newest bytes by their absolute offset", () => {
    const ring = new Ring(100, 6);
    for (const part of ["abc", "de", "fgh"]) ring.push(bytes(part));
    expect([ring.start, ring.end]).toEqual([102, 108]);
    expect([102, 103, 105, 107, 108].map((at) => text(ring.read(at, 10)))).toEqual(["c", "de", "fgh", "h", ""]);
    ring.dropTo(106);
    expect([ring.start, text(ring.read(106, 1))]).toEqual([106, "g"]);
  });
});

describe("recorder", () => {
  function recorder(disk = new SimDisk()) {
    const clock = new SimClock();
    return { disk, clock, recorder: new Recorder({ disk, clock }, "/t/tape", LIMITS) };
  }

  test("a tape that lost its end continues after what was seen of it, with a gap and no offset used twice", async () => {
    const { disk, clock, recorder: first } = recorder();
    first.append(bytes("hello"));
    await first.finish();
    const next = new Recorder({ disk, clock }, "/t/tape", { ...LIMITS, startAt: 9 });
    expect([next.end, next.gaps]).toEqual([9, 1]);
    expect(next.append(bytes("new"))).toBe(9);
    expect(next.read(5, 10)).toEqual({ kind: "gap", from: 5, to: 9 });
    expect(next.read(9, 10)).toMatchObject({ kind: "bytes", offset: 9 });
    const whole = new Recorder({ disk, clock }, "/t/tape", { ...LIMITS, startAt: 2 });
    expect([whole.end, whole.gaps]).toEqual([12, 0]);
  });

  test("when bytes came is found beside the tape, across generations and a gap; at rest nothing is written", async () => {
    const [disk, clock] = [new SimDisk(), new SimClock(1_800_000_000_000)];
    const began = (startAt: number) => new Recorder({ disk, clock }, "/t/tape", { ...LIMITS, startAt, isTimed: true });
    const first = began(0);
    first.append(bytes("hello"));
    clock.advance(1000);
    first.append(bytes("again"));
    await first.finish();
    first.close();
    const past = new TapeTimes(disk, "/t/tape");
    const { calls } = disk;
    clock.advance(3_600_000);
    expect([disk.calls, clock.pendingTimers]).toEqual([calls, 0]);
    const second = began(14);
    second.append(bytes("new"));
    await second.finish();
    second.close();
    const times = new TapeTimes(disk.powerCut(nothing), "/t/tape");
    const moments = [0, 5, 14].map((offset, at) => ({
      offset,
      time: 1_800_000_000_000 + (at === 2 ? 3_601_000 : at * 1000),
    }));
    expect([...times.from(0)]).toEqual(moments);
    expect([past.last?.offset, times.offsetAt(1_800_000_002_000), disk.openCount]).toEqual([5, 14, 0]);
  });

  test("dirty bytes are synced within a second, and no timer runs while idle", async () => {
    const made = recorder();
    expect(made.clock.pendingTimers).toBe(0);
    made.recorder.append(bytes("hello"));
    expect(made.clock.pendingTimers).toBe(1);
    made.clock.advance(1000);
    await turn();
    await turn();
    expect(made.clock.pendingTimers).toBe(0);
    expect(made.recorder.trouble).toBeNull();
  });

  test("R6 a closed recorder has no file open and no timer, and what still comes is only counted", async () => {
    const made = recorder();
    let open = 0;
    made.disk.onCall = ({ operation }) => {
      open += Number(operation === "open") - Number(operation === "close");
    };
    made.recorder.append(bytes("hello"));
    await made.recorder.finish();
    expect(open).toBe(1);
    made.recorder.close();
    expect(open).toBe(0);
    expect([made.recorder.append(bytes("late")), made.recorder.end, made.clock.pendingTimers, open]).toEqual([
      5, 9, 0, 0,
    ]);
    const found = made.recorder.read(0, 100);
    expect(found.kind === "bytes" ? text(found.bytes) : found.kind).toBe("hello");
  });

  test("a failed sync ends the tape for this life; output continues in memory", async () => {
    const made = recorder();
    made.recorder.append(bytes("on the tape "));
    made.disk.fault = ({ operation }) => (operation === "datasync" ? { kind: "fail", code: "EIO" } : undefined);
    await made.recorder.finish();
    made.disk.fault = undefined;
    expect(made.recorder.trouble).toContain("EIO");
    expect(made.recorder.append(bytes("in memory"))).toBe(12);
    const found = made.recorder.read(12, 100);
    expect(found.kind === "bytes" ? text(found.bytes) : found.kind).toBe("in memory");
    for (let second = 0; second < 5; second += 1) made.clock.advance(1000);
    await made.recorder.finish();
    expect(made.recorder.trouble).toContain("EIO");
    expect(made.recorder.end).toBe(21);
  });

  test("a full disk is retried during a flood: what was left out is one gap, for readers and on the tape", async () => {
    const made = recorder();
    made.recorder.append(bytes("before"));
    made.disk.fault = ({ operation }) => (operation === "write" ? { kind: "fail", code: "ENOSPC" } : undefined);
    for (let second = 0; second < 4; second += 1) {
      made.recorder.append(new Uint8Array(1 << 20));
      made.clock.advance(1000);
    }
    const [end, inMemory] = [6 + (4 << 20), 6 + (3 << 20)];
    expect(made.recorder.read(6, 10)).toEqual({ kind: "gap", from: 6, to: inMemory });
    expect(made.recorder.read(inMemory, 10)).toMatchObject({ kind: "bytes", offset: inMemory });
    made.disk.fault = undefined;
    await made.recorder.finish();
    expect([made.recorder.end, made.recorder.gaps, made.recorder.trouble]).toEqual([end, 1, null]);
    expect(made.recorder.read(6, 10)).toEqual({ kind: "gap", from: 6, to: inMemory });
    expect(made.disk.list("/t/tape")).toHaveLength(2);
  });
});

describe("writers", () => {
  test("the number decides whether input is new, a repeat, or refused", () => {
    const writers = new Writers(2);
    const take = (writer: string, number: number, generation = 2) => writers.take(writer, { number, generation }).kind;
    expect([
      take("a", 1),
      take("a", 1),
      take("a", 3),
      take("a", 2, 1),
      take("a", 2),
      take("b", 2),
      take("b", 1),
    ]).toEqual(["new", "repeat", "refused", "refused", "new", "refused", "new"]);
    expect(writers.taken).toEqual({ a: 2, b: 1 });
  });

  test("their number is bounded: the one that was silent for the longest time is forgotten", () => {
    const writers = new Writers(1);
    for (let at = 0; at < 1001; at += 1) writers.take(`w${at}`, { number: 1, generation: 1 });
    expect([Object.keys(writers.taken).length, "w0" in writers.taken, "w1" in writers.taken]).toEqual([
      1000,
      false,
      true,
    ]);
  });
});

describe("sizing", () => {
  test("follows the client that came or typed last, and goes back when it leaves", () => {
    const sizing = new Sizing<string>({ cols: 80, rows: 24 });
    expect(sizing.typed("nobody with a window")).toBe(false);
    expect(sizing.resized("a", { cols: 100, rows: 30 })).toBe(true);
    expect(sizing.resized("b", { cols: 120, rows: 40 })).toBe(true);
    expect(sizing.resized("a", { cols: 101, rows: 31 })).toBe(false);
    expect([sizing.typed("a"), sizing.size.cols]).toEqual([true, 101]);
    expect([sizing.left("a"), sizing.size.cols]).toEqual([true, 120]);
    expect([sizing.left("b"), sizing.size.cols]).toEqual([false, 120]);
  });

  test("Z3 the smallest columns and rows of all windows, or a fixed size, if a client chooses so", () => {
    const sizing = new Sizing<string>({ cols: 80, rows: 24 });
    expect([sizing.choose("smallest"), sizing.size]).toEqual([false, { cols: 80, rows: 24 }]);
    sizing.resized("a", { cols: 100, rows: 30 });
    sizing.resized("b", { cols: 120, rows: 20 });
    expect([sizing.size, sizing.typed("a")]).toEqual([{ cols: 100, rows: 20 }, false]);
    expect([sizing.left("a"), sizing.size]).toEqual([true, { cols: 120, rows: 20 }]);
    expect([sizing.choose({ cols: 90, rows: 25 }), sizing.typed("b")]).toEqual([true, false]);
    expect([sizing.resized("b", { cols: 50, rows: 10 }), sizing.size]).toEqual([false, { cols: 90, rows: 25 }]);
    expect([sizing.choose("latest"), sizing.size]).toEqual([true, { cols: 50, rows: 10 }]);
  });

  test("Z4 a window of exactly the size answers, of several the one that typed last, and otherwise none", () => {
    const sizing = new Sizing<string>({ cols: 80, rows: 24 });
    expect(sizing.answerer).toBeUndefined();
    sizing.resized("a", { cols: 100, rows: 30 });
    sizing.resized("b", { cols: 100, rows: 30 });
    expect([sizing.answerer, sizing.typed("a"), sizing.answerer]).toEqual(["b", false, "a"]);
    sizing.resized("c", { cols: 120, rows: 20 });
    expect([sizing.answerer, sizing.clients]).toEqual(["c", ["b", "a", "c"]]);
    sizing.choose("smallest");
    expect([sizing.size, sizing.answerer]).toEqual([{ cols: 100, rows: 20 }, undefined]);
    sizing.choose({ cols: 100, rows: 30 });
    expect(sizing.answerer).toBe("a");
  });
});

describe("pressure", () => {
  test("pauses beyond the limit, and resumes when enough was consumed", async () => {
    const pressure = new Pressure(100);
    expect(pressure.produced(50)).toBeUndefined();
    let relieved = false;
    void pressure.produced(51)?.then(() => {
      relieved = true;
    });
    pressure.consume(0);
    await turn();
    expect(relieved).toBe(false);
    pressure.consume(1);
    await turn();
    expect([relieved, pressure.consumed]).toEqual([true, 1]);
    pressure.consume(1_000_000);
    expect(pressure.consumed).toBe(51); // What was not produced cannot have been consumed.
  });
});

describe("batch", () => {
  test("gathers small pieces until the turn is over, and passes on large ones, in order", async () => {
    const seen: string[] = [];
    const batch = new Batch(new SimClock(), {
      gathered: (frame) => void seen.push(text(frame.subarray(13))),
      large: (found) => void seen.push(`large ${found.length}`),
    });
    batch.add(bytes("a"));
    batch.add(bytes("b"));
    expect(seen).toEqual([]);
    batch.add(new Uint8Array(10_000));
    batch.add(bytes("c"));
    expect(batch.length).toBe(1);
    await turn();
    expect(seen).toEqual(["ab", "large 10000", "c"]);
  });
});

describe("rest", () => {
  test("happens once after each period of activity, and leaves no timer", () => {
    const clock = new SimClock();
    let rests = 0;
    const rest = new Rest(clock, () => {
      rests += 1;
    });
    for (let at = 0; at < 10; at += 1) {
      rest.stir();
      clock.advance(1000);
    }
    expect(rests).toBe(0);
    clock.advance(60_000);
    expect([rests, clock.pendingTimers]).toEqual([1, 0]);
  });

  test("does not happen after the end", () => {
    const clock = new SimClock();
    let rests = 0;
    const rest = new Rest(clock, () => {
      rests += 1;
    });
    rest.stir();
    rest.end();
    clock.advance(60_000);
    expect([rests, clock.pendingTimers]).toEqual([0, 0]);
  });
});

describe("client", () => {
  function connected() {
    const clock = new SimClock();
    const seen: string[] = [];
    const connection: Connection = {
      send: () => undefined,
      flush: () => undefined,
      waiting: 0,
      pause: () => undefined,
      resume: () => undefined,
      end: () => void seen.push("end"),
      destroy: () => void seen.push("destroy"),
    };
    const recorder = new Recorder({ disk: new SimDisk(), clock }, "/t/tape", LIMITS);
    const nothing = () => undefined;
    const host: Host = {
      ...{ clock, token: "t", recorder, joined: nothing, welcomed: nothing, left: nothing, resize: nothing },
      ...{ input: nothing, consumed: nothing, endInput: nothing, signal: () => true, status, seat: () => true },
      ...{ whyNot: nothing, choose: nothing, answer: nothing },
    };
    return { clock, seen, connection, client: new Client(connection, host) };
  }

  function status() {
    const size = { cols: 80, rows: 24 };
    const tape = { start: 0, end: 0, gaps: 0 };
    return {
      ...{ v: 1, generation: 1, mode: "pty" as const, pid: 1, child: null, startedAt: "", tape, consumed: 0, size },
      ...{ clients: 1, lastOutputAt: null, writers: {}, exit: null, trouble: null },
    };
  }

  test("a client that says nothing for ten seconds is closed", () => {
    const { clock, seen } = connected();
    clock.advance(9_999);
    expect(seen).toEqual([]);
    clock.advance(1);
    expect(seen).toEqual(["destroy"]);
  });

  test("a client that says hello in time may then be silent", () => {
    const { clock, seen, client } = connected();
    client.events.bytes(jsonFrame(HELLO, { v: 1, token: "t", writer: "w" }));
    clock.advance(100_000);
    expect(seen).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  test("C2 a client that does not speak the protocol is cut off: before its hello, after it, and in mid-frame", () => {
    const hello = jsonFrame(HELLO, { v: 1, token: "t", writer: "w" });
    const wrong = [jsonFrame(WELCOME, {}), Buffer.from([0, 0, 0, 0, 1]), Buffer.from("GET / HTTP/1.1\r\n")];
    for (const [at, bytes] of [...wrong.entries(), [3, Buffer.concat([hello, Buffer.alloc(9, 0xff)])] as const]) {
      const { seen, client } = connected();
      client.events.bytes(bytes);
      expect({ at, seen }).toEqual({ at, seen: ["destroy"] });
    }
  });

  test("L2 a second connection of the same writer takes over; one that only reads takes nothing", () => {
    const clients = new Clients();
    const join = (writer: string, readOnly = false) => {
      const { client, seen } = connected();
      client.events.bytes(jsonFrame(HELLO, { v: 1, token: "t", writer, readOnly }));
      clients.add(client);
      return seen;
    };
    const [first, other, reader] = [join("w"), join("v"), join("w", true)];
    expect([first, other, reader]).toEqual([[], [], []]);
    const second = join("w");
    expect([first, other, reader, second]).toEqual([["end"], [], [], []]);
  });

  test("a client that connected before the end is waited for, even if its hello is still on the way", async () => {
    const { connection, client } = connected();
    const clients = new Clients();
    clients.admit(connection);
    let gone = false;
    const finished = clients.finish(new Uint8Array(1)).then(() => {
      gone = true;
    });
    for (let turns = 0; turns < 10; turns += 1) await Promise.resolve();
    expect(gone).toBe(false);
    clients.remove(client);
    await finished;
  });
});

test("a child on pipes gets no TERM, and the marker cannot be changed", () => {
  const size = { cols: 80, rows: 24 };
  const spec = { v: 1, id: "me", generation: 1, argv: ["x"], cwd: "/", size, token: "t", socket: "/s", tape: LIMITS };
  const env = { HOLDFAST_TERMINAL: "another" };
  expect(commandOf({ ...spec, mode: "pipe", env }).env).toEqual({ HOLDFAST_TERMINAL: "me" });
  expect(commandOf({ ...spec, mode: "pty", env }).env).toEqual({ HOLDFAST_TERMINAL: "me", TERM: "xterm-256color" });
});
