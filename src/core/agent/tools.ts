// Decides on the calls of an agent's tools.
// O2. `tool.answered` is in the same transaction as the effects of the tool: an answer that was given is durable with
//     them.
// O3. A call that was answered before is answered from the state, and nothing is done again.
// O4. A tool that cannot do its work reports that in its result; it is the agent's business, not an error of ours.

import type { Json } from "../../base/json.ts";
import type { Refusal } from "../../base/result.ts";
import { type Agent, type Call, openPrompts, stateOf, waitingMessages } from "./agent.ts";
import { broadcast } from "./broadcast.ts";
import { derivedId } from "./derive.ts";
import type { Draft } from "./draft.ts";
import { cut, MAX_REMINDER_MS, MAX_REMINDERS, MAX_TOOL } from "./limits.ts";
import { enqueue, forOneTurn, senderName } from "./messages.ts";
import { type Spawn, spawn } from "./spawn.ts";
import { type Arguments, checkArguments, type ToolName, toolOf } from "./tool-shapes.ts";
import { type Neighbour, neighbour } from "./tree.ts";

export type ToolRequest = {
  readonly call: string;
  readonly tool: string;
  readonly args: Json;
  readonly inline: boolean;
  readonly via?: "http";
};

type Answer = { readonly ok: boolean; readonly result: Json; readonly messages?: readonly string[] };

/** The call as it was answered; undefined if it was not, or is already forgotten. */
export function callOf(agent: Agent, call: string): Call | undefined {
  return agent.calls.find((one) => one.call === call);
}

export function answerCall(draft: Draft, id: string, asked: ToolRequest): void {
  const { call, tool, inline } = asked;
  const before = callOf(draft.agent(id), call);
  if (before !== undefined && !inline) return; // O3
  const { ok, result, messages = [] } = before === undefined ? perform(draft, id, asked) : before;
  const how = asked.via === undefined ? {} : { via: asked.via };
  const kept = stillThere(draft.agent(id), messages);
  const data = { call, tool: cut(tool, MAX_TOOL), ok, result, inline, messages: kept, ...how, at: draft.at };
  draft.add(id, { event: "tool.answered", data }); // O2
}

function stillThere({ inbox }: Agent, messages: readonly string[]): readonly string[] {
  return messages.filter((id) => inbox.some(({ message_id }) => message_id === id));
}

function perform(draft: Draft, id: string, { call, tool, args }: ToolRequest): Answer {
  const shape = toolOf(tool);
  if (shape === undefined) return no(`There is no tool "${cut(tool, MAX_TOOL)}".`);
  const checked = checkArguments(shape, args);
  if (typeof checked === "string") return no(checked);
  return TOOL_DECISIONS[shape.name](draft, draft.agent(id), call, checked);
}

function no(error: string): Answer {
  return { ok: false, result: { error } };
}

function refusedBy({ message, hint }: Refusal): Answer {
  return { ok: false, result: { error: message, hint } };
}

type Decides = (draft: Draft, agent: Agent, call: string, args: Arguments) => Answer;

