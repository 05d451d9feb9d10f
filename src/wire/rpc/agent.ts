// What clients ask the daemon about agents (rpc.ts has the rules that hold for all methods).

import type { Json } from "../../base/json.ts";
import type { AgentState } from "../../core/agent/agent.ts";
import type { AgentSettings, Message } from "../../core/agent/events.ts";
import type { Decision } from "../../core/agent/provider.ts";
import type { Rule } from "../../core/agent/rules.ts";
import type { Workspace } from "../../core/agent/workspace.ts";
import type { ToolAnswer } from "../provider/mcp.ts";

/** For the bearer of an agent's own token: the shim. The token says which agent it is. */
export type AgentToolMethods = {
  /** One of our tools; a repeat under the same `call` gets the same answer. */
  "agent.call": { params: { call: string; tool: string; args: Json }; result: ToolAnswer };
  /** The agent has the answer. */
  "agent.call-taken": { params: { call: string }; result: Record<string, never> };
};

export type NewAgent = {
  /** Chosen by the asker: a repeat finds the same agent. */
  readonly id: string;
  readonly name: string;
  readonly parent: string | null;
  readonly instructions: string;
  /** A kind of provider, or a name of the configuration; null for the configured default. */
  readonly provider: string | null;
  readonly model: string | null;
  readonly systemPrompt: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Instead of the provider's own; empty for that. */
  readonly command: readonly string[];
  readonly flags: readonly string[];
  readonly permissionMode: string | null;
  readonly settings: Partial<AgentSettings>;
  /** Left out: just its directory. */
  readonly workspace?: WantedWorkspace;
};

/** A git worktree of its own of the repository that `cwd` is in; a sandbox around it. */
export type WantedWorkspace = { readonly worktree: boolean; readonly sandbox: WantedSandbox | null };

/** Absolute paths that it sees beside its directory and the system. */
export type WantedSandbox = {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly network: boolean;
};

export type ListedAgent = {
  readonly id: string;
  readonly name: string;
  readonly parent: string | null;
  readonly state: AgentState;
  readonly provider: string;
  readonly model: string | null;
  readonly cwd: string;
  readonly createdAt: string;
  /** Messages that it has not taken yet. */
  readonly inbox: number;
  /** The open ones. */
  readonly prompts: readonly AskedPrompt[];
  readonly turns: number;
  /** Of the turn it is in. */
  readonly turnStartedAt: string | null;
  readonly pid: number | null;
  /** Why it does not go on by itself; until when it sleeps; why it crashed. */
  readonly note: string | null;
};

export type ShownAgent = ListedAgent & {
  readonly instructions: string;
  readonly session: string;
  readonly settings: AgentSettings;
  readonly command: readonly string[];
  readonly flags: readonly string[];
  readonly permissionMode: string | null;
  readonly workspace: Workspace | null;
  readonly lastText: string;
  readonly result: string | null;
  readonly reminders: readonly { readonly due: string; readonly text: string }[];
  readonly rules: readonly Rule[];
};

export type AskedPrompt = Pick<ListedPrompt, "id" | "tool" | "since">;

export type ListedPrompt = {
  readonly id: string;
  readonly agent: string;
  readonly name: string;
  readonly tool: string;
  readonly input: Json;
  readonly since: string;
  readonly deadline: string;
  readonly state: "open" | "answered" | "delivered" | "stale";
};

type OfAgent<R> = { params: { id: string }; result: R };

export type AgentMethods = AgentToolMethods & {
  "agent.new": { params: NewAgent; result: ListedAgent };
  "agent.list": { params: Record<string, never>; result: readonly ListedAgent[] };
  "agent.show": OfAgent<ShownAgent>;
  "agent.inbox": OfAgent<readonly Message[]>;
  /** `message` is chosen by the asker: a repeat is the same message. */
  "agent.send": { params: { id: string; message: string; text: string; replyTo: string | null }; result: ListedAgent };
  "agent.terminate": { params: { id: string; reason: string }; result: ListedAgent };
  "agent.retry": OfAgent<ListedAgent>;
  "agent.interrupt": OfAgent<ListedAgent>;
  "agent.suspend": OfAgent<ListedAgent>;
  "agent.set": { params: { id: string; settings: Partial<AgentSettings> }; result: ListedAgent };
  /** The open ones; with `closed` those instead that are remembered after that. */
  "prompt.list": { params: { closed?: boolean }; result: readonly ListedPrompt[] };
  /** `answer` is chosen by the asker: a repeat is the same answer. */
  "prompt.answer": {
    params: { prompt: string; answer: string; decision: Decision; message: string; always: boolean };
    result: ListedPrompt;
  };
  /** Of all agents, and of those that have some. */
  "rule.list": {
    params: Record<string, never>;
    result: readonly { readonly agent: string | null; readonly rule: Rule }[];
  };
  "rule.add": { params: { agent: string | null; rule: Rule }; result: Record<string, never> };
  "rule.remove": { params: { rule: string }; result: Record<string, never> };
};

/** An agent's token is sent as `<id>:<secret>`. */
export function bearerOf(id: string, secret: string): string {
  return `${id}:${secret}`;
}

export function readBearer(token: string): { readonly id: string; readonly secret: string } | undefined {
  const at = token.indexOf(":");
  return at < 1 ? undefined : { id: token.slice(0, at), secret: token.slice(at + 1) };
}
