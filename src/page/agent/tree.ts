// Agents as the tree that they form. Pure.
// TR1. Each agent is in it once, its children below it, in the order of their creation. The newest root comes first.
// TR2. One whose parent is not among them is a root: its parent has ended, or is older than what was fetched.
import type { ListedAgent } from "../../wire/rpc/agent.ts";
import { count, spanText } from "../words.ts";

export type Branch = { readonly agent: ListedAgent; readonly depth: number };

export function treeOf(agents: readonly ListedAgent[]): Branch[] {
  const known = new Set(agents.map(({ id }) => id));
  const byAge = agents.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  const below = Map.groupBy(byAge, ({ parent }) => (parent !== null && known.has(parent) ? parent : null)); // TR2
  const branches: Branch[] = [];
  const grow = (agent: ListedAgent, depth: number) => {
    branches.push({ agent, depth });
    for (const child of below.get(agent.id) ?? []) grow(child, depth + 1);
  };
  for (const root of below.get(null)?.toReversed() ?? []) grow(root, 0); // TR1
  return branches;
}

/** "turn 3 for 2 min", or how many turns there were. */
export function turnText({ turns, turnStartedAt }: ListedAgent, now: number): string {
  if (turnStartedAt !== null) return `turn ${turns} for ${spanText(now - Date.parse(turnStartedAt))}`;
  return turns === 0 ? "no turn yet" : count(turns, "turn");
}

/** What a person may want to do with it now. */
export function possible({ state, turnStartedAt, note, failure, pid }: ListedAgent) {
  const isLive = state !== "terminated";
  const isAlone = pid === null || state !== "working"; // Otherwise it is its program that tries again.
  const hasFailed = failure !== undefined && turnStartedAt === null;
  return {
    interrupt: isLive && turnStartedAt !== null,
    /** A note says why it does not go on by itself. */
    retry: isLive && ((note !== null && isAlone) || hasFailed),
    terminate: isLive,
    send: isLive,
  };
}
