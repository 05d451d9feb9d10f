import { expect, test } from "bun:test";
import type { AgentEvent } from "./events.ts";
import { historyOf } from "./history.ts";

const AT = "2026-11-17T10:00:00.000Z";
const read = (...events: Extract<AgentEvent, { event: "agent.read" }>["data"]["events"]): AgentEvent => ({
  event: "agent.read",
  id: "a",
  data: { generation: 1, offset: 9, events, at: AT },
});

test("a call of a tool and its result have the same use, whoever carries the tool out", () => {
  const uses = (event: AgentEvent) => historyOf(event).map((piece) => "use" in piece && piece.use);
  expect(uses(read({ kind: "tool", use: "1", tool: "Bash", input: { command: "ls" } }))).toEqual(["1"]);
  expect(uses(read({ kind: "tool-done", use: "1", ok: true, text: "file" }))).toEqual(["1"]);
  expect(uses(read({ kind: "call", call: "2", tool: "spawn", args: {} }))).toEqual(["2"]);
  const data = { call: "2", tool: "spawn", ok: true, result: { id: "x" }, inline: true, messages: [], at: AT };
  expect(uses({ event: "tool.answered", id: "a", data })).toEqual(["2"]);
});

test("HI1 bookkeeping is left out, and so is everything about an agent's environment", () => {
  expect(historyOf({ event: "input.taken", id: "a", data: { generation: 1, through: 1, pieces: 1 } })).toEqual([]);
  const plan = { system_prompt: "s3cret", cwd: "/", environment: { KEY: "s3cret" }, workspace: null };
  const recipe = { provider: "scripted", model: null, command: ["s3cret"], flags: [] } as const;
  const session = { ...plan, recipe: { ...recipe, permissionMode: null, options: {} } };
  const created = { agent_id: "a", name: "one", parent_session_id: null, instructions: "", session, at: AT };
  const event = { event: "agent.created", id: "a", data: created } as unknown as AgentEvent;
  expect(historyOf(event)).toEqual([{ kind: "life", what: "Created", text: "", isBad: false }]);
});

test("HI3 long texts are cut, each by itself, and say how much is missing", () => {
  const long = "x".repeat(20_000);
  const [text] = historyOf(read({ kind: "text", text: long }));
  expect(text?.kind === "text" && text.text.endsWith("more characters)") && text.text.length < 8_300).toBe(true);
  const [tool] = historyOf(read({ kind: "tool", use: "1", tool: "Write", input: { path: "a", content: long } }));
  expect(tool).toMatchObject({ input: { path: "a" } });
  for (const input of [{ list: Array(9_000).fill("wide") }, Array(9_000).fill(1)]) {
    const piece = historyOf(read({ kind: "tool", use: "1", tool: "T", input }))[0];
    expect(JSON.stringify(piece).length).toBeLessThan(40_000);
  }
});
