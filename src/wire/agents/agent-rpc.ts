// What clients ask the daemon about agents (rpc.ts has the rules that hold for all methods).
import type { Json } from "../../core/workflow/json.ts";
import type { ToolAnswer } from "./mcp.ts";

/** For the bearer of an agent's own token: the shim. The token says which agent it is. */
export type AgentToolMethods = {
  /** One of our tools; a repeat under the same `call` gets the same answer. */
  "agent.call": { params: { call: string; tool: string; args: Json }; result: ToolAnswer };
  /** The agent has the answer. */
  "agent.call-taken": { params: { call: string }; result: Record<string, never> };
};

/** An agent's token is sent as `<id>:<secret>`. */
export function bearerOf(id: string, secret: string): string {
  return `${id}:${secret}`;
}

export function readBearer(token: string): { readonly id: string; readonly secret: string } | undefined {
  const at = token.indexOf(":");
  return at < 1 ? undefined : { id: token.slice(0, at), secret: token.slice(at + 1) };
}
