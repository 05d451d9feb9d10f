// The conversation of a bare LLM, rebuilt from events alone (AG-6).
// L1. It is the fold of `turn.start`, `agent.read` and `tool.answered`, in order: the same log gives the same
//     conversation, and there is no other copy of it.
// L2. Every call is followed by its result before anything else is said, as providers require.
// L3. What was said before the last recovery is only in the log until the model is asked again: a checkpoint has only
//     its length, so that neither its size nor a recovery grows with the conversation.
// L4. What is left out (`conversation.trimmed`) stays in the log and is counted on: pieces keep their numbers. What is
//     left are whole turns, and whole rounds of the last one, so that L2 holds for what the model gets.

import type { Json } from "../../base/json.ts";
import { itemsOf, push, type Vector, vectorOf } from "../../base/vector.ts";
import type { AgentEvent, Trimmed } from "./events.ts";
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
export type Conversation = {
  readonly earlier: number;
  readonly bytes: number;
  readonly said: Vector<Said>;
  readonly left: LeftOut;
};

/** From the first piece to the one before `to`. */
export type Stretch = { readonly from: number; readonly to: number };

/** L4. `bytes`: of all stretches. `forgotten`: how many pieces did not fit. `limit`: of the model, if it was learnt. */
export type LeftOut = {
  readonly stretches: readonly Stretch[];
  readonly bytes: number;
  readonly forgotten: number;
  readonly limit?: number;
};

const UTF8 = new TextEncoder();

export const NOTHING_SAID: Conversation = {
  earlier: 0,
  bytes: 0,
  said: vectorOf(),
  left: { stretches: [], bytes: 0, forgotten: 0 },
};

/** L1. The conversation after the event. */
export function converse(before: Conversation, event: AgentEvent): Conversation {
  if (event.event === "conversation.trimmed") return { ...before, left: leftOut(before.left, event.data) };
  const piece = pieceOf(event);
  if (piece === undefined) return before;
  return { ...before, bytes: before.bytes + bytesOf(piece), said: push(before.said, piece) };
}

export function bytesOf(piece: Said): number {
  return UTF8.encode(JSON.stringify(piece)).length;
}

/** L4. Stretches that touch are one, so that there are no more than breaks in the conversation. */
function leftOut({ stretches, bytes, forgotten, limit }: LeftOut, trimmed: Trimmed): LeftOut {
  const { from, to, why } = trimmed;
  const apart = stretches.filter((one) => one.to < from || one.from > to);
  const joined = stretches.filter((one) => !apart.includes(one));
  const all = { from: Math.min(from, ...joined.map((one) => one.from)), to: Math.max(to, ...joined.map((s) => s.to)) };
  const known = trimmed.limit ?? limit;
  return {
    stretches: [...apart, all].sort((a, b) => a.from - b.from),
    bytes: bytes + trimmed.bytes,
    forgotten: forgotten + (why === "context" ? to - from : 0),
    ...(known !== undefined && { limit: known }),
  };
}

/** A piece of a conversation, and the length of all before it. */
export type Mark = { readonly piece: number; readonly bytes: number };

export type Numbered = { readonly piece: Said; readonly number: number };

/** L4. What the model gets of it, once all of it is in memory. */
export function heardPieces({ said, left }: Conversation): Numbered[] {
  const pieces = [...itemsOf(said)].map((piece, number) => ({ piece, number }));
  return pieces.filter(({ number }) => !left.stretches.some(({ from, to }) => number >= from && number < to));
}

/** The number of pieces, and their length. */
export function endMark({ earlier, said, bytes }: Conversation): Mark {
  return { piece: earlier + said.length, bytes };
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
export function putAway({ earlier, said, ...rest }: Conversation): Conversation {
  return { ...rest, earlier: earlier + said.length, said: NOTHING_SAID.said };
}

/** L3. Adds the beginning from the log; unchanged if that is not what is missing (any more). */
export function recalled(conversation: Conversation, first: readonly Said[]): Conversation {
  const { earlier, said } = conversation;
  if (earlier !== first.length) return conversation;
  return { ...conversation, earlier: 0, said: vectorOf([...first, ...itemsOf(said)]) };
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
