// Claude Code's protocol as the real program speaks it: the lines below were sent by version 2.1.197.
import { expect, test } from "bun:test";
import { claude } from "../../src/wire/provider/claude.ts";
import { facts } from "./facts.ts";

const said = (message: object) => claude.decode(JSON.stringify(message), facts());

test("AG-6(a) a session is started under the id minted for it, and resumed under it once it has a transcript", () => {
  const first = claude.launch(facts({}, { command: [], permissionMode: "plan", flags: ["--max-turns", "3"] }), "");
  expect(first.argv.slice(0, 2)).toEqual(["claude", "-p"]);
  expect(first.argv.join(" ")).toEndWith(
    "--permission-mode plan --session-id 11111111-1111-4111-8111-111111111111 --max-turns 3",
  );
  const later = claude.launch(
    facts({ resume: true }, { command: [], permissionMode: "plan", flags: ["--max-turns", "3"] }),
    "",
  );
  expect(later.argv.join(" ")).toEndWith(
    "--permission-mode plan --resume 11111111-1111-4111-8111-111111111111 --max-turns 3",
  );
});

test("the person's own settings have no effect on an agent's recipe", () => {
  const tools = { command: ["bun", "shim.ts"], env: { HOLDFAST_AGENT: "a1" } };
  const { argv, env } = claude.launch(
    facts({ tools, systemPrompt: "Be brief." }, { command: ["/opt/claude"], model: "opus" }),
    "",
  );
  expect(argv).toContain("--strict-mcp-config");
  expect(argv[argv.indexOf("--permission-mode") + 1]).toBe("default");
  expect(argv[argv.indexOf("--model") + 1]).toBe("opus");
  expect(argv[argv.indexOf("--append-system-prompt") + 1]).toBe("Be brief.");
  const config = JSON.parse(argv[argv.indexOf("--mcp-config") + 1] ?? "");
  expect(config).toEqual({
    mcpServers: { holdfast: { command: "bun", args: ["shim.ts"], env: { HOLDFAST_AGENT: "a1" }, alwaysLoad: true } },
  });
  expect(Object.keys(env)).toEqual(["MCP_CONNECT_TIMEOUT_MS", "MCP_TIMEOUT", "CLAUDE_CODE_EAGER_FLUSH"]);
});

test("a prompt has an id, so that a repeat is dropped", () => {
  const lines = claude.encode({ kind: "prompt", uuid: "aaaa", text: "hello" }, facts());
  expect(lines?.map((line) => JSON.parse(line))).toEqual([
    {
      ...{ type: "user", uuid: "aaaa", session_id: "11111111-1111-4111-8111-111111111111", parent_tool_use_id: null },
      message: { role: "user", content: "hello" },
    },
  ]);
});

test("PR-1(a) PR-2(a) a control request becomes a question about the tool, and its answer is sent under the same id", () => {
  const input = { command: "echo hi > out.txt", description: "as asked" };
  const request = {
    subtype: "can_use_tool",
    tool_name: "Bash",
    display_name: "Bash",
    input,
    tool_use_id: "toolu_0001",
  };
  expect(said({ type: "control_request", request_id: "9aa80fc3", request })).toEqual({
    events: [{ kind: "ask", request: "9aa80fc3", tool: "Bash", input, use: "toolu_0001" }],
    replies: [],
  });
  const answer = { kind: "answer", request: "9aa80fc3", tool: "Bash", input, options: null } as const;
  const lines = [
    ...(claude.encode({ ...answer, decision: "allow", message: "" }, facts()) ?? []),
    ...(claude.encode({ ...answer, decision: "deny", message: "not now" }, facts()) ?? []),
  ];
  expect(lines.map((line) => JSON.parse(line).response)).toEqual([
    { subtype: "success", request_id: "9aa80fc3", response: { behavior: "allow", updatedInput: input } },
    { subtype: "success", request_id: "9aa80fc3", response: { behavior: "deny", message: "not now" } },
  ]);
});

test("other requests are refused at once, and a question can be withdrawn", () => {
  const { events, replies } = said({ type: "control_request", request_id: "7", request: { subtype: "hook_callback" } });
  expect(events).toEqual([]);
  expect(replies.map((line) => JSON.parse(line).response)).toMatchObject([{ subtype: "error", request_id: "7" }]);
  expect(said({ type: "control_cancel_request", request_id: "8" }).events).toEqual([
    { kind: "withdrawn", request: "8" },
  ]);
});

