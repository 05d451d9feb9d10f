// The events of agents. Names and fields are on disk: added to, never changed. Those of the specification keep its
// names.
// N1. An event has everything the fold needs: replaying old events needs no rule that may have changed since.
// N2. `id` is the agent's and its session's. An agent's events are in its own log; a message is one transaction over
//     two logs.
// N3. A generation is one process of an agent (`<id>.<generation>` names its holder); no number is used twice. A bare
//     LLM has none: 0.
// N4. Every text in an event is cut or refused before (limits.ts): a decision fits a transaction of the log.
import type { Json } from "../../base/json.ts";
import type { Decision, ProviderEvent, Recipe, Usage } from "./provider.ts";
import type { Rule } from "./rules.ts";
import type { Workspace } from "./workspace.ts";

type Event<Name extends string, Data> = { readonly event: Name; readonly id: string; readonly data: Data };

export type AgentEvent =
  | Event<"agent.created", Created>
  | Event<"session.created", SessionCreated>
  | Event<"session.named", { readonly session: string }>
  /** A new conversation in place of one that cannot be resumed, under this id; `history` is for its first prompt. */
  | Event<"session.renewed", { readonly session: string; readonly history: string; readonly at: string }>
  | Event<"session.restored", Restored>
  | Event<"suspend.result", Suspended>
  | Event<"agent.set", { readonly settings: AgentSettings; readonly at: string }>
  | Event<"agent.terminated", Terminated>
  | Event<"agent.completed", { readonly result: string; readonly at: string }>
  | Event<"agent.crashed", { readonly reason: string; readonly at: string }>
  | Event<"agent.retried", { readonly at: string }>
  | Event<"agent.held", Held>
  | Event<"agent.released", { readonly at: string }>
  | Event<"agent.sleeping", { readonly until: string; readonly at: string; readonly reason?: string }>
  | Event<"agent.woken", Woken>
  | Event<"message.sent", MessageSent>
  | Event<"message.enqueued", Message>
  | Event<"broadcast.accepted", Broadcast & { readonly at: string }>
  /** This many of its recipients, from the first on, have it, or have ended. */
  | Event<"broadcast.passed", { readonly call: string; readonly count: number; readonly at: string }>
  | Event<"message.delivered", { readonly message_id: string }>
  /** By a person, before it was given to the agent. */
  | Event<"message.dropped", { readonly message_id: string; readonly at: string }>
  | Event<"message.edited", { readonly message_id: string; readonly payload: string; readonly at: string }>
  | Event<"turn.start", TurnStart>
  | Event<"turn.retrying", TurnRetrying>
  | Event<"turn.interrupted", { readonly turn: number; readonly at: string }>
  | Event<"turn.complete", TurnEnded & { readonly response: string }>
  | Event<"turn.failed", TurnEnded & { readonly reason: string }>
  | Event<"conversation.trimmed", Trimmed>
  | Event<"process.starting", ProcessStarting>
  | Event<"process.running", ProcessRunning>
  | Event<"process.stopping", ProcessStopping>
  | Event<"process.ended", ProcessEnded>
  | Event<"process.backoff", Backoff>
  | Event<"process.rested", { readonly at: string }>
  | Event<"input.taken", InputTaken>
  | Event<"agent.read", AgentRead>
  | Event<"prompt.opened", PromptOpened>
  | Event<"prompt.refreshed", { readonly prompt_id: string; readonly deadline: string }>
  | Event<"prompt.answered", PromptAnswered>
  | Event<"prompt.delivered", { readonly prompt_id: string }>
  | Event<"prompt.stale", PromptStale>
  | Event<"tool.answered", ToolAnswered>
  | Event<"tool.taken", { readonly call: string }>
  | Event<"reminder.set", Reminder>
  | Event<"reminder.fired", { readonly reminder_id: string; readonly at: string }>
  /** `device`: the browser that it was made in, if it was. */
  | Event<"rule.added", { readonly rule: Rule; readonly at: string; readonly device?: string }>
  | Event<"rule.removed", { readonly rule_id: string; readonly at: string }>
  /** Of RULE_BOOK: their logs are removed next, or already were. */
  | Event<"agents.removed", { readonly agent_ids: readonly string[]; readonly at: string }>;

