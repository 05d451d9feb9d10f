// The tree of agents and everything else that is derived from all states: who is whose child, who holds a slot, who waits for one.
// X1. It is a function of the states alone: `note` is told of every change, and an index made anew of the same states is equal.
//     Parents are found by `parent_session_id`; nothing else is stored about the tree (AG-2).
// X2. A change costs the same with one agent or a thousand, but for a binary search and the shift of a short list.
// X3. Terminated agents, and sessions without `agent.created`, are in no list here.
import {
  type Agent,
  holdsSlot,
  isLive,
  needOf,
  openPrompts,
  type Resident,
  type Residents,
  readySince,
} from "./agent.ts";
import type { ProviderName } from "./provider.ts";

/** Roots are the children of nobody. */
const NOBODY = "";

/** What the lists say of one agent. */
type Place = {
  readonly parent: string;
  readonly name: string;
  readonly provider: ProviderName;
  readonly holds: boolean;
  /** Sorts those who wait: the longest first. */
  readonly waits: string | undefined;
  readonly prompts: readonly string[];
};

export class Tree {
  readonly #children = new Map<string, Map<string, string>>();
  readonly #holders = new Map<ProviderName, Set<string>>();
  readonly #waiting = new Map<ProviderName, string[]>();
  readonly #prompts = new Map<string, string>();
  #agents = 0;

  static of(residents: Residents): Tree {
    const tree = new Tree();
    for (const resident of residents.values()) tree.note(undefined, resident);
    return tree;
  }

  /** How many live. */
  get agents(): number {
    return this.#agents;
  }

  note(before: Resident | undefined, after: Resident | undefined): void {
    const from = placeOf(before);
    const to = placeOf(after);
    const id = after?.id ?? before?.id ?? "";
    if (from !== undefined) this.#leave(id, from, to);
    if (to !== undefined) this.#enter(id, to, from);
  }

  #leave(id: string, from: Place, to: Place | undefined): void {
    if (to === undefined) {
      this.#agents -= 1;
      this.#children.get(from.parent)?.delete(from.name);
      if (this.#children.get(from.parent)?.size === 0) this.#children.delete(from.parent);
    }
    if (from.holds && to?.holds !== true) this.#holders.get(from.provider)?.delete(id);
    if (from.waits !== undefined && from.waits !== to?.waits) remove(this.#queue(from.provider), from.waits);
    for (const prompt of from.prompts) this.#prompts.delete(prompt);
  }

  #enter(id: string, to: Place, from: Place | undefined): void {
    if (from === undefined) {
      this.#agents += 1;
      const siblings = this.#children.get(to.parent) ?? new Map<string, string>();
      this.#children.set(to.parent, siblings.set(to.name, id));
    }
    if (to.holds && from?.holds !== true)
      this.#holders.set(to.provider, (this.#holders.get(to.provider) ?? new Set()).add(id));
    if (to.waits !== undefined && from?.waits !== to.waits) insert(this.#queue(to.provider), to.waits);
    for (const prompt of to.prompts) this.#prompts.set(prompt, id);
  }

  #queue(provider: ProviderName): string[] {
    const found = this.#waiting.get(provider) ?? [];
    this.#waiting.set(provider, found);
    return found;
  }

  /** The ids of the children of an agent; of the roots where `parent` is undefined. */
  childrenOf(parent: string | undefined): string[] {
    return [...(this.#children.get(parent ?? NOBODY)?.values() ?? [])];
  }

  /** The child of that name. */
  childOf(parent: string | undefined, name: string): string | undefined {
    return this.#children.get(parent ?? NOBODY)?.get(name);
  }

  /** Everybody below it, those nearest to it last: in the order in which they are terminated. */
  below(id: string): string[] {
    const found = this.childrenOf(id);
    // A list that grows while it is walked also yields what was added.
    for (const child of found) found.push(...this.childrenOf(child));
    return found.reverse();
  }

  holdersOf(provider: ProviderName): ReadonlySet<string> {
    return this.#holders.get(provider) ?? new Set();
  }

  /** The first few of those who need a slot or a turn, the longest waiting first. */
  waitingFor(provider: ProviderName, most: number): string[] {
    const keys = this.#waiting.get(provider)?.slice(0, most) ?? [];
    return keys.map((key) => key.slice(key.indexOf(" ") + 1));
  }

  /** Those for which somebody waits. */
  get providers(): ProviderName[] {
    return [...this.#waiting].filter(([, queue]) => queue.length > 0).map(([provider]) => provider);
  }

  /** Whose open prompt it is. */
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
      waiting: sorted([...this.#waiting].filter(([, queue]) => queue.length > 0).map((pair) => pair.join("/"))),
      prompts: sorted([...this.#prompts].map((pair) => pair.join("/"))),
    };
  }
}

function placeOf(resident: Resident | undefined): Place | undefined {
  if (!isLive(resident)) return undefined; // X3
  const waits = needOf(resident) === undefined ? undefined : `${readySince(resident)} ${resident.id}`;
  const prompts = resident.prompts.length === 0 ? [] : openPrompts(resident).map(({ id }) => id);
  const { parent = NOBODY, name, plan } = resident;
  return { parent, name, provider: plan.recipe.provider, holds: holdsSlot(resident), waits, prompts };
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

function insert(queue: string[], key: string): void {
  queue.splice(placeIn(queue, key), 0, key);
}

function remove(queue: string[], key: string): void {
  const at = placeIn(queue, key);
  if (queue[at] === key) queue.splice(at, 1);
}

/** Whom an agent can write to, and what they are to it. */
export type Relation = "parent" | "child" | "sibling";
export type Neighbour = { readonly id: string; readonly relation: Relation };

/** One hop, by name: the parent (also as "parent"), a child, a sibling, in this order. */
export function neighbour(tree: Tree, residents: Residents, agent: Agent, name: string): Neighbour | undefined {
  const parent = agent.parent === undefined ? undefined : residents.get(agent.parent);
  if (isLive(parent) && (name === "parent" || name === parent.name)) return { id: parent.id, relation: "parent" };
  const child = tree.childOf(agent.id, name);
  if (child !== undefined) return { id: child, relation: "child" };
  const sibling = agent.parent === undefined ? undefined : tree.childOf(agent.parent, name);
  return sibling === undefined || sibling === agent.id ? undefined : { id: sibling, relation: "sibling" };
}

/** The siblings of an agent, itself left out. Roots have none: they are different people's, or of different work. */
export function siblingsOf(tree: Tree, agent: Agent): string[] {
  if (agent.parent === undefined) return [];
  return tree.childrenOf(agent.parent).filter((id) => id !== agent.id);
}

/** What recovery finds that is in no tree (AG-2). */
export type Strays = {
  /** Sessions without `agent.created`. */
  readonly orphans: readonly string[];
  /** Agents whose parent is not there, or is terminated: they are kept, and a person is told. */
  readonly dangling: readonly string[];
};

export function straysOf(residents: Residents): Strays {
  const orphans: string[] = [];
  const dangling: string[] = [];
  for (const resident of residents.values()) {
    if (resident.kind !== "agent" || resident.terminated !== undefined) continue;
    if (!resident.created) orphans.push(resident.id);
    else if (resident.parent !== undefined && !isLive(residents.get(resident.parent))) dangling.push(resident.id);
  }
  return { orphans, dangling };
}
