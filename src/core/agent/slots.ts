// Which agents start next: turns and processes, as far as there are slots (AG-5).
// Q1. The longest waiting agent comes first, whether it already has a process or not: an agent that always has messages
//     cannot starve others, because after each turn it waits behind them.
// Q2. A provider never has more processes than slots: a slot is free only when its process is known to have ended.
// Q3. If none is free, the least recently used idle agent is suspended; no more of them than are needed.
// Q4. The work of a command is that of the agents which it lets start: slots are counted by the tree, which learns of
//     every change, and neither slots nor agents are gone through.

import { type Agent, holdsSlot, needOf, type Turn, waitingMessages } from "./agent.ts";
import { dashed, derivedId } from "./derive.ts";
import type { Draft } from "./draft.ts";
import type { Handed } from "./events.ts";
import { wordsInFlight } from "./in-flight.ts";
import { STOP_GRACE_MS } from "./limits.ts";
import { forOneTurn, promptOf } from "./messages.ts";
import { processMachine } from "./process.ts";
import { type ProviderName, styleOf } from "./provider.ts";

export function schedule(draft: Draft): void {
  if (draft.settings.paused) return;
  for (const provider of draft.tree.providers) serve(draft, provider);
}

function serve(draft: Draft, provider: ProviderName): void {
  const slots = draft.slots(provider);
  let coming = draft.tree.stopping(provider);
  for (const id of draft.tree.waitingFor(provider, 2 * slots)) {
    const agent = draft.agent(id);
    if (needOf(agent) === undefined) continue; // It was suspended for an agent that waited longer.
    if (holdsSlot(agent) || draft.tree.taken(provider) < slots) begin(draft, agent);
    else if (coming > 0) coming -= 1;
    else if (!evict(draft, provider)) return; // The rest of the queue cannot start either: no idle agent is left.
  }
}

/** Q3. Returns whether there was one to suspend. */
function evict(draft: Draft, provider: ProviderName): boolean {
  const oldest = draft.tree.oldestResting(provider);
  if (oldest === undefined) return false;
  suspend(draft, draft.agent(oldest), "evicted");
  return true;
}

export function suspend(draft: Draft, { id, generation }: Agent, reason: "evicted" | "asked"): void {
  const kill_at = draft.in(STOP_GRACE_MS);
  draft.add(id, { event: "process.stopping", data: { generation, reason, signal: null, kill_at } });
}

/** Starts its turn, if one is due, and a process for it. */
function begin(draft: Draft, agent: Agent): void {
  const { id } = agent;
  if (agent.turn === undefined && waitingMessages(agent).length > 0) startTurn(draft, agent);
  const { session, process: program, plan } = agent;
  const { provider, model } = plan.recipe;
  const { at } = draft;
  if (session.kind === "suspended")
    draft.add(id, { event: "session.restored", data: { provider, model, adopted: false, at } });
  if (styleOf(plan.recipe) === "request" || !processMachine.allows(program.kind, "spawn")) return;
  const generation = agent.generation + 1;
  const prompt = handedTo(draft.agent(id), generation);
  draft.add(id, { event: "process.starting", data: { generation, resume: agent.resumable, prompt, at } });
}

function startTurn(draft: Draft, agent: Agent): void {
  const { id } = agent;
  const messages = forOneTurn(waitingMessages(agent));
  const turn = agent.turns + 1;
  const uuid = dashed(derivedId(id, "turn", `${turn}`));
  const ids = messages.map(({ message_id }) => message_id);
  const prompt = withHistory(agent, promptOf(messages, draft.keyedId("turn", id, `${turn}`)));
  draft.add(id, { event: "turn.start", data: { turn, prompt, messages: ids, uuid, at: draft.at } });
}

/**
 * The prompt again, if no process can have had it; otherwise the prompt for an agent whose process died in a turn. If
 * it
 * had no output yet, or is not known to have taken its prompt, it may not have read it: then it gets both.
 */
function handedTo(agent: Agent, generation: number): Handed | null {
  const { id, turn, settings } = agent;
  if (turn === undefined) return null;
  const { text } = turn.prompt;
  if (hasHistory(agent)) return again(id, turn, withHistory(agent, text), `${generation}`);
  if (!turn.taken && !turn.heard && !turn.doubtful) return turn.prompt;
  const { recovery_prompt: caution } = settings;
  const whole = text.startsWith(caution) ? text : `${caution}\n\n${text}`;
  const words = turn.taken && turn.heard ? caution : whole;
  return again(id, turn, [words, wordsInFlight(agent)].filter((part) => part !== "").join("\n\n"), `${generation}`);
}

function hasHistory({ history = "" }: Agent): boolean {
  return history !== "";
}

/** The first prompt of a conversation that replaces another (fresh.ts). */
function withHistory(agent: Agent, text: string): string {
  return hasHistory(agent) ? `${agent.history}\n\n${text}` : text;
}

/** To continue in a turn: a different uuid, because it is a different prompt. */
export function again(id: string, turn: Turn, text: string, why: string): Handed {
  return { uuid: dashed(derivedId(id, "turn", `${turn.number}`, "again", why)), text };
}
