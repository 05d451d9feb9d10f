// The conversation of a bare LLM, rebuilt from events alone (AG-6).
// L1. It is the fold of `turn.start`, `agent.read` and `tool.answered`, in order: the same log gives the same
//     conversation, and there is no other copy of it.
// L2. Every call is followed by its result before anything else is said, as providers require.
// L3. What was said before the last recovery is only in the log until the model is asked again: a checkpoint has only
//     its length, so that neither its size nor a recovery grows with the conversation.

import type { Json } from "../../base/json.ts";
import { itemsOf, push, type Vector, vectorOf } from "../../base/vector.ts";
import type { AgentEvent } from "./events.ts";
import type { ProviderEvent } from "./provider.ts";

export type Said =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string; readonly calls: readonly SaidCall[] }
  | { readonly role: "tool"; readonly call: string; readonly ok: boolean; readonly result: Json };

export type SaidCall = { readonly call: string; readonly tool: string; readonly args: Json };

/**
 * `earlier`: how many pieces before those in `said` are only in the log (L3). `bytes`: the length of all of it, as
 * JSON.
 */
export type Conversation = { readonly earlier: number; readonly bytes: number; readonly said: Vector<Said> };

const UTF8 = new TextEncoder();

export const NOTHING_SAID: Conversation = { earlier: 0, bytes: 0, said: vectorOf() };

/** L1. The conversation after the event. */
export function converse(before: Conversation, event: AgentEvent): Conversation {
  const piece = pieceOf(event);
  if (piece === undefined) return before;
  const bytes = before.bytes + UTF8.encode(JSON.stringify(piece)).length;
  return { ...before, bytes, said: push(before.said, piece) };
}

/** What an event adds to the conversation, if anything. */
export function pieceOf(event: AgentEvent): Said | undefined {
  if (event.event === "turn.start") return { role: "user", text: event.data.prompt };
  if (event.event === "tool.answered" && event.data.inline) {
    const { call, ok, result } = event.data;
    return { role: "tool", call, ok, result };
  }
  return event.event === "agent.read" ? answerOf(event.data.events) : undefined;
}

/** L3. Drops everything that is in the log. */
export function putAway({ earlier, bytes, said }: Conversation): Conversation {
  return { earlier: earlier + said.length, bytes, said: NOTHING_SAID.said };
}

/** L3. Adds the beginning from the log; unchanged if that is not what is missing (any more). */
export function recalled(conversation: Conversation, first: readonly Said[]): Conversation {
  const { earlier, bytes, said } = conversation;
  return earlier === first.length ? { earlier: 0, bytes, said: vectorOf([...first, ...itemsOf(said)]) } : conversation;
}

/** The text and calls of one answer are one piece; undefined if it is empty, as when the request failed. */
function answerOf(events: readonly ProviderEvent[]): Said | undefined {
  const texts: string[] = [];
  const calls: SaidCall[] = [];
  let response = "";
  for (const event of events) {
    if (event.kind === "text") texts.push(event.text);
    if (event.kind === "call") calls.push({ call: event.call, tool: event.tool, args: event.args });
    if (event.kind === "done") response = event.response ?? "";
  }
  if (texts.length === 0 && response !== "") texts.push(response);
  if (texts.length === 0 && calls.length === 0) return undefined;
  return { role: "assistant", text: texts.join(""), calls };
}
