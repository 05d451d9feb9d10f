// How agents are created and ended: by a person or a parent's tool call, and together with all agents below them.
// B1. `agent.created` is durable when a spawn is acknowledged; the child's session is created when the parent's turn
//     ends (AG-1).
// B2. Names are unique among siblings, and among roots.
// B3. Terminating an agent terminates all below it first; the parent gets a message unless the child had completed.
// B4. The default recovery policy of roots is configured; a child continues when its parent needs it (AG-7).
// B5. An agent is in the lane that it was put into, or in that of its parent.
import { own } from "../../base/own.ts";
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import type { Agent } from "./agent.ts";
import { DEFAULT_SETTINGS } from "./defaults.ts";
import { derivedId } from "./derive.ts";
import type { Draft } from "./draft.ts";
import type { AgentSettings, SessionPlan, Terminated } from "./events.ts";
import { lowered, providerName, whyNotOn } from "./inherit.ts";
import { MAX_AGENTS, MAX_DEPTH, MAX_NAME, MAX_PAYLOAD, STOP_GRACE_MS } from "./limits.ts";
import { enqueue, tellParent, USER } from "./messages.ts";
import { isAlive } from "./process.ts";
import { stalePrompts } from "./prompts.ts";
import type { Recipe } from "./provider.ts";
import { inherited } from "./workspace.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

export type Spawn = {
  readonly id: string;
  readonly name: string;
  readonly instructions: string;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly systemPrompt: string | undefined;
};

export type NewAgent = {
  readonly id: string;
  readonly name: string;
  readonly parent: string | undefined;
  readonly instructions: string;
  readonly plan: SessionPlan;
  readonly settings: Partial<AgentSettings>;
  readonly owner?: string;
  readonly lane?: string | undefined;
};

/** By a parent's tool call: its session waits while the parent's turn runs (B1). */
export function spawn(draft: Draft, parent: Agent, wish: Spawn): Refusal | undefined {
  if (draft.isTaken(wish.id)) return idTaken(wish.id);
  const recipe = recipeOf(draft, parent, wish.provider);
  if (!recipe.ok) return recipe.error;
  const { id, name, instructions } = wish;
  const plan = planOf(parent, recipe.value, wish);
  const settings = { ...parent.settings, recovery: "parent" } as const; // B4
  const refusal = createAgent(draft, { id, name, parent: parent.id, instructions, plan, settings });
  if (refusal === undefined && parent.turn === undefined) createSession(draft, id);
  return refusal;
}

export function idTaken(id: string): Refusal {
  return refused("id-taken", `There is already an agent ${id}.`, "Use another id.").error;
}

/** The parent's own recipe, unless another provider is wanted (IN1 and IN2 of inherit.ts). */
function recipeOf(draft: Draft, parent: Agent, provider: string | undefined): Result<Recipe> {
  const { recipe } = parent.plan;
  if (provider === undefined || provider === providerName(recipe)) return ok(recipe);
  const { recipes, spawns } = draft.settings;
  const refusal = whyNotOn([parent, ...draft.above(parent)], provider, spawns);
  if (refusal !== undefined) return { ok: false, error: refusal };
  const found = own(recipes, provider);
  if (found !== undefined) return ok(lowered(found, recipe));
  return refused("unknown", `There is no provider "${provider}".`, `There are: ${Object.keys(recipes).join(", ")}.`);
}

function planOf({ plan }: Agent, base: Recipe, { model, systemPrompt }: Spawn): SessionPlan {
  const recipe = model === undefined ? base : { ...base, model };
  return { ...plan, workspace: inherited(plan.workspace), recipe, system_prompt: systemPrompt ?? plan.system_prompt };
}

