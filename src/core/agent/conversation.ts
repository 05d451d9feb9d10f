// The conversation of a bare LLM, rebuilt from events alone (AG-6).
// L1. It is the fold of `turn.start`, `agent.read` and `tool.answered`, in their order: the same log
//     gives the same conversation, and nothing else is a copy of it.
// L2. Every call is followed by its result before anything else is said, as providers demand.
import { push, type Vector } from "../../base/vector.ts";
import type { Json } from "../workflow/json.ts";
import type { AgentEvent } from "./events.ts";
import type { ProviderEvent } from "./provider.ts";

export type Said =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string; readonly calls: readonly SaidCall[] }
  | { readonly role: "tool"; readonly call: string; readonly ok: boolean; readonly result: Json };

export type SaidCall = { readonly call: string; readonly tool: string; readonly args: Json };

/** L1. What was said before and is said after the event. */
export function converse(before: Vector<Said>, event: AgentEvent): Vector<Said> {
  if (event.event === "turn.start") return push(before, { role: "user", text: event.data.prompt });
  if (event.event === "tool.answered" && event.data.inline) {
    const { call, ok, result } = event.data;
    return push(before, { role: "tool", call, ok, result });
  }
  if (event.event !== "agent.read") return before;
  const answer = answerOf(event.data.events);
  return answer === undefined ? before : push(before, answer);
}

/** Texts and calls of one answer are one piece; undefined where it says nothing, as when the request failed. */
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
