// Folds permission prompts.
import type { Agent, Prompt, PromptState } from "./agent.ts";
import { withEntry } from "./apply-messages.ts";
import { heard } from "./apply-process.ts";
import type { AgentEvent, PromptAnswered } from "./events.ts";
import { MAX_CLOSED_PROMPTS } from "./limits.ts";

export function applyPrompts(agent: Agent, event: AgentEvent): Agent | undefined {
  switch (event.event) {
    case "prompt.opened": {
      const { prompt_id: id, ...facts } = event.data;
      const others = agent.prompts.filter((prompt) => prompt.id !== id); // H3 of prompts.ts
      return { ...agent, prompts: [...others, { ...facts, id, state: { kind: "open" } }] };
    }
    case "prompt.refreshed":
      return changed(agent, event.data.prompt_id, (prompt) => ({ ...prompt, deadline: event.data.deadline }));
    case "prompt.answered":
      return answered(agent, event.data);
    case "prompt.delivered":
      return changed(agent, event.data.prompt_id, delivered);
    case "prompt.stale":
      return changed(agent, event.data.prompt_id, (prompt) => stale(prompt, event.data.reason));
    default:
      return undefined;
  }
}

function changed(agent: Agent, id: string, change: (prompt: Prompt) => Prompt): Agent {
  const prompts = agent.prompts.map((prompt) => (prompt.id === id ? change(prompt) : prompt));
  return { ...agent, prompts: bounded(prompts) };
}

/** The oldest closed prompts are forgotten. */
function bounded(prompts: readonly Prompt[]): readonly Prompt[] {
  let spare = prompts.filter(isClosed).length - MAX_CLOSED_PROMPTS;
  if (spare <= 0) return prompts;
  return prompts.filter((prompt) => {
    if (spare <= 0 || !isClosed(prompt)) return true;
    spare -= 1;
    return false;
  });
}

function isClosed({ state }: Prompt): boolean {
  return state.kind === "delivered" || state.kind === "stale";
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

function stale(prompt: Prompt, reason: string): Prompt {
  const wasAnswered = prompt.state.kind === "answered" && { answered: true as const };
  return { ...prompt, state: { kind: "stale", reason, ...wasAnswered } };
}

function delivered(prompt: Prompt): Prompt {
  const { state } = prompt;
  return state.kind === "answered" ? { ...prompt, state: { ...state, kind: "delivered" } } : prompt;
}
