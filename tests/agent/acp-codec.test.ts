// The Agent Client Protocol as a real agent speaks it: the lines below were sent by opencode 1.18.33.
import { expect, test } from "bun:test";
import { acp } from "../../src/wire/provider/acp.ts";
import { facts } from "./facts.ts";

const RPC = { jsonrpc: "2.0" };
const said = (message: object, given = {}) => acp.decode(JSON.stringify({ ...RPC, ...message }), facts(given));
const told = (input: Parameters<typeof acp.encode>[0], given = {}) =>
  acp.encode(input, facts(given))?.map((line) => JSON.parse(line));

test("AG-6(a) a new session is requested once, and loaded by its id afterwards", () => {
  const tools = { command: ["bun", "shim.ts"], env: { TOKEN: "t" } };
  const fresh = told({ kind: "open" }, { open: false, tools });
  expect(fresh?.map(({ id, method }) => [id, method])).toEqual([
    ["open", "initialize"],
    ["session", "session/new"],
  ]);
  const server = { name: "holdfast", command: "bun", args: ["shim.ts"], env: [{ name: "TOKEN", value: "t" }] };
  expect(fresh?.[1]?.params).toEqual({ cwd: "/work", mcpServers: [server] });
  const again = told({ kind: "open" }, { session: "ses_1", resume: true, named: true, open: false });
  expect(again?.[1]).toMatchObject({ method: "session/load", params: { sessionId: "ses_1", cwd: "/work" } });
  // P4: the first process died before it was asked for a session.
  expect(told({ kind: "open" }, { resume: true, open: false })?.[1]).toMatchObject({ method: "session/new" });
});

test("nothing is sent in a session before it is open, and its id is known either way of opening it", () => {
  const prompt = { kind: "prompt", uuid: "aa", text: "hello" } as const;
  expect(acp.encode(prompt, facts({ open: false }))).toBeUndefined();
  expect(told(prompt, { session: "ses_1" })).toEqual([
    {
      ...{ ...RPC, id: "prompt-aa", method: "session/prompt" },
      params: { sessionId: "ses_1", prompt: [{ type: "text", text: "hello" }] },
    },
  ]);
  expect(said({ id: "session", result: { sessionId: "ses_1" } }).events).toEqual([
    { kind: "session", session: "ses_1" },
  ]);
  expect(said({ id: "session", result: {} }, { session: "ses_2" }).events).toEqual([
    { kind: "session", session: "ses_2" },
  ]);
});

test("updates while an old session is loaded are its history, and not reported again", () => {
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "heard" } };
  const notice = { method: "session/update", params: { sessionId: "ses_1", update } };
  expect(said(notice, { open: false }).events).toEqual([]);
  expect(said(notice, { open: false })).not.toHaveProperty("part");
  expect(said(notice)).toEqual({ events: [], replies: [], part: "heard" });
});

test("tools and their results are read from the updates", () => {
  const update = (fields: object) =>
    said({ method: "session/update", params: { update: { toolCallId: "call_1", ...fields } } });
  const call = {
    sessionUpdate: "tool_call",
    title: "bash",
    kind: "execute",
    status: "pending",
    rawInput: { cwd: "/w" },
  };
  expect(update(call).events).toEqual([{ kind: "tool", use: "call_1", tool: "bash", input: { cwd: "/w" } }]);
  expect(update({ sessionUpdate: "tool_call_update", status: "in_progress" }).events).toEqual([]);
  const content = [{ type: "content", content: { type: "text", text: "hi\n" } }];
  expect(update({ sessionUpdate: "tool_call_update", status: "completed", content }).events).toEqual([
    { kind: "tool-done", use: "call_1", ok: true, text: "hi\n" },
  ]);
});

const OPTIONS = [
  { optionId: "once", kind: "allow_once", name: "Allow once" },
  { optionId: "always", kind: "allow_always", name: "Always allow" },
  { optionId: "reject", kind: "reject_once", name: "Reject" },
];

