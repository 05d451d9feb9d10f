// The tree of agents and everything else derived from all states: parents and children, slots, and who waits for one.
// X1. It is a function of the states alone: `note` gets every change, and an index rebuilt from the same states is
//     equal. Parents are found by `parent_session_id`; nothing else is stored about the tree (AG-2).
// X2. A change costs the same with one agent or a thousand, except for a binary search and the shift of a list.
// X3. Terminated agents, and sessions without `agent.created`, are in no list, except for the slot of a running
//     process.
import {
  type Agent,
  type AgentRecord,
  type AgentRecords,
  holdsSlot,
  isEvictable,
  isLive,
  needOf,
  openPrompts,
  readySince,
} from "./agent.ts";
import type { ProviderName } from "./provider.ts";

/** The parent of roots. */
const NOBODY = "";

/** The position of one agent in the lists. */
type TreePosition = {
  /** A terminated agent holds its slot until its process has ended: it is in no other list. */
  readonly live: boolean;
  readonly parent: string;
  readonly name: string;
  readonly provider: ProviderName;
  readonly holds: boolean;
  /** It holds a slot that will be free soon. */
  readonly stops: boolean;
  /** Sorts the agents that can be suspended for another: the least recently used first. */
  readonly rests: string | undefined;
  /** Sorts the waiting agents: the longest waiting first. */
  readonly waits: string | undefined;
  readonly prompts: readonly string[];
  /** Its session waits for the end of the parent's turn. */
  readonly deferred: boolean;
};

export class Tree {
  readonly #children = new Map<string, Map<string, string>>();
  readonly #holders = new Map<ProviderName, Set<string>>();
  readonly #stopping = new Map<ProviderName, Set<string>>();
  readonly #resting = new Map<ProviderName, string[]>();
  readonly #waiting = new Map<ProviderName, string[]>();
  readonly #prompts = new Map<string, string>();
  readonly #deferred = new Map<string, Set<string>>();
  #agents = 0;

  static of(agentRecords: AgentRecords): Tree {
    const tree = new Tree();
    for (const agentRecord of agentRecords.values()) tree.note(undefined, agentRecord);
    return tree;
  }

  /** The number of live agents. */
  get agents(): number {
    return this.#agents;
  }

  note(before: AgentRecord | undefined, after: AgentRecord | undefined): void {
    const from = placeOf(before);
    const to = placeOf(after);
    const id = after?.id ?? before?.id ?? "";
    if (from !== undefined) this.#leave(id, from, to);
    if (to !== undefined) this.#enter(id, to, from);
  }

