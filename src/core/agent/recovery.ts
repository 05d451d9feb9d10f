// After a crash, an interrupted agent continues automatically, or waits for its parent or a person (AG-7).
// Y1. By default a root continues, and a child when its parent needs it: the parent gets a message that it waits, and a
//     reply releases it (G3 of messages.ts). A child with an unread message from its parent or a person is already
//     needed.
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
