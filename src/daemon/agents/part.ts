// The daemon's part for agents: their turn, on the one log, and their engine.
import type { Agent } from "../../core/agent/agent.ts";
import type { EventLog } from "../../log/event-log.ts";
import type { DaemonPorts } from "../daemon.ts";
import type { Hands } from "../hands.ts";
import { AgentCheckpoints } from "./checkpoints.ts";
import { AgentEngine } from "./engine.ts";
import { SessionRecords } from "./records.ts";
import { houseOf } from "./settings.ts";
import { AgentTurn } from "./turn.ts";

export type AgentPart = {
  readonly turn: AgentTurn;
  readonly engine: AgentEngine;
  readonly records: SessionRecords;
  readonly checkpoints: AgentCheckpoints;
  /** Turns begin from here on: until everything is known, none does. */
  begin(): void;
  /** Whoever is ready begins, as far as there are slots. */
  schedule(): Promise<void>;
};

export function openAgents(log: EventLog, hands: Hands, ports: DaemonPorts): AgentPart {
  const { world, config, bus, safeMode, say, broken } = ports;
  const house = houseOf(config);
  let begun = false;
  const checkpoints = new AgentCheckpoints(world, { isOff: () => safeMode.isActive(), say, broken });
  const records = new SessionRecords(world, broken);
  const turn: AgentTurn = new AgentTurn(log, world.clock, () => ({ ...house, paused: !begun || safeMode.isActive() }), {
    publish: ({ event, id, data }) => {
      const agent = turn.settledAgent(id);
      if (agent !== undefined) records.note(agent);
      bus.publish(event, { event, id, data });
    },
    settled: (events, _, ticket, after) =>
      checkpoints.heard(
        events.map(({ id }) => id),
        ticket,
        after,
      ),
    perform: (effect) => engine.perform(effect),
    broken,
  });
  const engine: AgentEngine = new AgentEngine(world, {
    agent: (id) => turn.settledAgent(id),
    agents: () => turn.agents(),
    submit: (command) => turn.submit(command),
    holderWords: () => hands.holderWords(),
    environment: () => allowed(world.self.environment(), config.agents.env),
    crashed: (id, reason) => bus.publish("agent.status", { id, status: "CRASHED", reason }),
    broken,
  });
  const begin = () => {
    begun = true;
  };
  const schedule = async () => {
    const [first] = liveAgents(turn);
    if (first !== undefined) await turn.submit({ kind: "schedule", id: first.id });
  };
  return { turn, engine, records, checkpoints, begin, schedule };
}

/** What agents get of our own environment: the names that the configuration allows, and no more. */
function allowed(ours: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(ours).filter(([name]) => names.includes(name)));
}

/** Of those that live, how many; and how many of their prompts are open. */
export function countAgents({ turn }: AgentPart): { readonly agents: number; readonly prompts: number } {
  return { agents: turn.tree.agents, prompts: turn.tree.openPrompts.length };
}

export function liveAgents(turn: AgentTurn): Agent[] {
  return [...turn.agents()].filter(({ terminated, created }) => created && terminated === undefined);
}
