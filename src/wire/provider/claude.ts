// Claude Code on pipes: stream-json both ways, with its control protocol for permissions.
// C1. We choose the session's id before the first start: `--session-id` if there is no transcript yet, `--resume` if
//     there is one. Each fails in the other's case, so an agent never gets a new conversation in place of the old one.
// C2. Permission mode and MCP configuration are always given: changes of the user's settings must not change an agent.
// C3. A prompt carries its id as `uuid`: the program drops one that the session has seen.
// C4. It waits for our tools before it calls its model. By default it does not, and on a busy machine the first turn
//     would have no tools.
// C5. When it reports the end of a turn, the turn is in its transcript. By default it writes that a tenth of a second
//     later, and a process that was killed in between had forgotten a turn that we know as complete.
// C6. Its text comes in pieces first, and then as a whole: only the whole is recorded.
// C7. It waits by itself if its API says how long, and not for much longer than a minute. Then it gives the turn up,
//     and does not say how long its API wanted it to wait: the agent sleeps, and tries again later.
// C8. A transcript that it cannot read, or that is gone when it looks, is a session that cannot be opened.

import { isList, type Json, textOf } from "../../base/json.ts";
import { timeText } from "../../base/time-text.ts";
import type { Codec, Decoded, Input, ProviderEvent, SessionFacts } from "../../core/agent/provider.ts";
import { amountAt, countAt, type Fields, fieldsAt, numberAt, objectsAt, readObject, textAt } from "./json-line.ts";

const FIXED = [
  ...["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"],
  ...["--permission-prompt-tool", "stdio", "--strict-mcp-config", "--include-partial-messages"],
];
/** The name of our tools' server in Claude Code. */
const SERVER = "holdfast";
/** C4. How long the shim may take to start on a busy machine; it does not wait for the daemon. The program's own
 *  limits are 5 s and 30 s. */
const TOOLS_MS = "120000";
const ENVIRONMENT = { MCP_CONNECT_TIMEOUT_MS: TOOLS_MS, MCP_TIMEOUT: TOOLS_MS, CLAUDE_CODE_EAGER_FLUSH: "1" }; // C5
/** C8 */
const NO_SESSION = "No conversation found with session ID";
const NOTHING: Decoded = { events: [], replies: [] };

export const claude: Codec = { launch, encode, decode };

function launch({ recipe, session, resume, systemPrompt, tools }: SessionFacts) {
  const [command, ...args] = tools?.command ?? [];
  const servers = tools === null ? {} : { [SERVER]: { command, args, env: tools.env, alwaysLoad: true } }; // C4
  const argv = [
    ...(recipe.command.length > 0 ? recipe.command : ["claude"]),
    ...FIXED,
    ...["--mcp-config", JSON.stringify({ mcpServers: servers })],
    ...["--permission-mode", recipe.permissionMode ?? "default"], // C2
    ...(recipe.model === null ? [] : ["--model", recipe.model]),
    ...(systemPrompt === "" ? [] : ["--append-system-prompt", systemPrompt]),
    ...[resume ? "--resume" : "--session-id", session], // C1
    ...recipe.flags,
  ];
  return { argv, env: ENVIRONMENT };
}

function encode(input: Input, { session }: SessionFacts): readonly string[] {
  const message = messageOf(input, session);
  return message === undefined ? [] : [JSON.stringify(message)];
}

function messageOf(input: Input, session: string): object | undefined {
  if (input.kind === "open") return control("open", { subtype: "initialize" });
  if (input.kind === "interrupt") return control("interrupt", { subtype: "interrupt" });
  if (input.kind === "result") return undefined; // Its tools answer over MCP.
  if (input.kind === "answer") return answerOf(input);
  const message = { role: "user", content: input.text };
  return { type: "user", uuid: input.uuid, session_id: session, parent_tool_use_id: null, message }; // C3
}

function control(request_id: string, request: object): object {
  return { type: "control_request", request_id, request };
}

function answerOf({ request, input, decision, message }: Input & { readonly kind: "answer" }): object {
  const allowed = { behavior: "allow", updatedInput: input };
  const denied = { behavior: "deny", message: message === "" ? "The request was denied." : message };
  const response = decision === "allow" ? allowed : denied;
  return { type: "control_response", response: { subtype: "success", request_id: request, response } };
}

function decode(line: string): Decoded {
  const message = readObject(line);
  if (message === undefined) return NOTHING;
  const type = textAt(message, "type");
  if (type === "control_request") return asked(message);
  if (type === "assistant" || type === "user") return { events: said(message), replies: [] };
  if (type === "stream_event") return { events: [], replies: [], partial: partialOf(message) };
  if (type === "result") return { events: [...billed(message), ended(message)], replies: [] };
  if (type === "rate_limit_event") return { events: limited(fieldsAt(message, "rate_limit_info")), replies: [] };
  if (type === "control_cancel_request") return withdrawn(message);
  if (type === "system" && textAt(message, "subtype") === "init") return opened(message);
  if (type === "system" && textAt(message, "subtype") === "api_retry") return retrying(message);
  return NOTHING;
}

/** C6 */
function partialOf(message: Fields): string {
  const delta = fieldsAt(fieldsAt(message, "event"), "delta");
  const isOwn = textAt(message, "parent_tool_use_id") === undefined;
  return isOwn && textAt(delta, "type") === "text_delta" ? (textAt(delta, "text") ?? "") : "";
}

