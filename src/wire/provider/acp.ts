// Any agent that speaks the Agent Client Protocol: JSON-RPC 2.0 on pipes, a line each.
// P1. Ids of our requests are fixed words (`open`, `session`, `prompt-<id>`), so that a later life of the daemon
//     understands the answer.
// P2. Updates that arrive while an old session is loaded are its history: they are ignored until the session is open.
// P3. A permission is answered with one of the options that were offered; if none fits, the request is cancelled.
// P4. An old session is loaded if the program has named one, and not because a process of it has run: the first one may
//     have died before it was asked for a session. If a session cannot be opened, nothing can be said in it.

import { isRecord, type Json } from "../../base/json.ts";
import type { Codec, Decision, Decoded, Input, ProviderEvent, SessionFacts } from "../../core/agent/provider.ts";
import { amountAt, countAt, type Fields, fieldsAt, numberAt, objectsAt, readObject, textAt } from "./json-line.ts";

const VERSION = 1;
/** JSON-RPC: method not found. */
const NO_METHOD = -32_601;
const PROMPT = "prompt-";
const NOTHING: Decoded = { events: [], replies: [] };

export const acp: Codec = {
  launch: ({ recipe }) => ({ argv: [...recipe.command, ...recipe.flags], env: {} }),
  encode: (input, facts) => messagesOf(input, facts)?.map((message) => JSON.stringify({ jsonrpc: "2.0", ...message })),
  decode,
};

function messagesOf(input: Input, facts: SessionFacts): object[] | undefined {
  if (input.kind === "open") return [initialize(), openSession(facts)];
  if (input.kind === "answer") return [{ id: idOf(input.request), result: { outcome: outcomeOf(input) } }];
  if (input.kind === "result") return []; // Its tools answer over MCP.
  if (!facts.open) return undefined;
  if (input.kind === "interrupt") return [{ method: "session/cancel", params: { sessionId: facts.session } }];
  const prompt = [{ type: "text", text: input.text }];
  return [{ id: PROMPT + input.uuid, method: "session/prompt", params: { sessionId: facts.session, prompt } }]; // P1
}

/** The first message to a program, which says what it can do in its answer. */
export function initialize() {
  const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
  return { id: "open", method: "initialize", params: { protocolVersion: VERSION, clientCapabilities } };
}

function openSession({ session, named, cwd, tools }: SessionFacts): object {
  const mcpServers = tools === null ? [] : [serverOf(tools)];
  if (!named) return { id: "session", method: "session/new", params: { cwd, mcpServers } };
  return { id: "session", method: "session/load", params: { sessionId: session, cwd, mcpServers } };
}

function serverOf({ command, env }: NonNullable<SessionFacts["tools"]>): object {
  const variables = Object.entries(env).map(([name, value]) => ({ name, value }));
  return { name: "holdfast", command: command[0], args: command.slice(1), env: variables };
}

/** The id as it was received: a number or a text, written as JSON. */
function idOf(request: string): Json {
  const id: Json = JSON.parse(request);
  return id;
}

const KINDS: Readonly<Record<Decision, readonly string[]>> = {
  allow: ["allow_once", "allow_always"],
  deny: ["reject_once", "reject_always"],
};

/** P3 */
function outcomeOf({ decision, options }: Input & { readonly kind: "answer" }): object {
  const offered = objectsAt({ options: options ?? [] }, "options");
  for (const kind of KINDS[decision]) {
    const fit = offered.find((option) => textAt(option, "kind") === kind);
    if (fit !== undefined) return { outcome: "selected", optionId: textAt(fit, "optionId") };
  }
  return { outcome: "cancelled" };
}

function decode(line: string, facts: SessionFacts): Decoded {
  const message = readObject(line);
  if (message === undefined) return NOTHING;
  const method = textAt(message, "method");
  if (method === undefined) return { events: answered(message, facts), replies: [] };
  if (method === "session/request_permission") return { events: asked(message), replies: [] };
  if (message["id"] !== undefined) return { events: [], replies: [noMethod(message["id"], method)] };
  if (method !== "session/update" || !facts.open) return NOTHING; // P2
  const update = fieldsAt(fieldsAt(message, "params"), "update");
  const part = partOf(update);
  return { events: updated(update), replies: [], ...(part !== undefined && { part }) };
}

/** Its text comes in parts, and never as a whole. */
function partOf(update: Fields): string | undefined {
  if (textAt(update, "sessionUpdate") !== "agent_message_chunk") return undefined;
  return textAt(fieldsAt(update, "content"), "text");
}

