import { expect, test } from "bun:test";
import { cells, unreachable } from "../base/machine.ts";
import { type StartupEvent, type StartupState, startupMachine } from "./startup.ts";

/** The state after a chain of events; the refusal's code if one of them is illegal. */
function walk(...events: readonly StartupEvent[]): StartupState | string {
  let state = startupMachine.initial;
  for (const event of events) {
    const next = startupMachine.next(state, event);
    if (!next.ok) return `${next.error.code} in ${state}`;
    state = next.value;
  }
  return state;
}

test("DS-1(a) config, storage, state, servers, running: in this order and in no other", () => {
  const way: readonly StartupEvent[] = ["config valid", "storage healthy", "state reconciled", "bound"];
  expect(way.map((_, count) => walk(...way.slice(0, count)))).toEqual([
    "LoadConfig",
    "InitStorage",
    "ReconcileState",
    "StartServers",
  ]);
  expect(walk(...way)).toBe("Running");
  for (const left of way.keys()) expect(walk(...way.toSpliced(left, 1))).not.toBe("Running");
});

test("DS-1(b) an invalid configuration is the end", () => {
  expect(walk("config invalid")).toBe("ConfigError");
  expect(startupMachine.table.ConfigError).toEqual({});
});

test("DS-2(a,b) a failed integrity check leads to a recovery attempt; success continues, failure is the end", () => {
  const found: readonly StartupEvent[] = ["config valid", "integrity check failed"];
  expect(walk(...found)).toBe("CorruptionDetected");
  expect(walk(...found, "recovery worked")).toStartWith("illegal-transition");
  expect(walk(...found, "attempt", "recovery worked")).toBe("ReconcileState");
  expect(walk(...found, "attempt", "recovery failed")).toBe("RecoveryFailed");
  expect(startupMachine.table.RecoveryFailed).toEqual({});
});

test("DS-3(a,b) a socket that cannot be bound is retried, until it is bound or given up", () => {
  const here: readonly StartupEvent[] = ["config valid", "storage healthy", "state reconciled", "bind failed"];
  expect(walk(...here, "bind failed", "bind failed", "bound")).toBe("Running");
  expect(walk(...here, "bind failed", "max retries")).toBe("ServerExhausted");
  expect(startupMachine.table.ServerExhausted).toEqual({});
});

test("DS-4(a) only a running daemon can be shut down", () => {
  const stopping = cells(startupMachine).filter(({ event, next }) => event === "shutdown signal" && next !== undefined);
  expect(stopping).toEqual([{ state: "Running", event: "shutdown signal", next: "Stopped" }]);
});

test("DS-1(a) every state can be reached, and every cell is checked: 14 are legal", () => {
  expect(unreachable(startupMachine)).toEqual([]);
  expect(cells(startupMachine).filter(({ next }) => next !== undefined).length).toBe(14);
  for (const { state, event, next } of cells(startupMachine)) {
    const taken = startupMachine.next(state, event);
    expect(taken.ok ? taken.value : undefined).toBe(next);
  }
});
