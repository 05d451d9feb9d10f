// The store of agents (session-store.ts has the rules that all stores follow). Every change updates the tree, so that
// it never has to be searched for.

import { type Agent, type AgentRecord, agentSession, isLive } from "../../core/agent/agent.ts";
import { applyAgent } from "../../core/agent/apply.ts";
import type { AgentCommand, AgentEffect } from "../../core/agent/commands.ts";
import { putAway } from "../../core/agent/conversation.ts";
import { decideAgent } from "../../core/agent/decide.ts";
import type { AgentContext } from "../../core/agent/draft.ts";
import { agentEffectsOf } from "../../core/agent/effects.ts";
import type { AgentEvent } from "../../core/agent/events.ts";
import { Tree } from "../../core/agent/tree.ts";
import type { Left } from "../../core/due-times.ts";
import type { EventLog } from "../../log/event-log.ts";
import { agentEventOf } from "../../wire/stored/agent.ts";
import { type Folding, idOf } from "../fold.ts";
import { type Hooks, SessionStore, type StoreClock } from "../session-store.ts";
import type { AgentCheckpoints } from "./checkpoints.ts";

export type Agents = { state: AgentRecord; command: AgentCommand; event: AgentEvent; effect: AgentEffect };

/** What decisions need beside the agents. */
type Around = Pick<AgentContext, "settings" | "keyed" | "isArchived">;

export class AgentStore extends SessionStore<Agents> {
  readonly tree: Tree;

  constructor(log: EventLog, clock: StoreClock, around: () => Around, hooks: Hooks<Agents>) {
    const tree = new Tree();
    const rules = {
      session: (_: AgentRecord | undefined, { id }: AgentEvent) => agentSession(id),
      decide: (agentRecords: ReadonlyMap<string, AgentRecord>, command: AgentCommand, at: string, left?: Left) =>
        decideAgent({ agentRecords, tree, left, ...around() }, command, at),
      apply: applyAgent,
      effectsOf: agentEffectsOf,
      isOver: (record: AgentRecord) => record.kind === "agent" && record.terminated !== undefined,
      since: (record: AgentRecord) => (record.kind === "agent" ? record.createdAt : ""),
      changed: (before: AgentRecord | undefined, after: AgentRecord | undefined) => tree.note(before, after),
    };
    super(rules, log, clock, hooks);
    this.tree = tree;
  }

  agent(id: string): Agent | undefined {
    const found = this.states.get(id);
    return found?.kind === "agent" ? found : undefined;
  }

  /** Its durable state, for callers that act on it (U6 of session-store.ts). */
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

/** How agents are read from their logs, each from its checkpoint on. A bare LLM's conversation is read when needed. */
export function agentFolding(checkpoints: AgentCheckpoints): Folding<Agents> {
  return {
    place: "agents/",
    what: "agent",
    load: (session) => checkpoints.load(idOf(session)),
    eventOf: agentEventOf,
    ends: ({ event }) => event === "agent.terminated",
    kept: (record) => (record.kind === "agent" ? { ...record, conversation: putAway(record.conversation) } : record),
    nameOf: (record) => (record.kind === "agent" ? record.name : undefined),
    aside: (record, aside) => (isLive(record) ? { ...record, aside } : undefined),
  };
}
