// Agents that call nobody, by the operator's choice on the page or in a shell: each with all that it starts.
// MU1. An agent is muted if it or one of its ancestors is. Agents that a muted one starts later are, too.
// MU2. A choice stays until it is taken back, or its agent is gone.

/** Ids of agents. */
export type Mutes = readonly string[];

/** More than a person mutes one by one; the oldest choice goes first. */
const MAX_MUTES = 256;
/** Deeper than agents start each other. */
const MAX_DEPTH = 32;

/** An agent and its ancestors, the nearest first. */
export function agentsOf(agent: string | null, parentOf: (agent: string) => string | null): string[] {
  const found: string[] = [];
  for (let at = agent; at !== null && found.length < MAX_DEPTH && !found.includes(at); at = parentOf(at))
    found.push(at);
  return found;
}

/** MU1 */
export function isMuted(mutes: Mutes, agent: string, parentOf: (agent: string) => string | null): boolean {
  return mutes.length > 0 && agentsOf(agent, parentOf).some((one) => mutes.includes(one));
}

/** The same if nothing is different. */
export function mutedAfter(before: Mutes, agent: string, muted: boolean): Mutes {
  if (before.includes(agent) === muted) return before;
  return muted ? [...before, agent].slice(-MAX_MUTES) : before.filter((one) => one !== agent);
}

/** MU2. The same if all are there. */
export function mutesOf(before: Mutes, isThere: (agent: string) => boolean): Mutes {
  return before.every(isThere) ? before : before.filter(isThere);
}
