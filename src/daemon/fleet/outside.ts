// Says where the things of this home's agents are that are outside of it: for the standby program, which brings them
// into what is shipped (home/outside-files.ts).
// OS1. Looked up again only if something of the agent has changed, and written only if the outcome has. A search for
//      what is not there yet takes at most a hundredth of the time.
// OS2. Claude Code in a sandbox keeps its conversations inside the home: they are shipped anyway.
import type { Agent } from "../../core/agent/agent.ts";
import { agentSession, isLive } from "../../core/agent/agent.ts";
import { type AgentName, agentIn } from "../../core/terminal/agent-names.ts";
import type { Outside, OutsideConversation, OutsideWork } from "../../home/outside-files.ts";
import { writeOutside } from "../../home/outside-files.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk } from "../../world/disk.ts";
import { conversationPlace, type SessionQuery } from "../terminal/coding-agent-sessions.ts";

export type InTerminal = { readonly terminal: string; readonly id: string; readonly query: SessionQuery };

export type OutsidePorts = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly home: string;
  agents(): Iterable<Agent>;
  /** What an agent's program has in its environment, as far as it is not told in its plan. */
  environment(agent: Agent): Readonly<Record<string, string>>;
  terminals(): Iterable<InTerminal>;
};

type Found = {
  readonly stamp: string;
  readonly conversation: OutsideConversation | undefined;
  readonly againAt: number;
};

/** OS1 */
const DUTY = 100;

export class OutsideFiles {
  readonly #ports: OutsidePorts;
  readonly #found = new Map<string, Found>();
  #written = "";

  constructor(ports: OutsidePorts) {
    this.#ports = ports;
  }

  tick(): void {
    const agents = [...this.#ports.agents()].filter(isLive);
    const conversations = [
      ...agents.flatMap((agent) => this.#ofAgent(agent)),
      ...[...this.#ports.terminals()].flatMap((one) => this.#ofTerminal(one)),
    ];
    const outside: Outside = { conversations, works: agents.flatMap(workOf) };
    const text = JSON.stringify(outside);
    if (text === this.#written) return; // OS1
    this.#written = text;
    writeOutside(this.#ports, outside);
  }

  #ofAgent(agent: Agent): OutsideConversation[] {
    const query = queryOf(agent, this.#ports.environment(agent));
    if (query === undefined) return [];
    const stamp = `${agent.providerSession} ${agent.turns} ${agent.turn?.number} ${agent.generation}`;
    return this.#place(agentSession(agent.id), stamp, query, agent.providerSession);
  }

  #ofTerminal({ terminal, id, query }: InTerminal): OutsideConversation[] {
    return this.#place(`terminals/${terminal}`, `${query.agent} ${id}`, query, id);
  }

  /** OS1. One that was not found yet is looked for again: it is made when something was said. */
  #place(session: string, stamp: string, query: SessionQuery, id: string): OutsideConversation[] {
    const { disk, clock } = this.#ports;
    const begun = clock.elapsed();
    const known = this.#found.get(session);
    const isKnown = known?.stamp === stamp && (known.conversation !== undefined || begun < known.againAt);
    if (isKnown) return known.conversation === undefined ? [] : [known.conversation];
    const place = conversationPlace(disk, query, id);
    const conversation = place && { session, cli: query.agent, ...place };
    const againAt = clock.elapsed() + DUTY * (clock.elapsed() - begun);
    this.#found.set(session, { stamp, conversation, againAt });
    return conversation === undefined ? [] : [conversation];
  }
}

/** Whose conversation it is, and in which store; undefined if that is not known, or inside of the home (OS2). */
export function queryOf({ plan }: Agent, env: Readonly<Record<string, string>>): SessionQuery | undefined {
  const { recipe, cwd, environment, workspace } = plan;
  if (recipe.provider === "claude" && workspace?.sandbox?.settings !== undefined) return undefined;
  const agent: AgentName | undefined = recipe.provider === "claude" ? "claude" : agentIn(recipe.command)?.agent;
  return agent && { agent, cwd, since: undefined, env: { ...environment, ...env } }; // The holder's order.
}

/** It may have changed with each turn, and while one goes on. */
function workOf(agent: Agent): OutsideWork[] {
  const { worktree = null, clone } = agent.plan.workspace ?? {};
  const own = worktree ?? clone;
  if (own === undefined || agent.generation === 0) return []; // Its process makes it.
  const stamp = `${agent.turns} ${agent.turn === undefined ? "" : agent.consumed}`;
  const { path, repository } = own;
  return [{ session: agentSession(agent.id), path, repository, isClone: worktree === null, stamp }];
}