/**
 * What is resumed automatically after a crash: `parent` waits for a message from the parent (or a person), `ask` for
 * one
 * from a person, `never` for `agent retry` (AG-7).
 */
export type RecoveryPolicy = "auto" | "parent" | "ask" | "never";

export type AgentSettings = {
  readonly recovery: RecoveryPolicy;
  /** The prompt for an agent whose process died in the middle of a turn. */
  readonly recovery_prompt: string;
  /** A process that is silent this long in a turn is hung. */
  readonly hung_after_ms: number;
  /** An open prompt is denied after this long without any activity of a person. */
  readonly prompt_ttl_ms: number;
  /**
   * For unattended agents: the decision after this long, whatever people do elsewhere; null means waiting for people.
   */
  readonly prompt_default: { readonly after_ms: number; readonly decision: Decision } | null;
  /** Whether it sleeps through a usage limit; otherwise its turn fails. */
  readonly sleep_on_limit: boolean;
};

export type Created = {
  readonly agent_id: string;
  readonly name: string;
  readonly parent_session_id: string | null;
  readonly instructions: string;
  readonly settings: AgentSettings;
  /** The attempt of a workflow step that it was created for: it is terminated when that is over. */
  readonly owner?: string;
  /** What it belongs to, as terminals do; those of older versions are in none. */
  readonly lane?: string;
  /** The plan of its session, which starts when the parent's turn ends (AG-1). */
  readonly session: SessionPlan;
  readonly at: string;
};

export type SessionPlan = {
  readonly recipe: Recipe;
  readonly system_prompt: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** null: just its directory. */
  readonly workspace: Workspace | null;
};

export type SessionCreated = SessionPlan & {
  readonly provider: string;
  readonly model: string | null;
  readonly at: string;
};

export type Restored = {
  readonly provider: string;
  readonly model: string | null;
  /** Whether its process survived and was adopted again (AG-4), or a new one is started. */
  readonly adopted: boolean;
  readonly at: string;
};

/** `state_size`: the length in bytes of what its provider continues from. `recovery`: found active after a crash. */
export type Suspended = {
  readonly state_size: number;
  readonly reason: "evicted" | "asked" | "recovery";
  readonly at: string;
};

export type Terminated = {
  readonly agent_id: string;
  readonly reason: string;
  readonly by: "user" | "parent" | "complete" | "orphan" | "workflow";
  readonly at: string;
};

/** After sleep; `prompt` is what it gets then, if it had already taken its prompt. */
export type Woken = { readonly prompt: Handed | null; readonly at: string };

/** What is given to a process: the same uuid, the same prompt. */
export type Handed = { readonly uuid: string; readonly text: string };

/** In the sender's log, with the entry in the recipient's (AG-3). */
export type MessageSent = { readonly message_id: string; readonly recipient: string; readonly at: string };

export type Message = {
  readonly message_id: string;
  /** An agent's id, "user", or "holdfast". */
  readonly sender: string;
  readonly recipient: string;
  readonly kind: MessageKind;
  readonly payload: string;
  readonly timestamp: string;
  readonly reply_to: string | null;
  readonly metadata: Readonly<Record<string, Json>>;
};

/** A text on its way to siblings, by the call of the tool (broadcast.ts). */
export type Broadcast = { readonly call: string; readonly payload: string; readonly recipients: readonly string[] };

export type MessageKind =
  | "message"
  | "instructions"
  | "broadcast"
  | "result"
  | "reminder"
  | "child.terminated"
  | "child.crashed"
  | "child.failed"
  | "child.suspended";

export type TurnStart = {
  readonly turn: number;
  readonly prompt: string;
  readonly messages: readonly string[];
  readonly uuid: string;
  readonly at: string;
};

/** `waited`: nothing was requested, so that this is none of its attempts. */
export type TurnRetrying = {
  readonly turn: number;
  readonly reason: string;
  readonly until: string;
  readonly waited?: true;
};

/** `usage`: of the whole turn, as far as its provider says it. */
export type TurnEnded = { readonly turn: number; readonly at: string; readonly usage?: Usage };

