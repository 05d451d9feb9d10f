// Folds the events of an agent.
// A1. The fold checks no rules: it takes what the event says, so that old logs stay valid when rules change.
// A2. The previous state is not modified: a turn that is undone still has it.
// A3. The cost of one event does not grow with the history.
import type { Agent, AgentRecord, RuleBook } from "./agent.ts";
import { RULE_BOOK } from "./agent.ts";
import { applyMessages, withFailure } from "./apply-messages.ts";
import { applyProcess } from "./apply-process.ts";
import { applyPrompts } from "./apply-prompts.ts";
import { applyTurn } from "./apply-turn.ts";
import { converse, NOTHING_SAID } from "./conversation.ts";
import { DEFAULT_SETTINGS } from "./defaults.ts";
import { dashed } from "./derive.ts";
import type { AgentEvent, Created, SessionCreated, SessionPlan } from "./events.ts";
import { styleOf } from "./provider.ts";
import type { Rule } from "./rules.ts";

/** The agent, or the rules for all, after the event; `before` is undefined for the first one. */
export function applyAgent(before: AgentRecord | undefined, event: AgentEvent): AgentRecord {
  if (event.id === RULE_BOOK) return applyBook(before?.kind === "rules" ? before : undefined, event);
  const agent = before?.kind === "agent" ? before : undefined;
  if (event.event === "agent.created") return created(event.id, event.data, agent);
  if (event.event === "session.created") return sessionCreated(event.id, event.data, agent);
  if (agent === undefined) throw new Error(`${event.event} of agent ${event.id}, which was never created`);
  const after =
    applyMessages(agent, event) ??
    applyTurn(agent, event) ??
    applyProcess(agent, event) ??
    applyPrompts(agent, event) ??
    applyLife(agent, event);
  if (styleOf(agent.plan.recipe) !== "request") return after;
  return { ...withoutPrompt(after, event), conversation: converse(after.conversation, event) };
}

/** A turn that is left out of the conversation is not repeated. */
function withoutPrompt(agent: Agent, event: AgentEvent): Agent {
  if (agent.failure === undefined || event.event !== "conversation.trimmed" || event.data.why !== "failed")
    return agent;
  const { prompt: _, ...failure } = agent.failure;
  return withFailure(agent, failure);
}

function applyBook(book: RuleBook | undefined, event: AgentEvent): RuleBook {
  const rules = book?.rules ?? [];
  return { kind: "rules", id: RULE_BOOK, rules: changedRules(rules, event) };
}

function changedRules(rules: readonly Rule[], event: AgentEvent): readonly Rule[] {
  if (event.event === "rule.added") return [...rules, addedRule(event.data)];
  if (event.event === "rule.removed") return rules.filter(({ rule_id }) => rule_id !== event.data.rule_id);
  return rules;
}

function addedRule({ rule, at, device }: Extract<AgentEvent, { event: "rule.added" }>["data"]): Rule {
  return { ...rule, made: { at, ...(device !== undefined && { device }) } };
}

const NO_PLAN: SessionPlan = {
  recipe: { provider: "scripted", model: null, command: [], flags: [], permissionMode: null, options: {} },
  system_prompt: "",
  cwd: "/",
  environment: {},
  workspace: null,
};

function newAgent(id: string): Agent {
  return {
    kind: "agent",
    id,
    name: "",
    parent: undefined,
    instructions: "",
    created: false,
    createdAt: "",
    settings: DEFAULT_SETTINGS,
    owner: undefined,
    lane: undefined,
    plan: NO_PLAN,
    session: { kind: "deferred" },
    providerSession: dashed(id),
    resumable: false,
    process: { kind: "Idle", restart: false },
    generation: 0,
    consumed: 0,
    open: false,
    outbox: { confirmed: 0, pieces: 0, entries: [] },
    inbox: [],
    seen: [],
    turn: undefined,
    turns: 0,
    outcome: undefined,
    lastUsed: "",
    lastText: "",
    prompts: [],
    calls: [],
    reminders: [],
    broadcasts: [],
    sleep: undefined,
    held: undefined,
    crashes: [],
    rules: [],
    result: undefined,
    terminated: undefined,
    conversation: NOTHING_SAID,
  };
}

function created(id: string, data: Created, before: Agent | undefined): Agent {
  const { name, parent_session_id, instructions, settings, owner, lane, session, at } = data;
  const facts = { name, parent: parent_session_id ?? undefined, instructions, settings, owner, lane, created: true };
  return { ...(before ?? newAgent(id)), ...facts, plan: session, createdAt: at, lastUsed: at };
}

/** May come without `agent.created` before it: then it is an orphan (AG-2). */
function sessionCreated(id: string, data: SessionCreated, before: Agent | undefined): Agent {
  const { recipe, system_prompt, cwd, environment, workspace } = data;
  const plan = { recipe, system_prompt, cwd, environment, workspace };
  return { ...(before ?? newAgent(id)), plan, session: { kind: "idle" } };
}

function applyLife(agent: Agent, event: AgentEvent): Agent {
  switch (event.event) {
    case "session.named":
      return { ...agent, providerSession: event.data.session, resumable: true, named: true };
    case "session.renewed": {
      const { session, history } = event.data;
      return { ...agent, providerSession: session, history, resumable: false, named: false, remembers: false };
    }
    case "agent.set":
      return { ...agent, settings: event.data.settings };
    case "agent.terminated": {
      const { reason, by, at } = event.data;
      // A workflow that lets it go has taken the outcome of its first turn.
      const outcome = by === "workflow" ? undefined : agent.outcome;
      return { ...agent, outcome, terminated: { reason, by, at } };
    }
    case "agent.completed":
      return { ...agent, result: event.data.result };
    case "agent.held":
      return { ...agent, held: event.data };
    case "agent.released":
      return { ...agent, held: undefined };
    case "reminder.set":
      return { ...agent, reminders: [...agent.reminders, event.data] };
    case "reminder.fired":
      return {
        ...agent,
        reminders: agent.reminders.filter(({ reminder_id }) => reminder_id !== event.data.reminder_id),
      };
    default:
      return { ...agent, rules: changedRules(agent.rules, event) };
  }
}
