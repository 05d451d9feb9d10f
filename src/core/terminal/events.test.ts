import { expect, test } from "bun:test";
import { applyTerminal, type TerminalEvent } from "./events.ts";
import { childOf, type Terminal } from "./terminal.ts";

const AT = "2026-01-01T00:00:00.000Z";
const SIZE = { cols: 80, rows: 24 };
const CREATED: TerminalEvent = {
  event: "terminal.created",
  id: "t1",
  data: { name: "one", lane: "default", argv: ["sh"], cwd: "/", env: {}, size: SIZE, generation: 1, at: AT },
};
const STARTED: TerminalEvent = {
  event: "terminal.started",
  id: "t1",
  data: { pid: 7, start_time: 70, boot_id: "boot", holder: 6, generation: 1 },
};
const SIGNAL: TerminalEvent = { event: "terminal.signal.requested", id: "t1", data: { signal: "SIGINT" } };
const ENDED: TerminalEvent = {
  event: "terminal.ended",
  id: "t1",
  data: { code: null, signal: "SIGKILL", generation: 1, at: AT },
};

function fold(...events: readonly TerminalEvent[]): Terminal {
  let terminal: Terminal | undefined;
  for (const event of events) terminal = applyTerminal(terminal, event);
  if (terminal === undefined) throw new Error("something was folded");
  return terminal;
}

test("a created terminal is starting, with its recipe", () => {
  expect(fold(CREATED)).toEqual({
    id: "t1",
    name: "one",
    lane: "default",
    recipe: { argv: ["sh"], cwd: "/", env: {}, size: SIZE },
    generation: 1,
    createdAt: AT,
    state: { kind: "starting" },
    signal: undefined,
    unset: [],
    policy: "auto",
    restored: undefined,
    restorations: [],
    rollingBack: false,
    removed: false,
  });
});

test("each event changes what it names and nothing else", () => {
  const running = fold(CREATED, STARTED);
  expect(running).toEqual({
    ...fold(CREATED),
    state: { kind: "running", pid: 7, startTime: 70, bootId: "boot", holder: 6 },
  });
  const more = (event: TerminalEvent) => applyTerminal(running, event);
  expect(more({ event: "terminal.renamed", id: "t1", data: { name: "two" } })).toEqual({ ...running, name: "two" });
  expect(more({ event: "terminal.moved", id: "t1", data: { lane: "work" } })).toEqual({ ...running, lane: "work" });
  expect(more(SIGNAL)).toEqual({ ...running, signal: { name: "SIGINT" } });
  expect(more({ event: "terminal.removed", id: "t1", data: {} })).toEqual({ ...running, removed: true });
  const state = { kind: "ended", code: null, signal: "SIGKILL", at: AT } as const;
  expect(more(ENDED)).toEqual({ ...running, state });
  const lost: TerminalEvent = { event: "terminal.uncertain", id: "t1", data: { reason: "why", generation: 1 } };
  const child = childOf(running.state); // Still known, to find what it may have left behind.
  expect(child).toBeDefined();
  const uncertain = more(lost);
  expect(uncertain).toEqual({ ...running, state: { kind: "uncertain", reason: "why", child } });
  expect(applyTerminal(uncertain, lost)).toEqual(uncertain);
});

test("an end drops a pending signal, a start does not", () => {
  expect(fold(CREATED, SIGNAL, STARTED).signal).toEqual({ name: "SIGINT" });
  expect(fold(CREATED, STARTED, SIGNAL, ENDED).signal).toBeUndefined();
  expect(fold(CREATED, STARTED, SIGNAL, { event: "terminal.signalled", id: "t1", data: {} }).signal).toBeUndefined();
});

test("an event before the creation throws, and names its terminal", () => {
  for (const event of [STARTED, SIGNAL, ENDED]) {
    expect(() => applyTerminal(undefined, event)).toThrow(`${event.event} of terminal t1, which was never created`);
  }
});

test("folding does not modify the previous state", () => {
  const before = Object.freeze(fold(CREATED));
  applyTerminal(before, STARTED);
  expect(before.state).toEqual({ kind: "starting" });
});
