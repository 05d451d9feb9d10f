// The turn of agents (session-store.ts has the rules that hold for all). The tree is told of every change, so that it costs no search.

import { type Agent, type AgentRecord, agentSession } from "../../core/agent/agent.ts";
import { applyAgent } from "../../core/agent/apply.ts";
import type { AgentCommand, AgentEffect } from "../../core/agent/commands.ts";
import { decideAgent } from "../../core/agent/decide.ts";
import type { AgentConfig } from "../../core/agent/draft.ts";
import { agentEffectsOf } from "../../core/agent/effects.ts";
import type { AgentEvent } from "../../core/agent/events.ts";
import { Tree } from "../../core/agent/tree.ts";
import type { EventLog } from "../../log/event-log.ts";
import type { Clock } from "../../world/clock.ts";
import { type Hooks, SessionStore } from "../session-store.ts";

export type Agents = { state: AgentRecord; command: AgentCommand; event: AgentEvent; effect: AgentEffect };

export class AgentStore extends SessionStore<Agents> {
  readonly tree: Tree;

  constructor(log: EventLog, clock: Clock, settings: () => AgentConfig, hooks: Hooks<Agents>) {
    const tree = new Tree();
    const rules = {
      session: (_: AgentRecord | undefined, { id }: AgentEvent) => agentSession(id),
      decide: (agentRecords: ReadonlyMap<string, AgentRecord>, command: AgentCommand, at: string) =>
        decideAgent({ agentRecords, tree, settings: settings() }, command, at),
      apply: applyAgent,
      effectsOf: agentEffectsOf,
      changed: (before: AgentRecord | undefined, after: AgentRecord | undefined) => tree.note(before, after),
    };
    super(rules, log, clock, hooks);
    this.tree = tree;
  }

  agent(id: string): Agent | undefined {
    const found = this.states.get(id);
    return found?.kind === "agent" ? found : undefined;
  }

  /** As it is durable: for whoever acts on it (U6 of session-store.ts). */
  settledAgent(id: string): Agent | undefined {
    const found = this.settled(id);
    return found?.kind === "agent" ? found : undefined;
  }

  *settledAgents(): Generator<Agent> {
    for (const agentRecord of this.allSettled()) if (agentRecord.kind === "agent") yield agentRecord;
  }

  *agents(): Generator<Agent> {
    for (const agentRecord of this.states.values()) if (agentRecord.kind === "agent") yield agentRecord;
  }
}
