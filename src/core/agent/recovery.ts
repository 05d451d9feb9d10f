// What was interrupted by a crash goes on by itself, or waits for who must say so (AG-7).
// Y1. By default a root goes on, and a child when its parent needs it: the parent is told that it waits, and a message releases it (G3 of
//     messages.ts). A child that has a message of its parent or of a person to read is needed already.
// Y2. A bare LLM lost nothing but time: only `ask` and `never` hold it.
import type { Agent } from "./agent.ts";
import type { Draft } from "./draft.ts";
import { tellParent, USER } from "./messages.ts";
import { styleOf } from "./provider.ts";

export function holdBack(draft: Draft, agent: Agent): void {
  const { id, settings, turn, held } = agent;
  if (turn === undefined || held !== undefined || isWanted(draft, agent)) return;
  const reason = `It was interrupted in turn ${turn.number}, and its recovery policy is "${settings.recovery}".`;
  draft.add(id, { event: "agent.held", data: { reason, at: draft.at } });
  if (settings.recovery === "parent") tellParent(draft, agent, "child.suspended", reason);
}

function isWanted(draft: Draft, { settings, plan, parent, inbox }: Agent): boolean {
  if (settings.recovery !== "parent") return settings.recovery === "auto";
  if (styleOf(plan.recipe) === "request" || draft.live(parent) === undefined) return true; // Y2
  return inbox.some(({ sender }) => sender === parent || sender === USER); // Y1
}
