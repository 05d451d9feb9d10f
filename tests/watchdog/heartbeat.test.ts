// Claims about the heartbeat protocol, and about its sender.
import { expect, test } from "bun:test";
import { Fault } from "../../src/base/fault.ts";
import {
  HeartbeatLink,
  type HeartbeatPorts,
  type HeartbeatWire,
  keepWatchdog,
  startHeartbeat,
} from "../../src/home/heartbeat-client.ts";
import { decodeHeartbeat, encodeHeartbeat, HeartbeatReader } from "../../src/wire/heartbeat.ts";
import { SimClock } from "../sim/clock.ts";

const self = { name: "daemon", pid: 7, startTime: 70, bootId: "b" };
const hello = { type: "hello", ...self, live: false } as const;

test("WD-4 heartbeats are sent at once and at every interval until stopped", () => {
  const clock = new SimClock();
  let sent = 0;
  const send = (): void => {
    sent += 1;
  };
  const channel = { send, after: (ms: number, fn: () => void) => clock.after(ms, fn) };
  const stop = startHeartbeat(channel, 2000);
  expect(sent).toBe(1);
  clock.advance(10_000);
  expect(sent).toBe(6);
  stop();
  clock.advance(10_000);
  expect(sent).toBe(6);
  expect(clock.pendingTimers).toBe(0);
});

test("every message is decoded as it was encoded, however the stream is split", () => {
  const messages = [hello, { type: "beat" }, { type: "live" }, { type: "bye", code: 3 }, { type: "look" }] as const;
  const stream = Buffer.concat(messages.map(encodeHeartbeat));
  for (let cut = 1; cut < stream.length; cut += 1) {
    const reader = new HeartbeatReader();
    const got = [...(reader.push(stream.subarray(0, cut)) ?? []), ...(reader.push(stream.subarray(cut)) ?? [])];
    expect(got).toEqual([...messages]);
  }
});

test("WD-9(b) a line that is not a message is skipped, and fields of a newer version are ignored", () => {
  const bad = [
    ...["", "x", "[]", "null", "7", '{"type":"hello"}', '{"type":"dance"}', '{"type":"bye"}', "{"],
    ...["-1", "1.5", '"7"'].map((pid) => `{"type":"hello","name":"a","pid":${pid},"startTime":1,"bootId":"b"}`),
    `{"type":"beat","x":"${"x".repeat(5000)}"}`,
  ];
  for (const line of bad) expect(decodeHeartbeat(line)).toBeUndefined();
  expect(decodeHeartbeat('{"v":9,"type":"beat","mood":"good"}')).toEqual({ type: "beat" });
  const reader = new HeartbeatReader();
  expect(reader.push(Buffer.from(`${bad.join("\n")}\n\xff\xfe\n{"type":"beat"}\n`, "latin1"))).toEqual([
    { type: "beat" },
  ]);
});

test("WD-9(b) a line without an end is not buffered forever", () => {
  const reader = new HeartbeatReader();
  let refused = false;
  for (let chunk = 0; chunk < 64 && !refused; chunk += 1)
    refused = reader.push(Buffer.alloc(64 << 10, 65)) === undefined;
  expect(refused).toBe(true);
});

/** A watchdog's end of the connection, which can go away and come back. */
function line() {
  const clock = new SimClock();
  const state = { listening: true, waiting: 0, said: [] as string[], connections: 0, replies: false };
  let hangUp = (): void => undefined;
  const ports: HeartbeatPorts = {
    connect: async (events) => {
      if (!state.listening) throw new Fault({ code: "ECONNREFUSED", operation: "connect", path: "s" });
      state.connections += 1;
      hangUp = () => events.closed();
      const wire: HeartbeatWire = {
        send: (bytes) => {
          const type = String(decodeHeartbeat(Buffer.from(bytes).toString())?.type);
          state.said.push(type);
          if (type === "beat" && state.replies) events.bytes(encodeHeartbeat({ type: "beat" }));
        },
        get waiting() {
          return state.waiting;
        },
        end: () => events.closed(),
      };
      return wire;
    },
    after: (ms, fn) => clock.after(ms, fn),
    chance: () => 0,
  };
  return { clock, state, ports, hangUp: () => hangUp() };
}

async function pass(clock: SimClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 10) {
    clock.advance(Math.min(10, left));
    await clock.settle();
  }
}

test("WD-4 a returning watchdog learns who we are and that we are live; the gap disturbs nothing", async () => {
  const { clock, state, ports, hangUp } = line();
  const link = new HeartbeatLink(ports, self);
  await clock.settle();
  link.live();
  const stop = startHeartbeat(link, 1000);
  expect(state.said).toEqual(["hello", "live", "beat"]);
  state.listening = false;
  hangUp();
  await pass(clock, 5000);
  expect(state.said).toEqual(["hello", "live", "beat"]);
  state.listening = true;
  await pass(clock, 2000);
  expect(state.said.slice(3, 5)).toEqual(["hello", "beat"]);
  stop();
  link.leave(0);
  expect(state.said.at(-1)).toBe("bye");
  await pass(clock, 5000);
  expect([state.connections, clock.pendingTimers]).toEqual([2, 0]);
});

