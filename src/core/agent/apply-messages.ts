// Folds messages and calls of our tools.
import type { Agent, Call, Failure, Outbox } from "./agent.ts";
import { heard } from "./apply-process.ts";
import type { AgentEvent, ToolAnswered } from "./events.ts";
import { MAX_CALLS, MAX_SEEN } from "./limits.ts";
import { styleOf } from "./provider.ts";

export function applyMessages(agent: Agent, event: AgentEvent): Agent | undefined {
  switch (event.event) {
    case "message.sent":
      return agent;
    case "message.enqueued":
      return {
        ...agent,
        inbox: [...agent.inbox, event.data],
        seen: [...agent.seen, event.data.message_id].slice(-MAX_SEEN),
      };
    case "broadcast.accepted": {
      const { call, payload, recipients } = event.data;
      return { ...agent, broadcasts: [...agent.broadcasts, { call, payload, recipients }] };
    }
    case "broadcast.passed":
      return { ...agent, broadcasts: passed(agent.broadcasts, event.data.count) };
    case "message.delivered":
      return delivered(agent, event.data.message_id);
    case "message.dropped":
      return dropped(delivered(agent, event.data.message_id), event.data.message_id);
    case "message.edited": {
      const { message_id: id, payload } = event.data;
      return { ...agent, inbox: agent.inbox.map((one) => (one.message_id === id ? { ...one, payload } : one)) };
    }
    case "tool.answered":
      return answered(agent, event.data);
    case "tool.taken":
      return {
        ...agent,
        calls: agent.calls.map((one) => (one.call === event.data.call ? { ...one, taken: true } : one)),
      };
    default:
      return undefined;
  }
}

/** They are passed on one after the other. */
function passed([first, ...others]: Agent["broadcasts"], count: number): Agent["broadcasts"] {
  const recipients = first?.recipients.slice(count) ?? [];
  return first === undefined || recipients.length === 0 ? others : [{ ...first, recipients }, ...others];
}

function delivered(agent: Agent, id: string): Agent {
  const inbox = agent.inbox.filter(({ message_id }) => message_id !== id);
  const { turn } = agent;
  if (turn === undefined || !turn.messages.includes(id)) return { ...agent, inbox };
  return { ...agent, inbox, turn: { ...turn, messages: turn.messages.filter((one) => one !== id) } };
}

function dropped(agent: Agent, id: string): Agent {
  const { failure } = agent;
  if (failure === undefined) return agent;
  return withFailure(agent, { ...failure, messages: failure.messages.filter((one) => one !== id) });
}

/** A failure is known for as long as its turn can be repeated. */
export function withFailure({ failure: _, ...agent }: Agent, failure: Failure): Agent {
  return failure.messages.length === 0 && failure.prompt === undefined ? agent : { ...agent, failure };
}

/** The calls of the current and the last turn are kept: a repeated call is answered from here. */
function answered(agent: Agent, data: ToolAnswered): Agent {
  const { call, tool, ok, result, inline, messages, via, at } = data;
  const turn = agent.turn?.number ?? agent.turns;
  const { generation } = agent;
  const how = via === undefined ? {} : { via };
  const answer: Call = {
    call,
    tool,
    ok,
    result,
    inline,
    turn,
    generation,
    messages,
    ...how,
    taken: false,
    lapsed: false,
  };
  const others = agent.calls.filter((one) => one.call !== call && one.turn >= turn - 1);
  const calls = [...others, answer].slice(-MAX_CALLS);
  const after = { ...heard(agent, at), calls };
  if (!inline || styleOf(agent.plan.recipe) === "request") return after;
  return { ...after, outbox: withEntry(agent.outbox, { kind: "result", call, ok, result }) };
}

export function withEntry(outbox: Outbox, entry: Outbox["entries"][number]): Outbox {
  return { ...outbox, entries: [...outbox.entries, entry] };
}