/** Adds `agent.created`, and its instructions as the first message. */
export function createAgent(draft: Draft, birth: NewAgent): Refusal | undefined {
  const { id, name, parent, instructions, plan, settings, owner } = birth;
  const lane = birth.lane ?? draft.live(parent)?.lane; // B5
  const wrong = whyNot(draft, name, parent) ?? tooLong(instructions) ?? badLane(birth.lane);
  if (wrong !== undefined) return wrong;
  const house = { ...DEFAULT_SETTINGS, ...draft.settings.defaults };
  const all: AgentSettings = { ...house, ...(parent === undefined ? {} : { recovery: "parent" }), ...settings }; // B4
  const head = {
    agent_id: id,
    name,
    parent_session_id: parent ?? null,
    instructions,
    ...(owner !== undefined && { owner }),
    ...(lane !== undefined && { lane }),
  };
  draft.add(id, { event: "agent.created", data: { ...head, settings: all, session: plan, at: draft.at } });
  if (instructions === "") return undefined;
  const from = draft.live(parent) ?? USER;
  const letter = { id: derivedId(id, "instructions"), from, kind: "instructions", payload: instructions } as const;
  return enqueue(draft, draft.agent(id), { ...letter, relation: "parent" });
}

function tooLong(instructions: string): Refusal | undefined {
  if (instructions.length <= MAX_PAYLOAD) return undefined;
  return refused("too-large", `Instructions have at most ${MAX_PAYLOAD} characters.`, "Write them to a file.").error;
}

function badLane(lane: string | undefined): Refusal | undefined {
  if (lane === undefined || (NAME.test(lane) && lane.length <= MAX_NAME)) return undefined;
  const what = `${JSON.stringify(lane.slice(0, MAX_NAME))} is not a valid name for a lane.`;
  return refused("bad-name", what, "Use letters, digits, dots, dashes, underscores.").error;
}

/** B2 */
function whyNot(draft: Draft, name: string, parent: string | undefined): Refusal | undefined {
  if (!NAME.test(name) || name.length > MAX_NAME || name === "parent" || name === USER)
    return refused(
      "bad-name",
      `"${name}" is not a valid name for an agent.`,
      "Use letters, digits, dots, dashes, underscores.",
    ).error;
  if (draft.tree.childOf(parent, name) !== undefined)
    return refused("name-taken", `There is already an agent "${name}" here.`, "Use another name.").error;
  if (draft.tree.agents >= MAX_AGENTS)
    return refused("too-many", `There are ${MAX_AGENTS} agents.`, "Terminate some.").error;
  if (depthOf(draft, parent) < MAX_DEPTH) return undefined;
  return refused("too-deep", `The tree is ${MAX_DEPTH} agents deep.`, "Let the parent do it.").error;
}

function depthOf(draft: Draft, id: string | undefined): number {
  let depth = 0;
  for (let at = draft.live(id); at !== undefined && depth < MAX_DEPTH; at = draft.live(at.parent)) depth += 1;
  return depth;
}

export function createSession(draft: Draft, id: string): void {
  const { plan } = draft.agent(id);
  const { provider, model } = plan.recipe;
  draft.add(id, { event: "session.created", data: { provider, model, ...plan, at: draft.at } });
}

/** B1: the sessions that waited for the end of the parent's turn. */
export function createDeferred(draft: Draft, parent: string): void {
  for (const child of draft.tree.deferredOf(parent)) createSession(draft, child);
}

/** B3 */
export function terminate(draft: Draft, agent: Agent, by: Terminated["by"], reason: string): void {
  for (const id of draft.tree.below(agent.id)) end(draft, draft.agent(id), "parent", `${agent.name} was terminated.`);
  end(draft, agent, by, reason);
  if (by !== "complete") tellParent(draft, agent, "child.terminated", reason);
}

function end(draft: Draft, { id }: Agent, by: Terminated["by"], reason: string): void {
  const agent = draft.agent(id);
  stalePrompts(draft, agent, "The agent was terminated.");
  draft.add(id, { event: "agent.terminated", data: { agent_id: id, reason, by, at: draft.at } });
  if (!isAlive(agent.process)) return;
  const { generation } = agent;
  const stop = { generation, reason: "terminated", signal: "SIGTERM", kill_at: draft.in(STOP_GRACE_MS) } as const;
  draft.add(id, { event: "process.stopping", data: stop });
}
