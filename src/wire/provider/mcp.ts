// The Model Context Protocol as far as a server of tools needs it: one message in, at most one out, nothing kept
// between them.
// M1. Stateless: a client does not notice that the server was restarted.
// M2. The client chooses a call's id; a repeat under the same id gets the same answer (core/agent/tools.ts).

import { isRecord, type Json } from "../../base/json.ts";
import type { Refusal } from "../../base/result.ts";
import { type Fields, fieldsAt, readObject, textAt } from "./json-line.ts";
import type { ToolSchema } from "./openai.ts";

/** Newest first; a client that asks for another one is offered the newest. */
const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const NO_METHOD = -32_601;
const NO_JSON = -32_700;
const BAD_PARAMS = -32_602;

export type ToolAnswer = { readonly ok: boolean; readonly value: Json };

/** A refusal, as a model reads it. */
export function refusedCall({ message, hint }: Refusal): ToolAnswer {
  return { ok: false, value: `${message} ${hint}` };
}

export type ToolServer = {
  readonly version: string;
  readonly tools: readonly ToolSchema[];
  /** `request` is the id of the message, as JSON. */
  call(tool: string, args: Json, request: string): Promise<ToolAnswer>;
};

/** Undefined if there is nothing to answer. */
export async function answerMcp(line: string, server: ToolServer): Promise<string | undefined> {
  const message = readObject(line);
  if (message === undefined) return failure(null, NO_JSON, "This is not a JSON object.");
  const id = message["id"];
  const method = textAt(message, "method");
  if (id === undefined || method === undefined) return undefined; // A notification, or an answer without a request.
  const params = fieldsAt(message, "params");
  if (method === "initialize") return result(id, welcome(params, server.version));
  if (method === "ping") return result(id, {});
  if (method === "tools/list") return result(id, { tools: server.tools.map(listed) });
  if (method === "tools/call") return called(id, params, server);
  return failure(id, NO_METHOD, `There is no ${method} here.`);
}

function welcome(params: Fields, version: string): Json {
  const wanted = textAt(params, "protocolVersion") ?? "";
  const protocolVersion = VERSIONS.includes(wanted) ? wanted : (VERSIONS[0] ?? "");
  return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "holdfast", version } };
}

function listed({ name, description, schema }: ToolSchema): Json {
  return { name, description, inputSchema: schema };
}

async function called(id: Json, params: Fields, server: ToolServer): Promise<string> {
  const tool = textAt(params, "name") ?? "";
  const args = params["arguments"] ?? {};
  if (!server.tools.some(({ name }) => name === tool)) return failure(id, BAD_PARAMS, `There is no tool ${tool}.`);
  const { ok, value } = await server.call(tool, args, JSON.stringify(id)); // M2
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const structured = isRecord(value) ? { structuredContent: value } : {};
  return result(id, { content: [{ type: "text", text }], isError: !ok, ...structured });
}

function result(id: Json, value: Json): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result: value });
}

function failure(id: Json, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });
}