test("text, tools and their results are read from the messages; those of its own subagents and repeats are not", () => {
  const content = [
    { type: "thinking", thinking: "…" },
    { type: "text", text: "I look." },
    { type: "tool_use", id: "toolu_0001", name: "Bash", input: { command: "ls" } },
  ];
  const message = { type: "assistant", message: { role: "assistant", content }, parent_tool_use_id: null };
  expect(said(message).events).toEqual([
    { kind: "text", text: "I look." },
    { kind: "tool", use: "toolu_0001", tool: "Bash", input: { command: "ls" } },
  ]);
  expect(said({ ...message, parent_tool_use_id: "toolu_0009" }).events).toEqual([]);
  const result = {
    tool_use_id: "toolu_0001",
    type: "tool_result",
    content: [{ type: "text", text: "hi" }],
    is_error: true,
  };
  const done = { type: "user", message: { role: "user", content: [result] }, parent_tool_use_id: null };
  expect(said(done).events).toEqual([{ kind: "tool-done", use: "toolu_0001", ok: false, text: "hi" }]);
  expect(said({ ...done, isReplay: true }).events).toEqual([]);
});

test("a result ends the turn: successfully, with a temporary or permanent failure, or at a limit with its time", () => {
  const result = { type: "result", subtype: "success", is_error: false, result: "done" };
  expect(said(result).events).toEqual([{ kind: "done", response: "done" }]);
  const bad = { ...result, is_error: true, result: "API Error" };
  for (const status of [429, 529])
    expect(said({ ...bad, api_error_status: status }).events).toEqual([
      { kind: "limit", until: "", reason: "API Error" },
    ]);
  expect(said({ ...bad, api_error_status: 500 }).events).toEqual([
    { kind: "failed", reason: "API Error", retryable: true },
  ]);
  expect(said({ ...bad, api_error_status: 400 }).events).toEqual([
    { kind: "failed", reason: "API Error", retryable: false },
  ]);
  expect(said({ ...bad, result: "Claude AI usage limit reached|1800000000" }).events).toEqual([
    { kind: "limit", until: "2027-01-15T08:00:00.000Z" },
  ]);
  const limit = { type: "rate_limit_event", rate_limit_info: { status: "rejected", resetsAt: 1_800_000_000 } };
  expect(said(limit).events).toEqual([{ kind: "limit", until: "2027-01-15T08:00:00.000Z" }]);
  expect(said({ type: "rate_limit_event", rate_limit_info: { status: "allowed", resetsAt: 1 } }).events).toEqual([]);
  const never = { type: "rate_limit_event", rate_limit_info: { status: "rejected", resetsAt: 1e300 } };
  expect(said(never).events).toEqual([{ kind: "limit", until: "9999-12-31T23:59:59.999Z" }]);
});

test("C6 pieces of its own text are partial, and all other lines of that stream are empty parts of it", () => {
  const delta = (delta: object, parent: string | null = null) => {
    const event = { type: "content_block_delta", index: 0, delta };
    return said({ type: "stream_event", event, parent_tool_use_id: parent });
  };
  expect(delta({ type: "text_delta", text: "Hel" })).toEqual({ events: [], replies: [], partial: "Hel" });
  expect(delta({ type: "text_delta", text: "of a subagent" }, "toolu_1").partial).toBe("");
  expect(delta({ type: "input_json_delta", partial_json: "{" }).partial).toBe("");
  expect(said({ type: "stream_event", event: { type: "message_stop" } }).partial).toBe("");
});

test("its own retries, what a turn used, and its words about a refusal of its API", () => {
  const retry = { type: "system", subtype: "api_retry", attempt: 3, max_retries: 10 };
  expect(said({ ...retry, retry_delay_ms: 2450.57, error_status: 429, error: "rate_limit" }).events).toEqual([
    { kind: "retrying", reason: "429 rate_limit", attempt: 3, of: 10, delay_ms: 2451 },
  ]);
  const tokens = { input_tokens: 10, cache_creation_input_tokens: 20, cache_read_input_tokens: 30, output_tokens: 5 };
  const result = { type: "result", subtype: "success", is_error: false, result: "done" };
  expect(said({ ...result, usage: tokens, total_cost_usd: 0.5 }).events).toEqual([
    {
      kind: "usage",
      usage: { input_tokens: 60, output_tokens: 5, cached_tokens: 30, cost_usd: 0.5 },
      total: "process",
    },
    { kind: "done", response: "done" },
  ]);
  const hostile = { ...tokens, output_tokens: -1 };
  expect(said({ ...result, usage: hostile, total_cost_usd: 0.5 }).events).toHaveLength(1);
  const message = { content: [{ type: "text", text: "API Error: Request rejected (429)" }] };
  expect(said({ type: "assistant", message, parent_tool_use_id: null, error: "rate_limit" }).events).toEqual([]);
});

test("lines that are not JSON, of unknown types or without the expected fields are ignored", () => {
  for (const line of [
    "",
    "no json",
    "[]",
    '{"type":"new_thing"}',
    '{"type":"control_request"}',
    '{"type":"assistant"}',
  ]) {
    expect(claude.decode(line, facts()).events).toEqual([]);
  }
});