const TOOL_DECISIONS: Readonly<Record<ToolName, Decides>> = {
  spawn_agent: (draft, agent, call, args) => {
    const { name, instructions, provider, model, system_prompt } = args;
    const { id, former } = draft.callIds(agent, "spawn", call);
    const before = draft.get(former);
    if (before?.kind === "agent" && before.parent === agent.id) return spawned(before); // D5 of derive.ts
    const wish: Spawn = {
      id,
      name: `${name}`,
      instructions: `${instructions}`,
      provider: provider?.toString(),
      model: model?.toString(),
      systemPrompt: system_prompt?.toString(),
    };
    const refusal = spawn(draft, agent, wish);
    return refusal === undefined ? spawned(wish) : refusedBy(refusal);
  },

  send_message: (draft, agent, call, { to, text, reply_to }) => {
    const found = near(draft, agent, `${to}`);
    const recipient = draft.live(found?.id);
    if (found === undefined || recipient === undefined) return nobody(`${to}`);
    const ids = draft.callIds(agent, "message", call);
    const letter = { ...ids, from: agent, kind: "message", payload: `${text}`, replyTo: reply_to?.toString() } as const;
    const refusal = enqueue(draft, recipient, { ...letter, relation: SEEN_AS[found.relation] });
    return refusal === undefined ? { ok: true, result: { message: ids.id } } : refusedBy(refusal);
  },

  broadcast: (draft, agent, call, { text }) => {
    const done = broadcast(draft, agent, call, `${text}`);
    return "to" in done ? { ok: true, result: done } : refusedBy(done);
  },

  check_inbox: (_draft, agent) => {
    const messages = forOneTurn(waitingMessages(agent));
    const result = messages.map((message) => {
      const { message_id: id, kind, payload, timestamp: at, reply_to } = message;
      return { id, from: senderName(message), kind, text: payload, at, reply_to };
    });
    return { ok: true, result: { messages: result }, messages: messages.map(({ message_id }) => message_id) };
  },

  inspect_agent: (draft, agent, _call, { name }) => {
    const found = draft.live(near(draft, agent, `${name}`)?.id);
    return found === undefined ? nobody(`${name}`) : { ok: true, result: sight(found) };
  },

  list_children: (draft, agent) => {
    const children = draft.tree.childrenOf(agent.id).map((id) => brief(draft.agent(id)));
    return { ok: true, result: { children } };
  },

  complete: (draft, agent, call, { result }) => {
    const payload = `${result}`;
    const parent = draft.live(agent.parent);
    const ids = draft.callIds(agent, "complete", call);
    const letter = { ...ids, from: agent, kind: "result", payload, relation: "child" } as const;
    const refusal = parent === undefined ? undefined : enqueue(draft, parent, letter);
    if (refusal !== undefined) return refusedBy(refusal);
    draft.add(agent.id, { event: "agent.completed", data: { result: payload, at: draft.at } });
    return { ok: true, result: { completed: true } };
  },

  remind_me: (draft, agent, call, { in_seconds, text }) => {
    const ms = Number(in_seconds) * 1000;
    if (!(ms >= 0 && ms <= MAX_REMINDER_MS)) return no("A reminder must be due within a year.");
    if (agent.reminders.length >= MAX_REMINDERS) return no(`There are ${MAX_REMINDERS} reminders already.`);
    const reminder = { reminder_id: derivedId(agent.id, "reminder", call), due: draft.in(ms), text: `${text}` };
    draft.add(agent.id, { event: "reminder.set", data: reminder });
    return { ok: true, result: { reminder: reminder.reminder_id, due: reminder.due } };
  },
};

function spawned({ id, name }: { readonly id: string; readonly name: string }): Answer {
  return { ok: true, result: { agent: id, name } };
}

/** What the sender is to the recipient. */
const SEEN_AS: Readonly<Record<Neighbour["relation"], string>> = {
  parent: "child",
  child: "parent",
  sibling: "sibling",
};

function near(draft: Draft, agent: Agent, name: string): Neighbour | undefined {
  return neighbour(draft.tree, agent, draft.live(agent.parent), name);
}

function nobody(name: string): Answer {
  return no(`There is no "${name}" among your parent, your agents and your siblings.`);
}

function brief(agent: Agent): Json {
  return { name: agent.name, state: stateOf(agent), inbox: agent.inbox.length };
}

function sight(agent: Agent): Json {
  const { name, plan, inbox, turns, lastText, result } = agent;
  const { provider, model } = plan.recipe;
  const prompts = openPrompts(agent).map(({ tool, since }) => ({ tool, since }));
  const said = { last_text: lastText, result: result ?? null };
  return { name, state: stateOf(agent), provider, model, turns, inbox: inbox.length, prompts, ...said };
}
