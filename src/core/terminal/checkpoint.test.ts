import { expect, test } from "bun:test";
import { sessionOf, typicalSession } from "../../../tests/terminal/checkpoint-sessions.ts";
import { encodeEnvelope } from "../../log/checkpoint/envelope.ts";
import { CHECKPOINT_VERSION, estimateSize, readSessions, shellLine, validateCheckpoint } from "./checkpoint.ts";

const NOW = Date.UTC(2026, 0, 2);
const HOUR = 3_600_000;
const checkpoint = (over: object = {}) => {
  const timestamp = new Date(NOW).toISOString();
  return { version: CHECKPOINT_VERSION, timestamp, checksum: "a".repeat(64), sessions: [sessionOf(1)], ...over };
};
const judge = (over: object = {}, facts: object = {}) =>
  validateCheckpoint(checkpoint(over), { now: NOW, intact: true, ...facts });
const at = (ms: number) => ({ timestamp: new Date(NOW + ms).toISOString() });

test("TC-6(a) a whole checkpoint is valid", () => {
  expect(judge()).toEqual({ valid: true, errors: [] });
});

test("TC-6(a,b,d) something else, a wrong checksum and missing fields are reported, each by its field", () => {
  for (const nothing of [null, 7, "x", []]) {
    expect(validateCheckpoint(nothing, { now: NOW, intact: true })).toMatchObject({ valid: false, errors: [{}] });
  }
  expect(judge({}, { intact: false }).errors).toEqual([
    { field: "checksum", reason: "the bytes do not match their checksum" },
  ]);
  const { errors } = validateCheckpoint({}, { now: NOW, intact: true });
  expect(errors.map(({ field }) => field)).toEqual(["checksum", "version", "timestamp", "sessions"]);
});

test("TC-6(a,c) a future version is refused clearly", () => {
  expect(judge({ version: 9 }).errors).toEqual([
    { field: "version", reason: "it has version 9; this program knows versions up to 2" },
  ]);
});

test("TC-6(a,e) not from the future and not older than a day, with five minutes for clocks that differ", () => {
  expect(judge(at(4 * 60_000)).valid).toBe(true);
  expect(judge(at(6 * 60_000)).errors).toMatchObject([
    { field: "timestamp", reason: expect.stringContaining("future") },
  ]);
  expect(judge(at(-24 * HOUR)).valid).toBe(true);
  expect(judge(at(-30 * HOUR)).errors).toMatchObject([
    { field: "timestamp", reason: expect.stringContaining("older") },
  ]);
  expect(judge(at(-30 * HOUR), { maxAgeMs: 48 * HOUR }).valid).toBe(true);
  expect(judge({ timestamp: "yesterday" }).errors).toMatchObject([{ field: "timestamp" }]);
});

test("TC-7 sessions are judged one by one: the valid ones stay, the others are named with their field", () => {
  const { workingDirectory: _, ...without } = sessionOf(2);
  const body = { sessions: [sessionOf(1), without, 7, sessionOf(3), sessionOf(3)] };
  const { sessions, errors } = readSessions(body);
  expect(sessions.map(({ name }) => name)).toEqual(["t1", "t3"]);
  expect(errors).toEqual([
    { sessionId: sessionOf(2).sessionId, field: "workingDirectory", reason: "it is missing" },
    { field: "sessions", reason: "one of them is not a session" },
    { sessionId: sessionOf(3).sessionId, field: "terminalId", reason: "it is there twice" },
  ]);
});

test("TC-6(d) every field of a session is checked", () => {
  const wrong: Record<string, readonly unknown[]> = {
    sessionId: ["", 7],
    workingDirectory: ["relative", null],
    environmentVariables: [{ A: 1 }, []],
    scrollbackSnapshot: [null],
    multiplexerSessionName: [7],
    argv: [[], [1], "sh"],
    size: [{ cols: 0, rows: 1 }, null],
    generation: [0, 1.5],
    policy: ["always"],
    bootId: [1],
    screen: [{}, { offset: -1 }, 7],
    foreground: [{ argv: ["x"] }, { argv: [], cwd: "/" }, { argv: ["x"], cwd: "/", startedAt: 7 }, "x"],
  };
  for (const [field, values] of Object.entries(wrong)) {
    for (const value of values) {
      const { errors } = readSessions({ sessions: [{ ...sessionOf(1), [field]: value }] });
      expect({ field, value, found: errors.map((error) => error.field) }).toEqual({ field, value, found: [field] });
    }
  }
});

test("TC-1(c) the document's zelijjSessionName is read as the multiplexer's session name", () => {
  const { multiplexerSessionName: _, ...rest } = sessionOf(1);
  const read = (item: object) => readSessions({ sessions: [item] }).sessions[0]?.multiplexerSessionName;
  expect(read({ ...rest, zelijjSessionName: "zj" })).toBe("zj");
  expect(read({ ...rest, zelijjSessionName: "zj", multiplexerSessionName: "mine" })).toBe("mine");
});

test("TC-5(a) estimateSize is within 20 % of the real size of 25 sessions, with and without samples", () => {
  const sessions = Array.from({ length: 25 }, (_, n) => typicalSession(n));
  const facts = { kind: "terminals", version: 1, fold: 1, seq: 0, time: new Date(NOW).toISOString() };
  const real = encodeEnvelope(facts, JSON.stringify({ sessions })).bytes.length;
  for (const estimate of [estimateSize(25), estimateSize(25, sessions)]) {
    expect(Math.abs(estimate - real) / real).toBeLessThan(0.2);
  }
  expect(estimateSize(0)).toBeLessThan(1000);
});

test("a command becomes a line that a shell reads as the same words", () => {
  expect(shellLine(["vim", "it's", "a b", ""])).toBe("vim 'it'\\''s' 'a b' ''");
});
