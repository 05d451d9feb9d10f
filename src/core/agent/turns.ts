// How turns end, and what is settled then: messages delivered, calls taken, children started, work completed.
// E1. A turn ends once: because its provider says so, or because it cannot continue.
// E2. Messages are delivered when the prompt that contains them was taken, or the result that returned them (AG-3).
// E3. A turn that fails before its messages were taken leaves them in the inbox, and the agent waits for a message from
//     a person or its parent: otherwise a permanent failure would repeat forever. Nothing is lost. A bare LLM is not
//     asked with that turn again: its messages come with the next one, and once.
import type { Agent, Call, Turn, TurnEnd } from "./agent.ts";
import type { Draft } from "./draft.ts";
import { cut, MAX_ANSWER, MAX_REASON } from "./limits.ts";
import { tellParent } from "./messages.ts";
import { styleOf, type Usage } from "./provider.ts";
import { createDeferred, terminate } from "./spawn.ts";
import { leaveOutTurn } from "./trim.ts";

export const INTERRUPTED = "It was interrupted.";

export function endTurn(draft: Draft, id: string, end: TurnEnd): void {
  if (end.kind === "complete") completeTurn(draft, id, end.response);
  else failTurn(draft, id, end.reason);
}

function completeTurn(draft: Draft, id: string, response: string): void {
  const { turn } = draft.agent(id);
  if (turn === undefined) return; // E1
  const data = { turn: turn.number, response: cut(response, MAX_ANSWER), at: draft.at, ...usageOf(turn) };
  draft.add(id, { event: "turn.complete", data });
  afterTurn(draft, id);
}

export function failTurn(draft: Draft, id: string, reason: string): void {
  const agent = draft.agent(id);
  if (agent.turn === undefined) return; // E1
  // Whatever its provider calls the end of an interrupted turn.
  const why = agent.turn.interrupted ? INTERRUPTED : cut(reason, MAX_REASON);
  const data = { turn: agent.turn.number, reason: why, at: draft.at, ...usageOf(agent.turn) };
  draft.add(id, { event: "turn.failed", data });
  // E3
  if (agent.turn.messages.length > 0) {
    leaveOutTurn(draft, draft.agent(id), agent.turn);
    draft.add(id, { event: "agent.held", data: { reason: `Its turn failed: ${data.reason}`, at: draft.at } });
  }
  tellParent(draft, agent, "child.failed", data.reason);
  afterTurn(draft, id);
}

function usageOf({ usage }: Turn): { readonly usage?: Usage } {
  return usage === undefined ? {} : { usage };
}

function afterTurn(draft: Draft, id: string): void {
  createDeferred(draft, id);
  leaveIfDone(draft, id);
}

/** A child that has completed its work is terminated at the end of its turn; a root stays for further messages. */
export function leaveIfDone(draft: Draft, id: string): void {
  const agent = draft.agent(id);
  if (agent.result !== undefined && agent.parent !== undefined)
    terminate(draft, agent, "complete", "Its work is done.");
}

/** E2 */
export function deliverTurn(draft: Draft, id: string): void {
  for (const message_id of draft.agent(id).turn?.messages ?? [])
    draft.add(id, { event: "message.delivered", data: { message_id } });
}

/** The caller has the result: the messages in it are delivered (E2). */
export function settleCall(draft: Draft, id: string, call: string): void {
  const found = draft.agent(id).calls.find((one) => one.call === call);
  if (found === undefined || found.taken) return;
  draft.add(id, { event: "tool.taken", data: { call } });
  const { inbox } = draft.agent(id);
  for (const message_id of found.messages) {
    if (inbox.some((message) => message.message_id === message_id))
      draft.add(id, { event: "message.delivered", data: { message_id } });
  }
}

/** Calls in the output: a process that continues after a result has it. */
export function settleInline(draft: Draft, id: string): void {
  const agent = draft.agent(id);
  for (const call of agent.calls) {
    if (call.inline && !call.taken && isConfirmed(agent, call)) settleCall(draft, id, call.call);
  }
}

function isConfirmed({ outbox, generation, plan, turn }: Agent, call: Call): boolean {
  if (styleOf(plan.recipe) === "request") return call.turn === turn?.number;
  const waits = outbox.entries.some((entry) => entry.kind === "result" && entry.call === call.call);
  return call.generation === generation && !waits;
}
