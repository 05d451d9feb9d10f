// Agents and their prompts as clients see them.
import { type Agent, openPrompts, type Prompt, stateOf } from "../../core/agent/agent.ts";
import { ruleIdFor } from "../../core/agent/prompts.ts";
import type { ListedAgent, ListedPrompt, ShownAgent } from "../../wire/rpc/agent.ts";

/** `trouble`: why its process is not started yet, although it was tried. */
export function listedAgent(agent: Agent, trouble?: string): ListedAgent {
  const { id, name, parent, plan, createdAt, inbox, turns, turn, process: program } = agent;
  return {
    ...{ id, name, parent: parent ?? null, state: stateOf(agent) },
    ...{ provider: plan.recipe.provider, model: plan.recipe.model, cwd: plan.cwd, createdAt },
    inbox: inbox.length,
    prompts: openPrompts(agent).map(({ id: prompt, tool, since }) => ({ id: prompt, tool, since })),
    turns,
    turnStartedAt: turn?.startedAt ?? null,
    pid: program.kind === "Running" ? program.child.pid : null,
    note: noteOf(agent) ?? (trouble === undefined ? null : `It could not be started yet: ${trouble}`),
  };
}

/** Why it does not continue by itself. */
export function noteOf({ process: program, held, sleep, terminated, turn, aside }: Agent): string | null {
  if (terminated !== undefined) return terminated.reason;
  if (aside !== undefined) return `It is set aside: ${aside}`;
  if (program.kind === "PermanentlyFailed") return program.reason;
  if (held !== undefined) return held.reason;
  if (sleep !== undefined) return `It sleeps until ${sleep.until}.`;
  if (program.kind === "BackoffWait")
    return [program.reason, `It is started again at ${program.until}.`].filter((part) => part !== undefined).join(" ");
  return turn?.retryAt === undefined ? null : `It tries again at ${turn.retryAt}.`;
}

export function shownAgent(agent: Agent, trouble?: string): ShownAgent {
  const { instructions, providerSession, settings, plan, lastText, result, reminders, rules } = agent;
  const { command, flags, permissionMode } = plan.recipe;
  return {
    ...listedAgent(agent, trouble),
    ...{ instructions, session: providerSession, settings, command, flags, permissionMode, lastText },
    workspace: plan.workspace,
    result: result ?? null,
    reminders: reminders.map(({ due, text }) => ({ due, text })),
    rules,
  };
}

export function listedPrompt({ id: agent, name, rules, plan }: Agent, prompt: Prompt): ListedPrompt {
  const { id, tool, input, since, deadline, state } = prompt;
  const rule = rules.find(({ rule_id }) => rule_id === ruleIdFor(id));
  const unsandboxed = plan.workspace?.unsandboxed;
  return {
    ...{ id, agent, name, tool, input, since, deadline, state: state.kind },
    ...(rule !== undefined && { rule }),
    ...(unsandboxed !== undefined && { unsandboxed }),
  };
}
