// Agent events and checkpointed agents that are read back from disk, given their types again (stored/terminal.ts says why).
import type { Agent, AgentRecord } from "../../core/agent/agent.ts";
import { STORED_VERSION, type StoredResident } from "../../core/agent/checkpoint.ts";
import { NOTHING_SAID } from "../../core/agent/conversation.ts";
import type { AgentEvent } from "../../core/agent/events.ts";
import { isObject } from "../lines.ts";

type StoredEntry = { readonly session_id: string; readonly event: string; readonly data: unknown };
type Fields<E> = E extends { readonly data: infer D } ? readonly (keyof D & string)[] : never;

/** What each event must have; more may be there. */
const EVENTS: { readonly [E in AgentEvent as E["event"]]: Fields<E> } = {
  "agent.created": ["agent_id", "name", "parent_session_id", "instructions", "settings", "session", "at"],
  "session.created": [
    ...(["provider", "model", "system_prompt", "recipe", "cwd", "environment", "workspace", "at"] as const),
  ],
  "session.named": ["session"],
  "session.restored": ["provider", "model", "adopted", "at"],
  "suspend.result": ["state_size", "reason", "at"],
  "agent.set": ["settings", "at"],
  "agent.terminated": ["agent_id", "reason", "by", "at"],
  "agent.completed": ["result", "at"],
  "agent.crashed": ["reason", "at"],
  "agent.retried": ["at"],
  "agent.held": ["reason", "at"],
  "agent.released": ["at"],
  "agent.sleeping": ["until", "at"],
  "agent.woken": ["prompt", "at"],
  "message.sent": ["message_id", "recipient", "at"],
  "message.enqueued": [
    ...(["message_id", "sender", "recipient", "kind", "payload", "timestamp", "reply_to", "metadata"] as const),
  ],
  "message.delivered": ["message_id"],
  "turn.start": ["turn", "prompt", "messages", "uuid", "at"],
  "turn.retrying": ["turn", "reason", "until"],
  "turn.interrupted": ["turn", "at"],
  "turn.complete": ["turn", "response", "at"],
  "turn.failed": ["turn", "reason", "at"],
  "process.starting": ["generation", "resume", "prompt", "at"],
  "process.running": ["generation", "pid", "start_time", "boot_id", "holder", "at"],
  "process.stopping": ["generation", "reason", "signal", "kill_at"],
  "process.ended": ["generation", "code", "signal", "outcome", "reason", "at"],
  "process.backoff": ["until", "crashes"],
  "process.rested": ["at"],
  "input.taken": ["generation", "through", "pieces"],
  "agent.read": ["generation", "offset", "events", "at"],
  "prompt.opened": [
    ...(["prompt_id", "generation", "request", "tool", "input", "options", "since", "deadline", "expires"] as const),
  ],
  "prompt.refreshed": ["prompt_id", "deadline"],
  "prompt.answered": ["prompt_id", "decision", "by", "message", "at"],
  "prompt.delivered": ["prompt_id"],
  "prompt.stale": ["prompt_id", "reason"],
  "tool.answered": ["call", "tool", "ok", "result", "inline", "messages", "at"],
  "tool.taken": ["call"],
  "reminder.set": ["reminder_id", "due", "text"],
  "reminder.fired": ["reminder_id", "at"],
  "rule.added": ["rule", "at"],
  "rule.removed": ["rule_id", "at"],
  "agents.removed": ["agent_ids", "at"],
};

/** The event in an entry; undefined where its name is not one of ours. Throws where a field is missing: that session is set aside. */
export function agentEventOf({ session_id, event, data }: StoredEntry): AgentEvent | undefined {
  if (!Object.hasOwn(EVENTS, event)) return undefined;
  const fields: readonly string[] = EVENTS[event as AgentEvent["event"]];
  const missing = fields.find((field) => !isObject(data) || !(field in data));
  if (missing !== undefined) throw new Error(`${event} of ${session_id} has no ${missing}`);
  return { event, id: session_id, data } as AgentEvent;
}

/** The agent in the body of a checkpoint whose hash was right; undefined where it is of another version of the fold. */
export function residentOf(body: unknown): AgentRecord | undefined {
  if (!isObject(body) || body["version"] !== STORED_VERSION || !isObject(body["resident"])) return undefined;
  const { resident } = body as unknown as StoredResident;
  if (resident.kind === "rules") return resident;
  const { conversation, ...facts } = resident;
  return { ...(facts as Omit<Agent, "conversation">), conversation: { ...NOTHING_SAID, ...conversation } };
}
