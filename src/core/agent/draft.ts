// A decision in the making: the events so far, of all the agents it touches, and these agents as they are after them.
// F1. Every event is folded as it is added, so that what is decided next sees it: a spawn, and a message to the child,
//     are one decision.
// F2. The tree learns of each change as it is made, so that it learns of a decision once; after `undo` it has forgotten
//     all of it.

import { assert } from "../../base/assert.ts";
import { timeText } from "../../base/time-text.ts";
import { type Left, leftAt } from "../due-times.ts";
import { type Agent, type AgentRecord, type AgentRecords, isLive, RULE_BOOK } from "./agent.ts";
import { applyAgent } from "./apply.ts";
import { DEFAULT_SLOTS } from "./defaults.ts";
import { type CallIds, callIds, type Keyed, keyedId } from "./derive.ts";
import type { AgentEvent, AgentSettings } from "./events.ts";
import { MAX_DEPTH } from "./limits.ts";
import type { ProviderName, Recipe } from "./provider.ts";
import type { Rule } from "./rules.ts";
import type { Tree } from "./tree.ts";

/** Settings from the configuration. */
export type AgentConfig = {
  /** How many concurrent processes (or requests) a provider may have. */
  readonly slots: Readonly<Partial<Record<ProviderName, number>>>;
  /** Safe mode: no turn starts. */
  readonly paused: boolean;
  /** Checked after an agent's own rules and those for all (P1 of rules.ts). */
  readonly rules: readonly Rule[];
  readonly defaults: Partial<AgentSettings>;
  /** All providers, by name. */
  readonly recipes: Readonly<Record<string, Recipe>>;
  /** By the name of a provider: those that its agents may start others on, beside it (inherit.ts). */
  readonly spawns: Readonly<Record<string, readonly string[]>>;
};

/** All agents, the index over them, the configuration, and how far times are away; absent: as their texts say. */
export type AgentContext = {
  readonly agentRecords: AgentRecords;
  readonly tree: Tree;
  readonly settings: AgentConfig;
  readonly left?: Left | undefined;
  readonly keyed: Keyed;
  /** Whether there is an agent with this id in the archive, where nothing is decided about it; absent: none. */
  isArchived?(id: string): boolean;
};

/**
 * Claude Code asks before it uses our own tools; no other agent does. This is the last rule: a deny rule comes first.
 */
const OUR_TOOLS: readonly Rule[] = [
  { rule_id: "holdfast-tools", decision: "allow", tool: "mcp__holdfast__*", args: {}, message: "" },
];

/** An event without its agent. */
export type Fact = AgentEvent extends infer E ? (E extends AgentEvent ? Omit<E, "id"> : never) : never;

type Change = { readonly before: AgentRecord | undefined; readonly after: AgentRecord };

export class Draft {
  readonly events: AgentEvent[] = [];
  readonly at: string;
  readonly settings: AgentConfig;
  readonly tree: Tree;
  readonly left: Left;
  readonly #keyed: Keyed;
  readonly #residents: AgentRecords;
  readonly #isArchived: (id: string) => boolean;
  readonly #changed = new Map<string, AgentRecord>();
  readonly #changes: Change[] = [];

  constructor(context: AgentContext, at: string) {
    const { agentRecords, tree, settings, left, keyed } = context;
    this.#residents = agentRecords;
    this.#isArchived = (id) => context.isArchived?.(id) === true;
    this.tree = tree;
    this.settings = settings;
    this.at = at;
    this.left = left ?? leftAt(at);
    this.#keyed = keyed;
  }

  /** D4 of derive.ts. */
  keyedId(...parts: readonly string[]): string {
    return keyedId(this.#keyed, ...parts);
  }

  /** The ids of what a call of this agent makes (D4 and D5 of derive.ts). */
  callIds({ id }: Agent, ...parts: readonly string[]): CallIds {
    return callIds(this.#keyed, id, ...parts);
  }

  /** All agents, as they were before. */
  get residents(): AgentRecords {
    return this.#residents;
  }

  get(id: string): AgentRecord | undefined {
    return this.#changed.get(id) ?? this.#residents.get(id);
  }

  /** Whether an agent has this id, also one that is archived: it cannot be created again. */
  isTaken(id: string): boolean {
    return this.get(id) !== undefined || this.#isArchived(id);
  }

  /** The agent as it is now; it must exist. */
  agent(id: string): Agent {
    const found = this.get(id);
    assert(found?.kind === "agent", `${id} is an agent`);
    return found;
  }

  live(id: string | undefined): Agent | undefined {
    const found = id === undefined ? undefined : this.get(id);
    return isLive(found) ? found : undefined;
  }

  /** Its ancestors, the nearest first. */
  *above({ parent }: Agent): Generator<Agent> {
    let at = parent === undefined ? undefined : this.get(parent);
    for (let depth = 0; at?.kind === "agent" && depth < MAX_DEPTH; depth += 1) {
      yield at;
      at = at.parent === undefined ? undefined : this.get(at.parent);
    }
  }

  rules(agent: Agent): readonly Rule[] {
    const book = this.get(RULE_BOOK);
    const ours = agent.plan.recipe.provider === "claude" ? OUR_TOOLS : [];
    return [...agent.rules, ...(book?.kind === "rules" ? book.rules : []), ...this.settings.rules, ...ours];
  }

  slots(provider: ProviderName): number {
    return this.settings.slots[provider] ?? DEFAULT_SLOTS;
  }

  add(id: string, fact: Fact): void {
    const event: AgentEvent = { ...fact, id };
    const before = this.get(id);
    const after = applyAgent(before, event); // F1
    this.events.push(event);
    this.#changed.set(id, after);
    this.#changes.push({ before, after });
    this.tree.note(before, after); // F2
  }

  /** All that were changed, as they are now. */
  get after(): ReadonlyMap<string, AgentRecord> {
    return this.#changed;
  }

  /** F2, newest first. */
  undo(): void {
    for (const { before, after } of this.#changes.splice(0).reverse()) this.tree.note(after, before);
  }

  /** This many milliseconds from now. */
  in(ms: number): string {
    return timeText(this.now + ms);
  }

  isDue(time: string): boolean {
    return this.left(time) <= 0;
  }

  get now(): number {
    return Date.parse(this.at);
  }
}
