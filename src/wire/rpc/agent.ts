// What the daemon answers about agents (rpc.ts has the rules for all methods, params.ts what each takes).

import type { Json } from "../../base/json.ts";
import type { AgentState } from "../../core/agent/agent.ts";
import type { AgentSettings, Message } from "../../core/agent/events.ts";
import type { HistoryPiece } from "../../core/agent/history.ts";
import type { PromptStage } from "../../core/agent/prompt-machine.ts";
import type { Usage } from "../../core/agent/provider.ts";
import type { Rule } from "../../core/agent/rules.ts";
import type { Workspace } from "../../core/agent/workspace.ts";
import type { ToolAnswer } from "../provider/mcp.ts";
import type { ListedMessage } from "./messages.ts";
import type { Params } from "./params.ts";

export type NewAgent = Params<"agent.new">;
export type WantedWorkspace = NonNullable<NewAgent["workspace"]>;
export type WantedSandbox = NonNullable<WantedWorkspace["sandbox"]>;

export type ListedAgent = {
  readonly id: string;
  readonly name: string;
  readonly parent: string | null;
  /** Absent from older daemons. */
  readonly lane?: string;
  readonly state: AgentState;
  readonly provider: string;
  readonly model: string | null;
  readonly cwd: string;
  readonly createdAt: string;
  /** Messages that it has not read yet. */
  readonly inbox: number;
  /** The open ones. */
  readonly prompts: readonly AskedPrompt[];
  readonly turns: number;
  /** When its current turn began. */
  readonly turnStartedAt: string | null;
  readonly pid: number | null;
  /** Why it waits, until when it sleeps, or why it crashed. */
  readonly note: string | null;
  /** Why its last turn failed, until one is complete; absent if none did, and from older daemons. */
  readonly failure?: { readonly turn: number; readonly reason: string; readonly at: string };
  /** Of all its turns, as far as its provider says it; absent if it never did, and from older daemons. */
  readonly usage?: Usage;
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

/** `agent`: null for a rule about all. */
export type OwnedRule = { readonly agent: string | null; readonly rule: Rule; readonly from?: "configuration" };

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
  /** Where it is in the life of a permission request, by the names in docs/STATE_MACHINES.md. */
  readonly stage: PromptStage;
  /** The rule that its answer made, while there is such a rule. */
  readonly rule?: Rule;
  /** Why its agent has no sandbox although it should have one. */
  readonly unsandboxed?: string;
  /** How it was decided, once it is: `by` is `rule`, `user`, `expired` or `default`. `rule`: the id of the rule. */
  readonly given?: { readonly decision: string; readonly by: string; readonly at: string; readonly rule?: string };
};

/** A piece of an agent's past, and the entry of its log that it is from. */
export type HistoryRow = HistoryPiece & { readonly seq: number; readonly at: string };

/** A stretch of it, oldest first. A row that cannot be read says so. */
export type AgentHistory = {
  readonly rows: readonly HistoryRow[];
  /** `before` for the stretch before it; null if this is the beginning, or what is left of it. */
  readonly earlier: number | null;
  /** `after` for what follows; null if there is nothing yet, and `last` is to be asked for later. */
  readonly later: number | null;
  /** The last entry that was looked at; 0 if there is none. */
  readonly last: number;
};

export type AgentResults = {
  "agent.new": ListedAgent;
  "agent.list": readonly ListedAgent[];
  "agent.find": ListedAgent;
  "agent.show": ShownAgent;
  "agent.inbox": readonly Message[];
  "agent.history": AgentHistory;
  /** Newest first; of long texts the beginning. */
  "agent.messages": readonly ListedMessage[];
  "agent.send": ListedAgent;
  "agent.terminate": ListedAgent;
  "agent.retry": ListedAgent;
  "agent.drop": ListedAgent;
  "agent.edit": ListedAgent;
  "agent.interrupt": ListedAgent;
  "agent.suspend": ListedAgent;
  "agent.set": ListedAgent;
  "agent.call": ToolAnswer;
  "agent.call-taken": Record<string, never>;
  "prompt.list": readonly ListedPrompt[];
  "prompt.find": ListedPrompt;
  "prompt.answer": ListedPrompt;
  "prompt.always": ListedPrompt;
  /** Those of all agents (null), and of each agent that has some. */
  "rule.list": readonly OwnedRule[];
  "rule.find": OwnedRule;
  "rule.add": Record<string, never>;
  "rule.remove": Record<string, never>;
};

/** An agent's token is sent as `<id>:<secret>`. */
export function bearerOf(id: string, secret: string): string {
  return `${id}:${secret}`;
}

export function readBearer(token: string): { readonly id: string; readonly secret: string } | undefined {
  const at = token.indexOf(":");
  return at < 1 ? undefined : { id: token.slice(0, at), secret: token.slice(at + 1) };
}
