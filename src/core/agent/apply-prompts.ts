// Folds permission prompts.
import type { Agent, Prompt, PromptState } from "./agent.ts";
import { withEntry } from "./apply-messages.ts";
import { heard } from "./apply-process.ts";
import type { AgentEvent, PromptAnswered, PromptStale } from "./events.ts";
import { MAX_CLOSED_PROMPTS, MAX_PROMPTS } from "./limits.ts";

export function applyPrompts(agent: Agent, event: AgentEvent): Agent | undefined {
  switch (event.event) {
    case "prompt.opened": {
      const { prompt_id: id, ...facts } = event.data;
      const before = agent.prompts.find((prompt) => prompt.id === id); // H3 of prompts.ts
      const again = before && { again: (before.again ?? 0) + 1 };
      const others = agent.prompts.filter((prompt) => prompt !== before);
      return { ...agent, prompts: [...others, { ...facts, id, ...again, state: { kind: "open" } }] };
    }
    case "prompt.refreshed":
      return changed(agent, event.data.prompt_id, (prompt) => ({ ...prompt, deadline: event.data.deadline }));
    case "prompt.answered":
      return answered(agent, event.data);
    case "prompt.delivered":
      return changed(agent, event.data.prompt_id, delivered);
    case "prompt.stale":
      return changed(agent, event.data.prompt_id, (prompt) => stale(prompt, event.data));
    default:
      return undefined;
  }
}

function changed(agent: Agent, id: string, change: (prompt: Prompt) => Prompt): Agent {
  const prompts = agent.prompts.map((prompt) => (prompt.id === id ? change(prompt) : prompt));
  const mayReturn = ({ state, turn }: Prompt) =>
    state.kind === "stale" && state.isOver !== true && turn !== undefined && turn === agent.turn?.number;
  const isClosed = (prompt: Prompt) =>
    prompt.state.kind === "delivered" || (prompt.state.kind === "stale" && !mayReturn(prompt));
  return { ...agent, prompts: newest(newest(prompts, isClosed, MAX_CLOSED_PROMPTS), mayReturn, MAX_PROMPTS) };
}

/** Of these the oldest are forgotten. */
function newest(prompts: readonly Prompt[], are: (prompt: Prompt) => boolean, most: number): readonly Prompt[] {
  let spare = prompts.filter(are).length - most;
  if (spare <= 0) return prompts;
  return prompts.filter((prompt) => {
    if (spare <= 0 || !are(prompt)) return true;
    spare -= 1;
    return false;
  });
}

function answered(agent: Agent, { prompt_id, message, ...given }: PromptAnswered): Agent {
  const prompt = agent.prompts.find(({ id }) => id === prompt_id);
  if (prompt === undefined) return agent;
  const { decision, at } = given;
  const state: PromptState = { kind: "answered", ...given };
  const after = changed(heard(agent, at), prompt_id, (one) => ({ ...one, state }));
  const { request, tool, input, options } = prompt;
  const answer = { request, tool, input, decision, message, options };
  return { ...after, outbox: withEntry(agent.outbox, { kind: "answer", prompt: prompt_id, input: answer }) };
}

function stale(prompt: Prompt, { reason, taken_back }: PromptStale): Prompt {
  const isOver = prompt.state.kind === "answered" || taken_back === true;
  return { ...prompt, state: { kind: "stale", reason, ...(isOver && { isOver }) } };
}

function delivered(prompt: Prompt): Prompt {
  const { state } = prompt;
  return state.kind === "answered" ? { ...prompt, state: { ...state, kind: "delivered" } } : prompt;
}
