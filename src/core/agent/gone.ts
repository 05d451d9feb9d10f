// Agents that are over for good: neither they nor any agent below them can become active again.
import type { Agent, AgentRecord } from "./agent.ts";
import { isAlive } from "./process.ts";

/** Agents that ended, whose processes ended, that owe nobody a message, and below which all agents have. */
export function overForGood(agentRecords: Iterable<AgentRecord>): Agent[] {
  const agents = [...agentRecords].flatMap((agentRecord) => (agentRecord.kind === "agent" ? agentRecord : []));
  const byId = new Map(agents.map((agent) => [agent.id, agent]));
  const needed = new Set<string>();
  for (const agent of agents) {
    if (isOver(agent)) continue;
    for (let at: Agent | undefined = agent; at !== undefined && !needed.has(at.id); at = above(byId, at))
      needed.add(at.id);
  }
  return agents.filter(({ id }) => !needed.has(id));
}

function isOver({ terminated, process: program, broadcasts }: Agent): boolean {
  return terminated !== undefined && !isAlive(program) && broadcasts.length === 0;
}

function above(agents: ReadonlyMap<string, Agent>, { parent }: Agent): Agent | undefined {
  return parent === undefined ? undefined : agents.get(parent);
}
