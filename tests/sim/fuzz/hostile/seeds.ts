// Valid messages and files of every border, to be changed by attacks.ts. Those of Claude Code and of ACP were sent by
// the real programs (tests/agent/claude-codec.test.ts, acp-codec.test.ts).
import type { Json } from "../../../../src/base/json.ts";

/** A message, or a record in a file. */
export type Message = { readonly [name: string]: Json };

const LS = { command: "ls", description: "as asked" };
const RPC = { jsonrpc: "2.0" };

export const CLAUDE: readonly Message[] = [
  { type: "system", subtype: "init", session_id: "11111111-1111-4111-8111-111111111111" },
  {
    type: "control_request",
    request_id: "9aa80fc3",
    request: { subtype: "can_use_tool", tool_name: "Bash", display_name: "Bash", input: LS, tool_use_id: "toolu_0001" },
  },
  { type: "control_request", request_id: "7", request: { subtype: "hook_callback" } },
  { type: "control_cancel_request", request_id: "9aa80fc3" },
  {
    type: "assistant",
    message: {
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        { type: "tool_use", id: "toolu_0001", name: "Bash", input: LS },
      ],
    },
    parent_tool_use_id: null,
  },
  {
    type: "user",
    message: {
      role: "user",
      content: [
        { tool_use_id: "toolu_0001", type: "tool_result", content: [{ type: "text", text: "hi" }], is_error: true },
        { tool_use_id: "toolu_0002", type: "tool_result", content: "hi" },
      ],
    },
    parent_tool_use_id: null,
  },
  { type: "result", subtype: "success", is_error: false, result: "done" },
  { type: "result", subtype: "error", is_error: true, result: "API Error", api_error_status: 429 },
  { type: "result", subtype: "error", is_error: true, result: "Claude AI usage limit reached|1800000000" },
  { type: "rate_limit_event", rate_limit_info: { status: "rejected", resetsAt: 1_800_000_000 } },
];

const OPTIONS = [
  { optionId: "once", kind: "allow_once", name: "Allow once" },
  { optionId: "reject", kind: "reject_once", name: "Reject" },
];

export const ACP: readonly Message[] = [
  { ...RPC, id: "open", result: { protocolVersion: 1 } },
  { ...RPC, id: "session", result: { sessionId: "ses_1" } },
  { ...RPC, id: "session", error: { code: -32_603, message: "Internal error", data: { details: "no model" } } },
  {
    ...RPC,
    method: "session/update",
    params: { update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "heard" } } },
  },
  {
    ...RPC,
    method: "session/update",
    params: { update: { toolCallId: "call_1", sessionUpdate: "tool_call", title: "bash", rawInput: LS } },
  },
  {
    ...RPC,
    method: "session/update",
    params: {
      update: {
        toolCallId: "call_1",
        sessionUpdate: "tool_call_update",
        status: "completed",
        content: [{ type: "content", content: { type: "text", text: "hi\n" } }],
      },
    },
  },
  {
    ...RPC,
    id: 0,
    method: "session/request_permission",
    params: {
      toolCall: { toolCallId: "call_1", title: "echo hi", kind: "execute", rawInput: LS },
      options: OPTIONS,
    },
  },
  { ...RPC, id: 4, method: "fs/read_text_file", params: { path: "/x" } },
  { ...RPC, id: "prompt-aa", result: { stopReason: "end_turn" } },
  { ...RPC, id: "prompt-aa", error: { code: -32_603, message: "Internal error" } },
];

export const TOOL_CALLS: readonly { readonly tool: string; readonly args: Json }[] = [
  { tool: "spawn_agent", args: { name: "w", instructions: "x", provider: "scripted", model: "m", system_prompt: "s" } },
  { tool: "send_message", args: { to: "parent", text: "hello", reply_to: "m1" } },
  { tool: "send_message", args: { to: "w", text: "hello" } },
  { tool: "broadcast", args: { text: "hello" } },
  { tool: "check_inbox", args: {} },
  { tool: "inspect_agent", args: { name: "w" } },
  { tool: "list_children", args: {} },
  { tool: "complete", args: { result: "done" } },
  { tool: "remind_me", args: { in_seconds: 60, text: "later" } },
];

