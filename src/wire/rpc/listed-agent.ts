// Agents and their prompts as clients see them.
import type { Json } from "../../base/json.ts";
import {
  type Agent,
  type AgentRecord,
  type GivenAnswer,
  openPrompts,
  type Prompt,
  stateOf,
} from "../../core/agent/agent.ts";
import { stageOf } from "../../core/agent/prompt-machine.ts";
import { ruleIdFor } from "../../core/agent/prompts.ts";
import type { Rule } from "../../core/agent/rules.ts";
import { DEFAULT_LANE } from "../../core/notify/mutes.ts";
import type { Config } from "../files/config-schema.ts";
import { isObject } from "../lines.ts";
import type { ListedAgent, ListedPrompt, OwnedRule, ShownAgent } from "./agent.ts";

/** `trouble`: why its process is not started yet, although it was tried. */
export function listedAgent(agent: Agent, trouble?: string): ListedAgent {
  const { id, name, parent, lane, plan, createdAt, inbox, turns, turn, failure, usage, process: program } = agent;
  return {
    ...{ id, name, parent: parent ?? null, lane: lane ?? DEFAULT_LANE, state: stateOf(agent) },
    ...{ provider: plan.recipe.provider, model: plan.recipe.model, cwd: plan.cwd, createdAt },
    inbox: inbox.length,
    prompts: openPrompts(agent).map(({ id: prompt, tool, since }) => ({ id: prompt, tool, since })),
    turns,
    turnStartedAt: turn?.startedAt ?? null,
    pid: program.kind === "Running" ? program.child.pid : null,
    note: noteOf(agent) ?? (trouble === undefined ? null : `It could not be started yet: ${trouble}`),
    ...(failure !== undefined && { failure: { turn: failure.turn, reason: failure.reason, at: failure.at } }),
    ...(usage !== undefined && { usage }),
  };
}

/** Why it does not continue by itself. */
export function noteOf({ process: program, held, sleep, terminated, turn, aside }: Agent): string | null {
  if (terminated !== undefined) return terminated.reason;
  if (aside !== undefined) return `It is set aside: ${aside}`;
  if (program.kind === "PermanentlyFailed") return program.reason;
  if (held !== undefined) return held.reason;
  if (sleep !== undefined)
    return `It sleeps until ${sleep.until}.${sleep.reason === undefined ? "" : ` ${sleep.reason}`}`;
  if (program.kind === "BackoffWait")
    return [program.reason, `It is started again at ${program.until}.`].filter((part) => part !== undefined).join(" ");
  if (turn?.trouble !== undefined) return `It tries again at ${turn.trouble.until}. ${turn.trouble.reason}`;
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
    ...{ id, agent, name, tool, input, since, deadline, state: state.kind, stage: stageOf(state) },
    ...(rule !== undefined && { rule }),
    ...(unsandboxed !== undefined && { unsandboxed }),
    ...("by" in state && { given: givenOf(state) }),
  };
}

function givenOf({ decision, by, at, rule }: GivenAnswer) {
  return { decision, by, at, ...(rule !== undefined && { rule }) };
}

/** Either the open prompts, the oldest first, or those that are no longer open. */
export function listedPrompts(agents: Iterable<Agent>, closed: boolean): ListedPrompt[] {
  const found = [...agents].flatMap((agent) => {
    const prompts = agent.prompts.filter(({ state }) => (state.kind === "open") !== closed);
    return prompts.map((prompt) => listedPrompt(agent, prompt));
  });
  return closed ? found : found.sort((a, b) => (a.since < b.since ? -1 : 1));
}

/** What the archive keeps of an agent, so that its prompts are found; null if it has none. `askerIn` reads it. */
export function askerRow({ id, prompts }: Agent): Json {
  return prompts.length === 0 ? null : { id, prompts: prompts.map((prompt) => prompt.id) };
}

/** The agent that asked this; undefined if it is another. */
export function askerIn(row: Json, prompt: string): string | undefined {
  if (!isObject(row) || !Array.isArray(row["prompts"]) || !row["prompts"].includes(prompt)) return undefined;
  return typeof row["id"] === "string" ? row["id"] : undefined;
}

/** The rules of all agents, and of each one; those of the configuration come last (P1 of rules.ts). */
/** Those of agents that have ended are gone with them. */
export function listedRules(records: Iterable<AgentRecord>, configured: readonly Rule[] = []): OwnedRule[] {
  const stored = [...records].flatMap((record) => {
    if (record.kind === "agent" && record.terminated !== undefined) return [];
    const agent = record.kind === "rules" ? null : record.id;
    return record.rules.map((rule) => ({ agent, rule }));
  });
  return [...stored, ...configured.map((rule) => ({ agent: null, rule, from: "configuration" }) as const)];
}

/** In the order of the file; the id is the name of the table. */
export function configRules({ rule }: Pick<Config, "rule">): Rule[] {
  return Object.entries(rule).map(([name, ruling]) => ({ rule_id: `rule.${name}`, ...ruling }));
}
