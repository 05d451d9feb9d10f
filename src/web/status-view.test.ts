import { expect, test } from "bun:test";
import type { ListedTerminal } from "../wire/rpc/rpc.ts";
import { rowOf } from "./status-view.ts";

const start = { argv: [], cwd: "/", typed: "", message: "", reason: "", notes: [], offset: 0, screenAgeMs: null };
const restored = { ...start, evidence: null, at: "2026-01-01T00:00:00.000Z", accepted: false };
const terminal: ListedTerminal = {
  id: "t1",
  name: "work",
  lane: "main",
  recipe: { argv: ["sh"], cwd: "/", env: { SECRET: "hunter2" }, size: { cols: 80, rows: 24 } },
  generation: 1,
  createdAt: "2026-01-01T00:00:00.000Z",
  state: { kind: "running", holder: 1, pid: 2, startTime: 3, bootId: "b" },
  signal: undefined,
  unset: [],
  policy: "auto",
  restored: undefined,
  restorations: [],
  rollingBack: false,
  removed: false,
  clients: 0,
  lastOutputAt: null,
  bytes: 0,
};

test("a restarted terminal shows it until it is accepted; an uncertain one shows what to type", () => {
  expect(rowOf(terminal)).toMatchObject({ state: "running", detail: "", pid: 2 });
  expect(rowOf({ ...terminal, restored }).detail).toBe("started again 2026-01-01T00:00:00.000Z");
  expect(rowOf({ ...terminal, restored: { ...restored, accepted: true } }).detail).toBe("");
  const waits = rowOf({ ...terminal, state: { kind: "uncertain", reason: "its policy is ask", child: undefined } });
  expect(waits).toMatchObject({ detail: "its policy is ask – holdfast restore work", pid: null });
});
