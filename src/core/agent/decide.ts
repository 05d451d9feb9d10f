// Decides on agents. Pure: time, ids and everything from the world come in as arguments.
// W1. A command gives events or a refusal, never both; all its events are one transaction, over as many logs as needed.
// W2. Reports about a process that is not the current one, or about output that was already read, are old: nothing
//     changes.
// W3. Agents that can start after a command start in the same transaction (slots.ts).
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import type { Decision } from "../decision.ts";
import { type Agent, type AgentRecord, isAside, RULE_BOOK, stateOf } from "./agent.ts";
import { passOn } from "./broadcast.ts";
import type { AgentCommand, CreateAgent } from "./commands.ts";
import { decideProcess, isProcessReport } from "./decide-process.ts";
import { read } from "./decide-read.ts";
import { escalateStop, wake } from "./decide-wake.ts";
import { type AgentContext, Draft } from "./draft.ts";
import type { AgentEvent } from "./events.ts";
import { overForGood } from "./gone.ts";
import { dropMessages, editMessage } from "./inbox.ts";
import { whyNotMode } from "./inherit.ts";
import { cut, MAX_REASON, MAX_REQUEST_ID, MAX_RULES, STOP_GRACE_MS } from "./limits.ts";
import { enqueue, USER } from "./messages.ts";
import { answerPrompt, isRepeat, refreshPrompts } from "./prompts.ts";
import { styleOf } from "./provider.ts";
import { retry, retryWithout } from "./retry.ts";
import { type Rule, whyUnfit } from "./rules.ts";
import { schedule, suspend } from "./slots.ts";
import { createAgent, createSession, idTaken, terminate } from "./spawn.ts";
import { answerCall } from "./tools.ts";
import { isTooLong, trim } from "./trim.ts";
import { failTurn, INTERRUPTED, leaveIfDone, settleCall } from "./turns.ts";

/** The tree knows of a decision when this returns; `undo` makes it forget one that was not taken. */
export function decideAgent(
  context: AgentContext,
  command: AgentCommand,
  at: string,
): Result<Decision<AgentEvent, AgentRecord>> {
  const draft = new Draft(context, at);
  try {
    const refusal = decide(draft, command);
    if (refusal !== undefined) {
      draft.undo();
      return { ok: false, error: refusal };
    }
    schedule(draft); // W3
    return ok(draft);
  } catch (error) {
    draft.undo();
    throw error;
  }
}

function decide(draft: Draft, command: AgentCommand): Refusal | undefined {
  const { id } = command;
  if (command.kind === "create") return create(draft, command);
  if (command.kind === "rule-add" || command.kind === "rule-remove") return changeRules(draft, command);
  if (command.kind === "collect") return collect(draft, command.agents);
  const agent = draft.get(id);
  if (agent?.kind !== "agent")
    return refused("unknown", `There is no agent ${id}.`, "`holdfast agent tree` shows all.").error;
  if (isAside(agent) && command.kind !== "terminate") return setAside(agent);
  if (isProcessReport(command)) return decideProcess(draft, agent, command);
  if (command.kind === "orphan") return orphan(draft, agent);
  if (command.kind === "pass-on") return passOn(draft, agent);
  if (agent.terminated !== undefined) return ended(draft, agent, command);
  return decideLive(draft, agent, command);
}

function setAside({ id, name, aside }: Agent): Refusal {
  const hint = `Try again: holdfast down && holdfast up. Or end it: holdfast agent terminate ${id.slice(0, 8)}`;
  return refused("set-aside", `${name} is set aside: ${aside}`, hint).error;
}

type Live = Exclude<
  AgentCommand,
  | CreateAgent
  | Parameters<typeof decideProcess>[2]
  | { readonly kind: "rule-add" }
  | { readonly kind: "rule-remove" }
  | { readonly kind: "orphan" | "collect" | "pass-on" }
>;