export const SCRIPTED: readonly Message[] = [
  { type: "text", text: "hello" },
  { type: "ask", request: "r1", tool: "Bash", input: LS },
  { type: "ask", request: "r2", tool: "Write", input: { path: "/x", text: "y" } },
  { type: "withdrawn", request: "r1" },
  { type: "failed", reason: "no", retryable: true },
  { type: "limit", until: "2027-01-15T08:00:00.000Z" },
  { type: "done", response: "ok" },
  ...TOOL_CALLS.map(({ tool, args }, at) => ({ type: "call", call: `c${at}`, tool, args })),
];

export const COMMAND: readonly Message[] = [
  { type: "system", session_id: "abc" },
  { result: "done", usage: { tokens: 3 } },
  { response: { text: "done" } },
];

const delta = (fields: { readonly [name: string]: Json }) => ({
  choices: [{ index: 0, delta: { role: "assistant", ...fields }, finish_reason: null }],
});

export const OPENAI: readonly Message[] = [
  delta({ content: "hello" }),
  ...TOOL_CALLS.map(({ tool, args }, at) =>
    delta({ tool_calls: [{ index: at, id: `call_${at}`, function: { name: tool, arguments: JSON.stringify(args) } }] }),
  ),
  { error: { message: "overloaded", code: 529 } },
  { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
];

export const REFUSALS: readonly Message[] = [{ error: { message: "not now", type: "rate_limit" } }, { error: "no" }];

export const MCP: readonly Message[] = [
  { ...RPC, id: 0, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {} } },
  { ...RPC, method: "notifications/initialized" },
  { ...RPC, id: "p", method: "ping" },
  { ...RPC, id: 1, method: "tools/list", params: {} },
  ...TOOL_CALLS.map(({ tool, args }, at) => {
    return { ...RPC, id: at, method: "tools/call", params: { name: tool, arguments: args } };
  }),
];

export const HEARTBEATS: readonly Message[] = [
  { v: 1, type: "hello", name: "daemon", pid: 7, startTime: 70, bootId: "boot", live: true, echo: true },
  { v: 1, type: "beat" },
  { v: 1, type: "bye", code: 0 },
];

const SNAPSHOT = { offset: 1, cols: 80, rows: 24, vt: "x", exact: true, at: "now", title: "", alternate: false };
const PLACE = { directory: "/d", size: { cols: 80, rows: 24 }, from: SNAPSHOT };
export const SCREENS: readonly Message[] = [
  { n: 1, op: "snapshot", ...PLACE, maxBytes: 1000 },
  { n: 2, op: "farewell", ...PLACE, message: "bye" },
  { n: 3, op: "cells", ...PLACE, until: 5 },
];

export const PAGES: readonly Message[] = [
  { type: "hello", token: "t" },
  { type: "call", id: 1, method: "status", params: { a: [1] } },
  { type: "watch", topics: ["*"] },
  { type: "open", stream: 1, terminal: "t" },
  { type: "took", stream: 1, bytes: 9 },
  { type: "result", id: 1, result: { a: 1 } },
  { type: "notice", topic: "t", data: {} },
  { type: "closed", stream: 1, exit: null, why: { code: "c", message: "m", hint: "h" } },
];

/** Both ways on the control stream of a tunnel. */
export const CONTROLS: readonly Message[] = [
  { type: "welcome", protocol: 1, mode: "full", heartbeatMs: 15_000, url: "https://a.relay.example" },
  { type: "refused", reason: "revoked", message: "This home was revoked." },
  { type: "certificate", id: "a", certificate: "PEM", authority: "PEM" },
  { type: "denied", message: "This token was used." },
  { type: "enrol", token: "t", request: "PEM", name: "a" },
  { type: "renew", request: "PEM" },
  { type: "ping" },
  { type: "pong" },
];

export const ORDERS: readonly Message[] = [{ directory: "/d", secrets: '{"A":"b"}', token: "t" }];