  #leave(id: string, from: TreePosition, to: TreePosition | undefined): void {
    if (from.live && to?.live !== true) {
      this.#agents -= 1;
      const siblings = this.#children.get(from.parent);
      siblings?.delete(from.name);
      if (siblings?.size === 0) this.#children.delete(from.parent);
    }
    if (from.holds && to?.holds !== true) take(this.#holders, from.provider, id);
    if (from.stops && to?.stops !== true) take(this.#stopping, from.provider, id);
    if (from.rests !== undefined && from.rests !== to?.rests) remove(this.#resting, from.provider, from.rests);
    if (from.waits !== undefined && from.waits !== to?.waits) remove(this.#waiting, from.provider, from.waits);
    for (const prompt of from.prompts) this.#prompts.delete(prompt);
    if (from.deferred && to?.deferred !== true) take(this.#deferred, from.parent, id);
  }

  #enter(id: string, to: TreePosition, from: TreePosition | undefined): void {
    if (to.live && from?.live !== true) {
      this.#agents += 1;
      const siblings = this.#children.get(to.parent) ?? new Map<string, string>();
      this.#children.set(to.parent, siblings.set(to.name, id));
    }
    if (to.holds && from?.holds !== true) give(this.#holders, to.provider, id);
    if (to.stops && from?.stops !== true) give(this.#stopping, to.provider, id);
    if (to.rests !== undefined && from?.rests !== to.rests) insert(this.#resting, to.provider, to.rests);
    if (to.waits !== undefined && from?.waits !== to.waits) insert(this.#waiting, to.provider, to.waits);
    for (const prompt of to.prompts) this.#prompts.set(prompt, id);
    if (to.deferred && from?.deferred !== true) give(this.#deferred, to.parent, id);
  }

  /** The ids of the children of an agent, by name; of the roots if `parent` is undefined. */
  childrenOf(parent: string | undefined): string[] {
    const children = [...(this.#children.get(parent ?? NOBODY) ?? [])];
    return children.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, id]) => id);
  }

  /** The child with that name. */
  childOf(parent: string | undefined, name: string): string | undefined {
    return this.#children.get(parent ?? NOBODY)?.get(name);
  }

  /** Those of its children whose sessions wait for the end of its turn. */
  deferredOf(parent: string): string[] {
    return [...(this.#deferred.get(parent) ?? [])].sort();
  }

  /** All agents below it, the nearest last: in the order in which they are terminated. */
  below(id: string): string[] {
    const found = this.childrenOf(id);
    // Iterating a list also yields what was added meanwhile.
    for (const child of found) found.push(...this.childrenOf(child));
    return found.reverse();
  }

  /** How many slots are taken. */
  taken(provider: ProviderName): number {
    return this.#holders.get(provider)?.size ?? 0;
  }

  /** How many of these will be free soon. */
  stopping(provider: ProviderName): number {
    return this.#stopping.get(provider)?.size ?? 0;
  }

  /** The least recently used agent that can be suspended for another. */
  oldestResting(provider: ProviderName): string | undefined {
    const key = this.#resting.get(provider)?.[0];
    return key && idOf(key);
  }

  /** The first few agents that need a slot or a turn, the longest waiting first. */
  waitingFor(provider: ProviderName, most: number): string[] {
    const keys = this.#waiting.get(provider)?.slice(0, most) ?? [];
    return keys.map(idOf);
  }

  /** The providers for which an agent waits. */
  get providers(): ProviderName[] {
    return [...this.#waiting.keys()];
  }

  /** The agent that opened this prompt. */
  askerOf(prompt: string): string | undefined {
    return this.#prompts.get(prompt);
  }

  /** All open prompts. */
  get openPrompts(): readonly string[] {
    return [...this.#prompts.keys()];
  }

  /** All of it as one value: two trees of the same states give the same (X1). */
  snapshot(): unknown {
    const sorted = (values: Iterable<string>) => [...values].sort();
    return {
      agents: this.#agents,
      children: sorted(
        [...this.#children].flatMap(([parent, all]) => [...all].map((pair) => [parent, ...pair].join("/"))),
      ),
      holders: sorted([...this.#holders].flatMap(([provider, ids]) => [...ids].map((id) => `${provider}/${id}`))),
      stopping: sorted([...this.#stopping].flatMap(([provider, ids]) => [...ids].map((id) => `${provider}/${id}`))),
      resting: sorted([...this.#resting].map((pair) => pair.join("/"))),
      waiting: sorted([...this.#waiting].map((pair) => pair.join("/"))),
      prompts: sorted([...this.#prompts].map((pair) => pair.join("/"))),
      deferred: sorted([...this.#deferred].flatMap(([parent, ids]) => [...ids].map((id) => `${parent}/${id}`))),
    };
  }
}

function placeOf(agentRecord: AgentRecord | undefined): TreePosition | undefined {
  if (agentRecord?.kind !== "agent") return undefined;
  const { id, parent = NOBODY, name, plan, prompts, session } = agentRecord;
  const { provider } = plan.recipe;
  const holds = holdsSlot(agentRecord);
  const stops = agentRecord.process.kind === "Stopping";
  const rests = isEvictable(agentRecord) ? `${agentRecord.lastUsed} ${id}` : undefined;
  const slot = { provider, holds, stops, rests };
  if (!isLive(agentRecord))
    return { ...slot, live: false, parent, name, waits: undefined, prompts: [], deferred: false }; // X3
  const waits = needOf(agentRecord) === undefined ? undefined : `${readySince(agentRecord)} ${id}`;
  const open = prompts.length === 0 ? [] : openPrompts(agentRecord).map((prompt) => prompt.id);
  return { ...slot, live: true, parent, name, waits, prompts: open, deferred: session.kind === "deferred" };
}

function give<K>(sets: Map<K, Set<string>>, key: K, id: string): void {
  sets.set(key, (sets.get(key) ?? new Set()).add(id));
}

function take<K>(sets: Map<K, Set<string>>, key: K, id: string): void {
  const set = sets.get(key);
  set?.delete(id);
  if (set?.size === 0) sets.delete(key);
}

function placeIn(queue: readonly string[], key: string): number {
  let low = 0;
  let high = queue.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((queue[middle] ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function insert(queues: Map<ProviderName, string[]>, provider: ProviderName, key: string): void {
  const queue = queues.get(provider) ?? [];
  queue.splice(placeIn(queue, key), 0, key);
  queues.set(provider, queue);
}

function remove(queues: Map<ProviderName, string[]>, provider: ProviderName, key: string): void {
  const queue = queues.get(provider) ?? [];
  const at = placeIn(queue, key);
  if (queue[at] === key) queue.splice(at, 1);
  if (queue.length === 0) queues.delete(provider);
}

/** The agent of a key. */
function idOf(key: string): string {
  return key.slice(key.indexOf(" ") + 1);
}

/** The agents it can write to, and their relation to it. */
export type Relation = "parent" | "child" | "sibling";
export type Neighbour = { readonly id: string; readonly relation: Relation };

/**
 * One hop, by name: the parent (also as "parent"), a child, a sibling, in this order. `parent` is the agent's, if it
 * lives.
 */
export function neighbour(tree: Tree, agent: Agent, parent: Agent | undefined, name: string): Neighbour | undefined {
  if (parent !== undefined && (name === "parent" || name === parent.name)) return { id: parent.id, relation: "parent" };
  const child = tree.childOf(agent.id, name);
  if (child !== undefined) return { id: child, relation: "child" };
  const sibling = agent.parent === undefined ? undefined : tree.childOf(agent.parent, name);
  return sibling === undefined || sibling === agent.id ? undefined : { id: sibling, relation: "sibling" };
}

/** The siblings of an agent, without itself. Roots have none: they belong to different people or different work. */
export function siblingsOf(tree: Tree, agent: Agent): string[] {
  if (agent.parent === undefined) return [];
  return tree.childrenOf(agent.parent).filter((id) => id !== agent.id);
}

/** What recovery finds outside of the tree (AG-2). */
export type OrphanedSessions = {
  /** Sessions without `agent.created`. */
  readonly orphans: readonly string[];
  /** Agents whose parent does not exist, or is terminated: they are kept and reported. */
  readonly dangling: readonly string[];
};

export function orphanedSessions(agentRecords: AgentRecords): OrphanedSessions {
  const orphans: string[] = [];
  const dangling: string[] = [];
  for (const agentRecord of agentRecords.values()) {
    if (agentRecord.kind !== "agent" || agentRecord.terminated !== undefined) continue;
    if (!agentRecord.created) orphans.push(agentRecord.id);
    else if (agentRecord.parent !== undefined && !isLive(agentRecords.get(agentRecord.parent)))
      dangling.push(agentRecord.id);
  }
  return { orphans, dangling };
}
