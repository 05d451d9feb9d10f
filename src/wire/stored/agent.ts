// Agent events and checkpointed agents that are read back from disk, given their types again (event.ts has the rules).
import type { Agent, AgentRecord } from "../../core/agent/agent.ts";
import { STORED_VERSION, type StoredResident } from "../../core/agent/checkpoint.ts";
import { NOTHING_SAID } from "../../core/agent/conversation.ts";
import type { AgentEvent } from "../../core/agent/events.ts";
import { isObject } from "../lines.ts";
import { type EventFields, eventOf, type StoredEntry } from "./event.ts";

const EVENTS: EventFields<AgentEvent> = {
  "agent.created": ["agent_id", "name", "parent_session_id", "instructions", "settings", "session", "at"],
  "session.created": [
    ...(["provider", "model", "system_prompt", "recipe", "cwd", "environment", "workspace", "at"] as const),
  ],
  "session.named": ["session"],
  "session.renewed": ["session", "history", "at"],
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
  "broadcast.accepted": ["call", "payload", "recipients", "at"],
  "broadcast.passed": ["call", "count", "at"],
  "message.delivered": ["message_id"],
  "message.dropped": ["message_id", "at"],
  "message.edited": ["message_id", "payload", "at"],
  "turn.start": ["turn", "prompt", "messages", "uuid", "at"],
  "turn.retrying": ["turn", "reason", "until"],
  "turn.interrupted": ["turn", "at"],
  "turn.complete": ["turn", "response", "at"],
  "turn.failed": ["turn", "reason", "at"],
  "conversation.trimmed": ["from", "to", "bytes", "why", "at"],
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

export function agentEventOf(entry: StoredEntry): AgentEvent | undefined {
  return eventOf<AgentEvent>(EVENTS, entry);
}

/** The agent in the body of a checkpoint whose hash was right; undefined if it is of another version of the fold. */
export function residentOf(body: unknown): AgentRecord | undefined {
  if (!isObject(body) || body["version"] !== STORED_VERSION || !isObject(body["resident"])) return undefined;
  const { resident } = body as unknown as StoredResident;
  if (resident.kind === "rules") return resident;
  const { conversation, ...facts } = resident;
  return { ...(facts as Omit<Agent, "conversation">), conversation: { ...NOTHING_SAID, ...conversation } };
}