function retrying(message: Fields): Decoded {
  const status = numberAt(message, "error_status");
  const reason = [status, textAt(message, "error")].filter((part) => part !== undefined).join(" ");
  const [attempt, of] = [countAt(message, "attempt") ?? 0, countAt(message, "max_retries") ?? 0];
  const delay_ms = Math.round(amountAt(message, "retry_delay_ms") ?? 0);
  return { events: [{ kind: "retrying", reason, attempt, of, delay_ms }], replies: [] };
}

/** Of this turn, except for the cost. What was written to its cache, and read from it, was input too. */
function billed(message: Fields): ProviderEvent[] {
  const used = fieldsAt(message, "usage");
  const [input, output] = [countAt(used, "input_tokens"), countAt(used, "output_tokens")];
  const cost_usd = amountAt(message, "total_cost_usd");
  if (input === undefined || output === undefined || cost_usd === undefined) return [];
  const [cached, written] = [
    countAt(used, "cache_read_input_tokens") ?? 0,
    countAt(used, "cache_creation_input_tokens"),
  ];
  const tokens = { input_tokens: input + cached + (written ?? 0), output_tokens: output, cached_tokens: cached };
  return [{ kind: "usage", usage: { ...tokens, cost_usd }, total: "process" }];
}

function opened(message: Fields): Decoded {
  const session = textAt(message, "session_id");
  return session === undefined ? NOTHING : { events: [{ kind: "session", session }], replies: [] };
}

function withdrawn(message: Fields): Decoded {
  const request = textAt(message, "request_id");
  return request === undefined ? NOTHING : { events: [{ kind: "withdrawn", request }], replies: [] };
}

/** Other requests of the program are refused at once: it would wait for ever. */
function asked(message: Fields): Decoded {
  const request = textAt(message, "request_id");
  const what = fieldsAt(message, "request");
  if (request === undefined) return NOTHING;
  if (textAt(what, "subtype") !== "can_use_tool") return { events: [], replies: [refusal(request)] };
  const tool = textAt(what, "tool_name") ?? "";
  const use = textAt(what, "tool_use_id");
  const question = { kind: "ask", request, tool, input: what["input"] ?? null } as const;
  return { events: [use === undefined ? question : { ...question, use }], replies: [] };
}

function refusal(request_id: string): string {
  const response = { subtype: "error", request_id, error: "This request is not supported." };
  return JSON.stringify({ type: "control_response", response });
}

/** Messages of the program's own subagents (with a parent) are not the agent's, nor are repeats of our prompts. */
function said(message: Fields): ProviderEvent[] {
  if (textAt(message, "parent_tool_use_id") !== undefined || message["isReplay"] === true) return [];
  if (textAt(message, "error") !== undefined) return []; // Words of the program about its API: the result has them.
  return objectsAt(fieldsAt(message, "message"), "content").flatMap(partOf);
}

function partOf(part: Fields): ProviderEvent[] {
  const type = textAt(part, "type");
  if (type === "text") return [{ kind: "text", text: textAt(part, "text") ?? "" }];
  if (type === "tool_use") {
    const [use, tool] = [textAt(part, "id") ?? "", textAt(part, "name") ?? ""];
    return [{ kind: "tool", use, tool, input: part["input"] ?? null }];
  }
  if (type !== "tool_result") return [];
  const use = textAt(part, "tool_use_id") ?? "";
  return [{ kind: "tool-done", use, ok: part["is_error"] !== true, text: resultText(part["content"] ?? null) }];
}

function resultText(content: Json): string {
  const parts = objectsAt({ content }, "content");
  return parts.length === 0 ? textOf(content) : parts.map((part) => textAt(part, "text") ?? "").join("\n");
}

function ended(message: Fields): ProviderEvent {
  const response = textAt(message, "result") ?? "";
  if (message["is_error"] !== true && textAt(message, "subtype") === "success") return { kind: "done", response };
  const until = /usage limit reached\|(\d{9,11})/i.exec(response)?.[1];
  if (until !== undefined) return { kind: "limit", until: fromSeconds(Number(until)) };
  const errors = isList(message["errors"]) ? message["errors"].map(textOf).join(" ") : "";
  const reason = [response, errors, textAt(message, "subtype") ?? "It failed."].find((text) => text !== "") ?? "";
  if (errors.includes(NO_SESSION)) return { kind: "failed", reason, retryable: false, opening: true }; // C8
  const status = numberAt(message, "api_error_status");
  if (status === 429 || status === OVERLOADED) return { kind: "limit", until: "", reason }; // C7
  return { kind: "failed", reason, retryable: isRetryable(status) };
}

const OVERLOADED = 529;

/** Whether the same request may succeed later; other 4xx would be refused again. */
function isRetryable(status: number | undefined): boolean {
  return status === undefined || status === 408 || status === 429 || status >= 500;
}

function limited(found: Fields): ProviderEvent[] {
  const until = numberAt(found, "resetsAt");
  return textAt(found, "status") === "rejected" && until !== undefined
    ? [{ kind: "limit", until: fromSeconds(until) }]
    : [];
}

function fromSeconds(seconds: number): string {
  return timeText(seconds * 1000);
}