/**
 * From now on a bare LLM is asked without these pieces of its conversation, counted from its beginning: `to` is the
 * first that stays. `bytes`: their length as JSON. `context`: they do not fit; `failed`: their turn failed. `limit`: in
 * tokens, if it was learnt.
 */
export type Trimmed = {
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
  readonly why: "context" | "failed";
  readonly limit?: number;
  readonly at: string;
};

/** To be started: the effect follows once this is durable. `prompt` is what the current turn gives to it, if any. */
export type ProcessStarting = {
  readonly generation: number;
  readonly resume: boolean;
  readonly prompt: Handed | null;
  readonly at: string;
};

export type ProcessRunning = {
  readonly generation: number;
  readonly pid: number;
  readonly start_time: number;
  readonly boot_id: string;
  readonly holder: number;
  readonly at: string;
};

/** Why it does not continue by itself. `unresumable`: its provider does not continue its conversation (fresh.ts). */
export type Held = { readonly reason: string; readonly at: string; readonly unresumable?: true };

/** `reason`: why it could not be started, if it has not crashed. `fruitless`: see agent.ts. */
export type Backoff = {
  readonly until: string;
  readonly crashes: readonly number[];
  readonly reason?: string;
  readonly fruitless?: number;
};

/** `unopened`: it could not open its session. */
export type StopReason = "evicted" | "asked" | "terminated" | "hung" | "unopened";

export type ProcessStopping = {
  readonly generation: number;
  readonly reason: StopReason;
  /** null: its input is closed, and it may end by itself. */
  readonly signal: "SIGTERM" | "SIGKILL" | null;
  readonly kill_at: string | null;
};

/** `clean`: the normal end. `stopped`: we wanted it. `lost`: with the machine, or while nothing watched it. */
export type ProcessOutcome = "clean" | "stopped" | "crashed" | "killed" | "lost" | "not-started";

export type ProcessEnded = {
  readonly generation: number;
  readonly code: number | null;
  readonly signal: string | null;
  readonly outcome: ProcessOutcome;
  readonly reason: string;
  readonly at: string;
};

/** The process has the entries of the outbox up to `through`; its holder got them in this many pieces. */
export type InputTaken = { readonly generation: number; readonly through: number; readonly pieces: number };

/** All output up to `offset` has been read; for a bare LLM: request number `offset` was answered. */
export type AgentRead = {
  readonly generation: number;
  readonly offset: number;
  readonly events: readonly ProviderEvent[];
  readonly at: string;
};

/** If it has the id of an earlier one, it is that prompt, asked again by the next process (H3 of prompts.ts). */
export type PromptOpened = {
  readonly prompt_id: string;
  readonly generation: number;
  /** Older versions did not write it. */
  readonly turn?: number;
  readonly request: string;
  readonly tool: string;
  readonly input: Json;
  readonly options: Json;
  readonly since: string;
  readonly deadline: string;
  /** The decision at the deadline, and whether activity postpones it. */
  readonly expires: { readonly decision: Decision; readonly refreshable: boolean };
};

/** `taken_back`: by its agent; otherwise the process that asked is gone. */
export type PromptStale = { readonly prompt_id: string; readonly reason: string; readonly taken_back?: true };

export type PromptAnswered = {
  readonly prompt_id: string;
  readonly decision: Decision;
  readonly by: "rule" | "user" | "expired" | "default";
  readonly message: string;
  /** The rule that decided; older versions did not write it. */
  readonly rule?: string;
  /** Chosen by the person's command: a repeat is recognized by it. */
  readonly answer_id?: string;
  readonly at: string;
};

export type ToolAnswered = {
  readonly call: string;
  readonly tool: string;
  readonly ok: boolean;
  readonly result: Json;
  /** Whether the result goes to the process (a call in its output), or back over MCP. */
  readonly inline: boolean;
  /** The messages that `check_inbox` returned: delivered once the result was taken. */
  readonly messages: readonly string[];
  /** Over plain HTTP the result is not confirmed: what is not known to be taken when the daemon dies is given again. */
  readonly via?: "http";
  readonly at: string;
};

export type Reminder = { readonly reminder_id: string; readonly due: string; readonly text: string };
