// Records as the real programs write them (Claude Code 2.1.327, codex 0.169.0, gemini 0.61.0), shortened.
import { expect, test } from "bun:test";
import { claudeProcess, opencodeConversations, stateAtEnd } from "./agent-records.ts";

const ID = "9c33d630-5a95-4f3a-a092-31a1f4b2cc5c";
const RECORD = {
  ...{ pid: 12281, sessionId: ID, cwd: "/w", startedAt: 1795016791926, procStart: "45412", version: "2.1.327" },
  ...{ kind: "interactive", name: "work-67", status: "waiting", waitingFor: "dialog open" },
};

test("Claude Code says which conversation a process is in, and what it does", () => {
  const read = (changes: object) => claudeProcess(JSON.stringify({ ...RECORD, ...changes }));
  expect(read({})).toEqual({ pid: 12281, id: ID, startTime: 45412, state: "waiting", version: "2.1.327" });
  expect([read({ status: "busy" }), read({ status: "idle" })].map((one) => one?.state)).toEqual(["working", "idle"]);
  for (const status of ["dreaming", "constructor", undefined]) expect(read({ status })?.state).toBe("unknown");
  expect(read({ procStart: undefined })?.startTime).toBeUndefined(); // An older version.
});

test("AR1 what cannot be read says nothing, and no id is a word of another kind", () => {
  for (const sessionId of ["--dangerously-skip-permissions", "../x", "", 7, null])
    expect(claudeProcess(JSON.stringify({ ...RECORD, sessionId }))).toBeUndefined();
  for (const text of ["", "{", "[]", "null", `{"pid":"x"}`, "[".repeat(50_000)])
    expect(claudeProcess(text)).toBeUndefined();
  const row = {
    id: "ses_e10a88732ffeH7qVxFxqxGoQxc",
    version: "1",
    role: null,
    finish: null,
    completed: null,
    at: null,
  };
  expect(opencodeConversations([row, { ...row, id: "--agent" }], 0)).toEqual([
    { id: row.id, version: "1", state: "idle" },
  ]);
  for (const rows of [undefined, {}, [{}], [{ ...row, role: 7 }]])
    expect(opencodeConversations(rows, 0)).toBeUndefined();
});

const lines = (...records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("");
const codex = (type: string) => ({ timestamp: "x", type: "event_msg", payload: { type, turn_id: "t" } });

test("codex marks where a turn begins and ends", () => {
  const item = { type: "response_item", payload: { type: "message", role: "user" } };
  const meta = { type: "session_meta", payload: { cwd: "/w" } };
  expect(stateAtEnd("codex", lines(meta, codex("task_started"), item), 0)).toBe("working");
  expect(stateAtEnd("codex", lines(codex("task_started"), item, codex("task_complete")), 0)).toBe("idle");
  expect(stateAtEnd("codex", lines(codex("task_started"), codex("turn_aborted")), 0)).toBe("idle");
  expect(stateAtEnd("codex", `"torn"}\n${lines(item, codex("token_count"))}`, 0)).toBe("working"); // AR2
});

test("gemini is working from a message until its answer, and while it calls tools", () => {
  const set = { $set: { lastUpdated: "x" } };
  const said = { id: "1", type: "user", content: [{ text: "hello" }] };
  const answer = { id: "2", type: "gemini", content: "heard you", thoughts: [] };
  expect(stateAtEnd("gemini", lines({ sessionId: ID }, set), 0)).toBe("unknown");
  expect(stateAtEnd("gemini", lines(answer, said, set), 0)).toBe("working");
  expect(stateAtEnd("gemini", lines(said, answer, set), 0)).toBe("idle");
  expect(stateAtEnd("gemini", lines(said, { ...answer, content: "" }, set), 0)).toBe("working");
  expect(stateAtEnd("gemini", lines(said, { ...answer, toolCalls: [{}] }, set), 0)).toBe("working");
  expect(stateAtEnd("gemini", lines(said, { type: "error", content: "x" }), 0)).toBe("idle");
});

test("AR3 a turn that was interrupted with another process is over", () => {
  const began = Date.parse("2026-11-18T15:50:00.000Z");
  const at = (timestamp: string, record: object) => lines({ ...record, timestamp });
  const [before, after] = ["2026-11-18T15:49:59.000Z", "2026-11-18T15:50:01.000Z"];
  const [started, said] = [codex("task_started"), { type: "user", content: "x" }];
  for (const [name, record] of [
    ["codex", started],
    ["gemini", said],
  ] as const) {
    expect(stateAtEnd(name, at(before, record), began)).toBe("idle");
    expect(stateAtEnd(name, at(after, record), began)).toBe("working");
  }
  const row = { id: "ses_e10a88732ffe", version: "1", role: "assistant", finish: null, completed: null };
  const states = [began - 1, began + 1].map((time) => opencodeConversations([{ ...row, at: time }], began)?.[0]?.state);
  expect(states).toEqual(["idle", "working"]);
});