function decideLive(draft: Draft, agent: Agent, command: Live): Refusal | undefined {
  switch (command.kind) {
    case "send":
      return send(draft, agent, command);
    case "terminate":
      terminate(draft, agent, command.by ?? "user", cut(command.reason, MAX_REASON));
      return undefined;
    case "call":
      return call(draft, agent, command);
    case "call-taken":
      settleCall(draft, agent.id, command.call);
      return undefined;
    case "answer":
      return answerPrompt(draft, agent, command);
    case "activity":
      refreshPrompts(draft, agent);
      return undefined;
    case "read":
      read(draft, agent, command);
      return undefined;
    case "wake":
      wake(draft, agent);
      return undefined;
    case "trim":
      if (isTooLong(agent)) trim(draft, agent);
      return undefined;
    case "schedule":
      return undefined;
    default:
      return decideWish(draft, agent, command);
  }
}

function call(draft: Draft, agent: Agent, command: Extract<AgentCommand, { kind: "call" }>): Refusal | undefined {
  if (command.call.length > MAX_REQUEST_ID)
    return refused("bad-call", "The id of the call is too long.", `Use at most ${MAX_REQUEST_ID} characters.`).error;
  answerCall(draft, agent.id, { ...command, inline: false });
  if (agent.turn === undefined) leaveIfDone(draft, agent.id);
  return undefined;
}

type Wish = Extract<Live, { readonly kind: "retry" | "interrupt" | "set" | "suspend" | "inbox-drop" | "inbox-edit" }>;

/** Each is an act of a person towards this agent. */
function decideWish(draft: Draft, agent: Agent, command: Wish): Refusal | undefined {
  const refusal = doWish(draft, agent, command);
  if (refusal === undefined) refreshPrompts(draft, draft.agent(agent.id));
  return refusal;
}

function doWish(draft: Draft, agent: Agent, command: Wish): Refusal | undefined {
  switch (command.kind) {
    case "retry":
      return command.without === true ? retryWithout(draft, agent) : retry(draft, agent, command.history);
    case "inbox-drop":
      return dropMessages(draft, agent, command.messages);
    case "inbox-edit":
      return editMessage(draft, agent, command);
    case "interrupt":
      return interrupt(draft, agent);
    case "set": {
      const settings = { ...agent.settings, ...command.settings };
      draft.add(agent.id, { event: "agent.set", data: { settings, at: draft.at } });
      return undefined;
    }
    case "suspend":
      return rest(draft, agent);
  }
}

/** A report about a terminated agent is old (W2), but its last signal may still be due; a request is refused. */
function ended(draft: Draft, agent: Agent, command: Live): Refusal | undefined {
  const { kind } = command;
  const reports: readonly string[] = ["read", "call-taken", "schedule", "activity", "terminate", "trim"];
  if (kind === "wake") escalateStop(draft, agent);
  if (kind === "wake" || reports.includes(kind)) return undefined;
  if (command.kind === "answer" && isRepeat(agent, command)) return undefined;
  return refused("terminated", `${agent.name} was terminated: ${agent.terminated?.reason}`, "It cannot be restarted.")
    .error;
}

function create(draft: Draft, command: CreateAgent): Refusal | undefined {
  const { id, parent } = command;
  if (draft.isTaken(id)) return idTaken(id);
  const above = draft.live(parent);
  if (parent !== undefined && above === undefined)
    return refused("unknown", `There is no agent ${parent}.`, "`holdfast agent tree` shows all.").error;
  const refusal = (above && whyNotMode(command.plan.recipe, above)) ?? createAgent(draft, command);
  if (refusal !== undefined) return refusal;
  createSession(draft, id);
  return undefined;
}

function send(draft: Draft, agent: Agent, command: Extract<AgentCommand, { kind: "send" }>): Refusal | undefined {
  const { message: id, payload, replyTo } = command;
  refreshPrompts(draft, agent);
  return enqueue(draft, draft.agent(agent.id), { id, from: USER, kind: "message", payload, replyTo });
}

