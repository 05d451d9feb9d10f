// Whose prompts call nobody, by the operator's choice on the page or in a shell: an agent with all that it starts, a
// lane, or everything; until the choice is taken back, or for a time.
// MU1. An agent is muted if it or one of its ancestors is. Agents that a muted one starts later are, too.
// MU2. A choice stays until it is taken back, its time is over, or its agent is gone. There is one for each agent and
//      lane: a new one replaces it.
// MU3. Agents that nobody put into a lane are in that of new terminals.

export type MuteOf = "agent" | "lane" | "all";

/** `key`: the id of the agent, the name of the lane, or empty. `until`: null if it has no end. */
export type Mute = { readonly of: MuteOf; readonly key: string; readonly until: string | null };
export type Mutes = readonly Mute[];

export type Muteable = { readonly id: string; readonly lane?: string | undefined };

/** MU3 */
export const DEFAULT_LANE = "main";
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

/** The choice that mutes it, if one does: MU1, MU3. */
export function muteOf(
  mutes: Mutes,
  { id, lane = DEFAULT_LANE }: Muteable,
  parentOf: (agent: string) => string | null,
): Mute | undefined {
  if (mutes.length === 0) return undefined;
  const agents = agentsOf(id, parentOf);
  return mutes.find(({ of, key }) => of === "all" || (of === "lane" ? key === lane : agents.includes(key)));
}

/** MU2. The same if nothing is different. */
export function mutedAfter(before: Mutes, mute: Mute, muted: boolean): Mutes {
  const same = before.find(({ of, key }) => of === mute.of && key === mute.key);
  if (muted ? same?.until === mute.until : same === undefined) return before;
  const others = before.filter((one) => one !== same);
  return muted ? [...others, mute].slice(-MAX_MUTES) : others;
}

/** MU2. Those that still count; the same if all do. */
export function mutesOf(before: Mutes, now: number, isThere: (agent: string) => boolean): Mutes {
  const counts = ({ of, key, until }: Mute) =>
    (until === null || Date.parse(until) > now) && (of !== "agent" || isThere(key));
  return before.every(counts) ? before : before.filter(counts);
}
