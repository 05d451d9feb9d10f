// What a person does about messages that an agent was not given yet: drops them, or writes them anew.
// IB1. What a turn or a process was given cannot be changed any more: it may have been read.
// IB2. An agent that waits because of a turn that failed waits no longer if nothing is left of it.
import { type Refusal, refused } from "../../base/result.ts";
import { type Agent, waitingMessages } from "./agent.ts";
import type { Draft } from "./draft.ts";
import { whyNot } from "./messages.ts";

export function dropMessages(draft: Draft, agent: Agent, messages: readonly string[]): Refusal | undefined {
  for (const message of messages) {
    const refusal = whyFixed(agent, message);
    if (refusal !== undefined) return refusal;
  }
  for (const message_id of new Set(messages))
    draft.add(agent.id, { event: "message.dropped", data: { message_id, at: draft.at } });
  releaseIfDone(draft, agent.id);
  return undefined;
}

type Edited = { readonly message: string; readonly payload: string };

export function editMessage(draft: Draft, agent: Agent, { message, payload }: Edited): Refusal | undefined {
  const refusal = whyFixed(agent, message) ?? whyNot({ ...agent, inbox: [] }, { payload });
  if (refusal !== undefined) return refusal;
  draft.add(agent.id, { event: "message.edited", data: { message_id: message, payload, at: draft.at } });
  return undefined;
}

/** IB1 */
function whyFixed(agent: Agent, message: string): Refusal | undefined {
  const { name } = agent;
  if (waitingMessages(agent).some(({ message_id }) => message_id === message)) return undefined;
  if (!agent.inbox.some(({ message_id }) => message_id === message))
    return refused("unknown", `${name} has no unread message ${message}.`, `holdfast agent inbox ${name}`).error;
  const hint = `To stop its turn: holdfast agent interrupt ${name}`;
  return refused("given", `${name} is working on the message ${message} already.`, hint).error;
}

/** IB2 */
export function releaseIfDone(draft: Draft, id: string): void {
  const { held, turn, inbox } = draft.agent(id);
  if (held !== undefined && turn === undefined && inbox.length === 0)
    draft.add(id, { event: "agent.released", data: { at: draft.at } });
}