function noMethod(id: Json, method: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code: NO_METHOD, message: `There is no ${method} here.` } });
}

/** P1 */
function answered(message: Fields, { session }: SessionFacts): ProviderEvent[] {
  const id = textAt(message, "id");
  const error = message["error"] === undefined ? undefined : fieldsAt(message, "error");
  if (id === "session" || id === "open") {
    // P4
    if (error !== undefined) return [{ kind: "failed", reason: reasonOf(error), retryable: false, opening: true }];
    const known = textAt(fieldsAt(message, "result"), "sessionId") ?? session;
    return id === "session" ? [{ kind: "session", session: known }] : [];
  }
  if (id?.startsWith(PROMPT) !== true) return [];
  if (error !== undefined) return [{ kind: "failed", reason: reasonOf(error), retryable: true }];
  const result = fieldsAt(message, "result");
  return [...usedBy(fieldsAt(result, "usage")), stopped(textAt(result, "stopReason"))];
}

function reasonOf(error: Fields): string {
  const detail = textAt(fieldsAt(error, "data"), "details") ?? textAt(error, "data");
  return [textAt(error, "message") ?? `error ${numberAt(error, "code") ?? ""}`, detail].filter(Boolean).join(": ");
}

/** Of this turn, if the program counts it. */
function usedBy(used: Fields): ProviderEvent[] {
  const [input_tokens, output_tokens] = [countAt(used, "inputTokens"), countAt(used, "outputTokens")];
  if (input_tokens === undefined || output_tokens === undefined) return [];
  const cached = countAt(used, "cachedReadTokens");
  const usage = { input_tokens, output_tokens, ...(cached !== undefined && { cached_tokens: cached }) };
  return [{ kind: "usage", usage }];
}

/** What the session has cost so far. */
function costOf(update: Fields): ProviderEvent[] {
  const cost = fieldsAt(update, "cost");
  const cost_usd = amountAt(cost, "amount");
  if (cost_usd === undefined || textAt(cost, "currency") !== "USD") return [];
  return [{ kind: "usage", usage: { input_tokens: 0, output_tokens: 0, cost_usd }, total: "session" }];
}

function stopped(reason: string | undefined): ProviderEvent {
  if (reason === "end_turn") return { kind: "done" };
  return { kind: "failed", reason: `The agent stopped: ${reason ?? "it gave no reason"}.`, retryable: false };
}

function asked(message: Fields): ProviderEvent[] {
  const params = fieldsAt(message, "params");
  const call = fieldsAt(params, "toolCall");
  const tool = textAt(call, "kind") ?? textAt(call, "title") ?? "";
  const use = textAt(call, "toolCallId");
  const request = JSON.stringify(message["id"] ?? null);
  const question = { kind: "ask", request, tool, input: inputOf(call), options: params["options"] ?? [] } as const;
  return [use === undefined ? question : { ...question, use }];
}

/** What is new in every call, and would keep a rule about exactly this input from ever matching again (codex-acp). */
const OF_THE_CALL: readonly string[] = ["call_id", "turn_id", "started_at_ms", "process_id"];

/** Without the names of the call, if it has its own id in it: an argument that is only called so is another's. */
function inputOf(call: Fields): Json {
  const input = call["rawInput"];
  if (input === undefined) return described(call);
  if (!isRecord(input) || input["call_id"] === undefined || input["call_id"] !== call["toolCallId"]) return input;
  return Object.fromEntries(Object.entries(input).filter(([name]) => !OF_THE_CALL.includes(name)));
}

/** What a program says about a call without its input: Gemini CLI has commands in the title, edits in the content. */
function described(call: Fields): Json {
  const { content, locations } = call;
  const more = { ...(content !== undefined && { content }), ...(locations !== undefined && { locations }) };
  return { title: textAt(call, "title") ?? "", ...more };
}

function updated(update: Fields): ProviderEvent[] {
  const what = textAt(update, "sessionUpdate");
  if (what === "usage_update") return costOf(update);
  const use = textAt(update, "toolCallId") ?? "";
  const status = textAt(update, "status");
  if (what === "tool_call")
    return [{ kind: "tool", use, tool: textAt(update, "title") ?? "", input: update["rawInput"] ?? null }];
  if (what !== "tool_call_update" || (status !== "completed" && status !== "failed")) return [];
  const text = objectsAt(update, "content").map((part) => textAt(fieldsAt(part, "content"), "text") ?? "");
  return [{ kind: "tool-done", use, ok: status === "completed", text: text.join("\n") }];
}