test("WD-4 a watchdog that does not read costs no memory: beats are dropped", async () => {
  const { clock, state, ports } = line();
  const link = new HeartbeatLink(ports, self);
  await clock.settle();
  state.waiting = 5000;
  startHeartbeat(link, 10);
  await pass(clock, 1000);
  expect(state.said).toEqual(["hello"]);
});

test("a link that is closed while it connects stays closed", async () => {
  const { clock, state, ports } = line();
  const link = new HeartbeatLink(ports, self);
  link.close();
  await pass(clock, 3000);
  expect(state.said).toEqual([]);
  expect(clock.pendingTimers).toBe(0);
});

test("a lost watchdog is restarted while up is wanted, at most every 2 s, and never while down is", async () => {
  const { clock, state, ports } = line();
  state.listening = false;
  const starts: number[] = [];
  let wanted: "up" | "down" = "down";
  const start = () => {
    starts.push(clock.elapsed());
    throw new Fault({ code: "EAGAIN", operation: "start", path: "watchdog" });
  };
  const keep = keepWatchdog({ wanted: () => wanted, start, elapsed: () => clock.elapsed() });
  const link = new HeartbeatLink(ports, self, keep);
  await pass(clock, 5000);
  expect(starts).toEqual([]);
  wanted = "up";
  await pass(clock, 10_000);
  expect(starts.length).toBeGreaterThanOrEqual(3);
  expect(starts.slice(1).every((at, index) => at - (starts[index] ?? 0) >= 2000)).toBe(true);
  link.close();
});

test("a watchdog kept by a service manager is not started by the daemon; once it is no longer kept, it is", async () => {
  const { clock, state, ports } = line();
  state.listening = false;
  let managed = true;
  let starts = 0;
  const start = () => {
    starts += 1;
  };
  const keep = keepWatchdog({ wanted: () => "up", managed: () => managed, start, elapsed: () => clock.elapsed() });
  const link = new HeartbeatLink(ports, self, keep);
  await pass(clock, 5000);
  expect(starts).toBe(0);
  managed = false;
  await pass(clock, 5000);
  expect(starts).toBeGreaterThan(0);
  link.close();
});

test("a watchdog that answered and is lost is restarted at once, but at most five times in ten seconds", async () => {
  const { clock, ports, hangUp } = line();
  let starts = 0;
  const start = () => {
    starts += 1;
  };
  const keep = keepWatchdog({ wanted: () => "up", start, elapsed: () => clock.elapsed() });
  const link = new HeartbeatLink(ports, self, keep);
  for (let loss = 1; loss <= 8; loss += 1) {
    await pass(clock, 100);
    hangUp();
    expect(starts).toBe(Math.min(loss, 5));
  }
  await pass(clock, 10_000);
  hangUp();
  expect(starts).toBe(6);
  link.close();
});

test("H4 a watchdog that no longer replies is ended after seven seconds, unless down is wanted; one that never did is not", async () => {
  const { clock, state, ports } = line();
  const ends: number[] = [];
  let wanted: "up" | "down" = "up";
  const end = () => void ends.push(clock.elapsed());
  const keep = keepWatchdog({ wanted: () => wanted, start: () => undefined, end, elapsed: () => clock.elapsed() });
  const link = new HeartbeatLink(ports, self, keep);
  await clock.settle();
  const stop = startHeartbeat(link, 2000);
  await pass(clock, 60_000);
  expect(ends).toEqual([]); // An older version.
  state.replies = true;
  await pass(clock, 60_000);
  expect(ends).toEqual([]);
  state.replies = false;
  wanted = "down";
  await pass(clock, 20_000);
  expect(ends).toEqual([]);
  state.replies = true;
  await pass(clock, 2_000);
  state.replies = false;
  wanted = "up";
  const since = clock.elapsed();
  await pass(clock, 10_000);
  expect(ends.length).toBe(1);
  expect((ends[0] ?? 0) - since).toBeGreaterThanOrEqual(7_000);
  stop();
  link.close();
});

test("H4 our own absence is not the watchdog's: one late beat ends nothing", async () => {
  const { clock, state, ports } = line();
  let ends = 0;
  const end = () => {
    ends += 1;
  };
  const keep = keepWatchdog({ wanted: () => "up", start: () => undefined, end, elapsed: () => clock.elapsed() });
  const link = new HeartbeatLink(ports, self, keep);
  await clock.settle();
  state.replies = true;
  startHeartbeat(link, 2000);
  state.replies = false;
  await pass(clock, 2_000);
  clock.lag(60_000);
  state.replies = true;
  await pass(clock, 10_000);
  expect(ends).toBe(0);
  link.close();
});
