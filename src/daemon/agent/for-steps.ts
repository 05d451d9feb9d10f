// What steps of workflows may do with agents: create one, read its state, and terminate it.
// FS1. It is created like one that a person asked for, with the provider and settings of the run's file and the
//      configuration; it continues by itself after a crash, because its run does.
// FS2. A step whose agent has ended and is archived still finds it: a run that could not take the outcome, because its
//      log was damaged, takes it when it can.
import { ok, type Result } from "../../base/result.ts";
import { type Agent, type AgentRecord, agentSession, isLive } from "../../core/agent/agent.ts";
import type { AgentConfig } from "../../core/agent/draft.ts";
import type { EventLog } from "../../log/event-log.ts";
import { recipeFor } from "./recipes.ts";
import type { AgentStore } from "./store.ts";

export type StepAgentWish = {
  readonly id: string;
  readonly name: string;
  /** The attempt that it is created for. */
  readonly owner: string;
  readonly lane: string | undefined;
  readonly provider: string;
  readonly prompt: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

export type StepAgents = {
  agent(id: string): Agent | undefined;
  /** The live agents that were created for a step. */
  owned(): Agent[];
  /** Whether its log cannot be trusted, so that what it did is unknown. */
  isSetAside(id: string): boolean;
  create(wish: StepAgentWish): Promise<Result<AgentRecord>>;
  terminate(id: string, reason: string): Promise<Result<AgentRecord>>;
};

/** `look`: its durable state, also if it is archived. */
export type StepAgentPorts = {
  readonly log: EventLog;
  agentConfig(): AgentConfig;
  readonly store: AgentStore;
  look(id: string): Agent | undefined;
};

export function agentsForSteps({ log, agentConfig, store, look }: StepAgentPorts): StepAgents {
  return {
    agent: look, // FS2
    owned: () => [...store.agents()].filter((agent) => agent.owner !== undefined && isLive(agent)),
    isSetAside: (id) => log.frozen(agentSession(id)) !== undefined,
    create: async (wish) => {
      const command = createOf(agentConfig(), wish);
      return command.ok ? store.submit(command.value) : command;
    },
    terminate: (id, reason) => store.submit({ kind: "terminate", id, reason, by: "workflow" }),
  };
}

function createOf(agentConfig: AgentConfig, { provider, prompt, cwd, env, ...wish }: StepAgentWish) {
  const nothing = { model: null, command: [], flags: [], permissionMode: null };
  const recipe = recipeFor(agentConfig, { provider, ...nothing });
  if (!recipe.ok) return recipe;
  const plan = { recipe: recipe.value, system_prompt: "", cwd, environment: env, workspace: null };
  const settings = { recovery: "auto" } as const; // FS1
  return ok({ kind: "create", ...wish, parent: undefined, instructions: prompt, plan, settings } as const);
}
