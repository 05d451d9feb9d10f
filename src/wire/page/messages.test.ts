import { describe, expect, test } from "bun:test";
import { RIGHTS } from "../../core/principal.ts";
import {
  type HostMessage,
  isDaemonMethod,
  type PageMessage,
  parseHostMessage,
  parsePageMessage,
  readStream,
  streamMessage,
} from "./messages.ts";

const EXIT = { v: 1, generation: 1, code: 0, signal: null, bootId: "b", offset: 5, at: "now" };
const WHY = { code: "c", message: "m", hint: "h" };
const FROM_PAGE: readonly PageMessage[] = [
  { type: "hello", token: "t" },
  { type: "call", id: 1, method: "status", params: {} },
  { type: "watch", topics: ["*"] },
  { type: "open", stream: 1, terminal: "t" },
  { type: "took", stream: 1, bytes: 9 },
  { type: "close", stream: 0xffff_ffff },
];
const FROM_HOST: readonly HostMessage[] = [
  { type: "welcome", version: "0.1.0", home: "/h" },
  { type: "result", id: 1, result: null },
  { type: "refused", id: 1, error: WHY },
  { type: "notice", topic: "t", data: [1] },
  { type: "daemon", up: true, why: "" },
  { type: "closed", stream: 1, exit: EXIT, why: null },
  { type: "closed", stream: 1, exit: null, why: WHY },
];

describe("PM1 messages", () => {
  test("are read as they were sent, and fields of a newer version are kept", () => {
    for (const message of FROM_PAGE) expect(parsePageMessage(JSON.stringify(message))).toEqual(message);
    for (const message of FROM_HOST) expect(parseHostMessage(JSON.stringify(message))).toEqual(message);
    const newer = { type: "daemon", up: false, why: "x", since: "now" };
    expect(parseHostMessage(JSON.stringify(newer))).toMatchObject(newer);
  });

  test("of another side, another shape or another kind are none", () => {
    for (const message of FROM_HOST) expect(parsePageMessage(JSON.stringify(message))).toBeUndefined();
    for (const message of FROM_PAGE) {
      for (const field of Object.keys(message)) {
        const { [field]: _, ...less } = { ...message } as Record<string, unknown>;
        expect([less, parsePageMessage(JSON.stringify(less))]).toEqual([less, undefined]);
      }
    }
    for (const text of ["", "{", "[]", "1", '{"type":"toString"}', '{"type":["hello"],"token":"t"}'])
      expect(parsePageMessage(text)).toBeUndefined();
    for (const stream of [-1, 0.5, 2 ** 32, "1"])
      expect(parsePageMessage(JSON.stringify({ type: "close", stream }))).toBeUndefined();
  });
});

test("PM2 a piece of a stream has its number in front", () => {
  const bytes = new Uint8Array([1, 2, 3]);
  for (const stream of [0, 1, 0xdead_beef, 0xffff_ffff])
    expect(readStream(streamMessage(stream, bytes))).toEqual({ stream, bytes });
  expect(Buffer.from(streamMessage(258, bytes)).toString("hex")).toBe("00000102010203");
  expect(readStream(new Uint8Array(4))).toEqual({ stream: 0, bytes: new Uint8Array(0) });
  expect(readStream(new Uint8Array(3))).toBeUndefined();
});

test("what a page may not ask of the daemon: greetings, letting others in, agents' tools, and what is for shells", () => {
  const kept = Object.keys(RIGHTS).filter((method) => !isDaemonMethod(method));
  expect(kept.sort()).toEqual([
    ...[
      "agent.call",
      "agent.call-taken",
      "backup",
      "config.reload",
      "device.link",
      "device.pair",
      "device.redeem",
      "fleet.hand-over",
      "fleet.queue",
      "fleet.queue-agent",
      "fleet.queue-cancel",
      "fleet.queue-run",
      "gc",
      "hello",
      "subscribe",
    ],
    ...["tmux.adopt", "tmux.list", "tmux.recreate", "tmux.release"],
  ]);
  for (const method of ["constructor", "terminal.none", "terminal.", "", "web.state"])
    expect(isDaemonMethod(method)).toBe(false);
});