test("PR-1(a) PR-2(a) a permission is requested under the agent's own id, and answered with one of its options", () => {
  const toolCall = { toolCallId: "call_1", title: "echo hi", kind: "execute", rawInput: { command: "echo hi" } };
  const [ask] = said({ id: 0, method: "session/request_permission", params: { toolCall, options: OPTIONS } }).events;
  const about = { tool: "execute", input: { command: "echo hi" }, use: "call_1" };
  expect(ask).toEqual({ kind: "ask", request: "0", ...about, options: OPTIONS });
  const answer = { kind: "answer", tool: "execute", request: "0", input: null, message: "", options: OPTIONS } as const;
  const outcome = (optionId: string) => [{ ...RPC, id: 0, result: { outcome: { outcome: "selected", optionId } } }];
  expect(told({ ...answer, decision: "allow" })).toEqual(outcome("once"));
  expect(told({ ...answer, decision: "deny" })).toEqual(outcome("reject"));
  expect(told({ ...answer, options: OPTIONS.slice(0, 2), decision: "deny" })).toEqual([
    { ...RPC, id: 0, result: { outcome: { outcome: "cancelled" } } },
  ]);
});

test("without an input, everything else that a request says about its call is the input", () => {
  const call = { toolCallId: "c", title: "rm -rf x (cleans up)", kind: "execute" };
  const content = [{ type: "diff", path: "/a", oldText: "x", newText: "y" }];
  const asked = (toolCall: object) =>
    said({ id: 0, method: "session/request_permission", params: { toolCall, options: [] } }).events;
  expect(asked(call)).toMatchObject([{ tool: "execute", input: { title: "rm -rf x (cleans up)" } }]);
  expect(asked({ ...call, content, locations: [{ path: "/a" }] })).toMatchObject([
    { input: { title: "rm -rf x (cleans up)", content, locations: [{ path: "/a" }] } },
  ]);
});

test("the answer to a prompt ends the turn; an error gives the reason; other requests to us are refused", () => {
  expect(said({ id: "prompt-aa", result: { stopReason: "end_turn" } }).events).toEqual([{ kind: "done" }]);
  expect(said({ id: "prompt-aa", result: { stopReason: "refusal" } }).events).toMatchObject([
    { kind: "failed", retryable: false },
  ]);
  const error = { code: -32_603, message: "Internal error", data: { details: "model not found" } };
  expect(said({ id: "prompt-aa", error }).events).toEqual([
    { kind: "failed", reason: "Internal error: model not found", retryable: true },
  ]);
  expect(said({ id: "session", error }).events).toMatchObject([{ kind: "failed", retryable: false }]);
  const { replies } = said({ id: 4, method: "fs/read_text_file", params: {} });
  expect(replies.map((line) => JSON.parse(line))).toMatchObject([{ id: 4, error: { code: -32_601 } }]);
  expect(told({ kind: "interrupt" }, { session: "ses_1" })).toEqual([
    { ...RPC, method: "session/cancel", params: { sessionId: "ses_1" } },
  ]);
});

test("tokens of a turn come with its end, and what a session has cost as an update; other currencies are not counted", () => {
  const usage = { totalTokens: 15, inputTokens: 10, outputTokens: 5, cachedReadTokens: 3 };
  expect(said({ id: "prompt-aa", result: { stopReason: "end_turn", usage } }).events).toEqual([
    { kind: "usage", usage: { input_tokens: 10, output_tokens: 5, cached_tokens: 3 } },
    { kind: "done" },
  ]);
  const cost = (cost: object) => {
    const params = { update: { sessionUpdate: "usage_update", used: 100, size: 200_000, cost } };
    return said({ method: "session/update", params }, { open: true }).events;
  };
  expect(cost({ amount: 0.5, currency: "USD" })).toEqual([
    { kind: "usage", usage: { input_tokens: 0, output_tokens: 0, cost_usd: 0.5 }, total: "session" },
  ]);
  expect([cost({ amount: 0.5, currency: "EUR" }), cost({ amount: -1, currency: "USD" })]).toEqual([[], []]);
});