function interrupt(draft: Draft, agent: Agent): Refusal | undefined {
  const { id, turn, generation } = agent;
  if (turn === undefined)
    return refused("idle", `${agent.name} is not in a turn.`, "There is nothing to interrupt.").error;
  if (turn.interrupted) return undefined;
  const style = styleOf(agent.plan.recipe);
  const runs = agent.process.kind === "Running" || agent.process.kind === "Spawning";
  if (style === "request" || !runs || agent.sleep !== undefined) {
    failTurn(draft, id, INTERRUPTED);
    return undefined;
  }
  draft.add(id, { event: "turn.interrupted", data: { turn: turn.number, at: draft.at } });
  if (style !== "turn") return undefined;
  const stop = { generation, reason: "asked", signal: "SIGTERM", kill_at: draft.in(STOP_GRACE_MS) } as const;
  draft.add(id, { event: "process.stopping", data: stop });
  return undefined;
}

function rest(draft: Draft, agent: Agent): Refusal | undefined {
  if (agent.process.kind === "Idle") return undefined;
  if (agent.turn !== undefined || agent.process.kind !== "Running")
    return refused("busy", `${agent.name} is ${stateOf(agent)}.`, "Wait for the end of its turn.").error;
  suspend(draft, agent, "asked");
  return undefined;
}

function orphan(draft: Draft, agent: Agent): Refusal | undefined {
  if (agent.created) return refused("no-orphan", `${agent.name} is not an orphan.`, "It is in the tree.").error;
  if (agent.terminated === undefined) terminate(draft, agent, "orphan", "Its creation was never finished.");
  return undefined;
}

/** Agents that are still needed stay. Those that are archived are not. */
function collect(draft: Draft, agents: readonly string[]): Refusal | undefined {
  const over = new Set(overForGood(draft.residents.values()).map(({ id }) => id));
  const agent_ids = agents.filter((id) => over.has(id) || !draft.residents.has(id));
  if (agent_ids.length === 0) return refused("needed", "None of them is over.", "holdfast agent tree").error;
  draft.add(RULE_BOOK, { event: "agents.removed", data: { agent_ids, at: draft.at } });
  return undefined;
}

type RuleChange = Extract<AgentCommand, { kind: "rule-add" | "rule-remove" }>;

function changeRules(draft: Draft, command: RuleChange): Refusal | undefined {
  const { id } = command;
  const owner = draft.get(id);
  if (id !== RULE_BOOK && draft.live(id) === undefined)
    return refused("unknown", `There is no agent ${id}.`, "`holdfast agent tree` shows all.").error;
  const rules = owner?.rules ?? [];
  const { at } = draft;
  if (command.kind === "rule-add") {
    const wrong = whyNoRule(rules, command.rule);
    if (wrong !== undefined) return wrong;
    const { rule, device } = command;
    draft.add(id, { event: "rule.added", data: { rule, at, ...(device !== undefined && { device }) } });
    return heardFrom(draft, id);
  }
  if (!rules.some(({ rule_id }) => rule_id === command.rule))
    return refused("unknown", `There is no rule ${command.rule}.`, "`holdfast rules ls` shows all.").error;
  draft.add(id, { event: "rule.removed", data: { rule_id: command.rule, at } });
  return heardFrom(draft, id);
}

/** A person has done something about this agent. */
function heardFrom(draft: Draft, id: string): undefined {
  const agent = draft.live(id);
  if (agent !== undefined) refreshPrompts(draft, agent);
}

function whyNoRule(rules: readonly Rule[], rule: Rule): Refusal | undefined {
  const broken = whyUnfit(rule);
  if (broken !== undefined)
    return refused("bad-rule", `This is not a rule: ${broken}.`, "holdfast rules add --help").error;
  if (rules.some(({ rule_id }) => rule_id === rule.rule_id))
    return refused("id-taken", `There is already a rule ${rule.rule_id}.`, "Use another id.").error;
  if (rules.length < MAX_RULES) return undefined;
  return refused("too-many", `There are ${MAX_RULES} rules.`, "Remove some.").error;
}
