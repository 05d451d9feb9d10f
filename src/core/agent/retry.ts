// `agent retry`: an agent that waits continues, and a turn that failed is repeated.
// RT1. A turn whose messages are in the inbox is repeated by beginning a turn. If they were taken, its prompt is sent
//      again as a message, after the recovery prompt: it may have done some of it already.
// RT2. Repeating the command repeats nothing: while that message waits, or its turn runs, there is nothing to retry.
import { type Refusal, refused } from "../../base/result.ts";
import { type Agent, stateOf, waitingMessages } from "./agent.ts";
import { wake } from "./decide-wake.ts";
import { derivedId } from "./derive.ts";
import type { Draft } from "./draft.ts";
import { renew } from "./fresh.ts";
import { releaseIfDone } from "./inbox.ts";
import { deliver, USER } from "./messages.ts";
import { processMachine } from "./process.ts";
import { leaveOutTurn } from "./trim.ts";

/** `history`: in a new conversation (fresh.ts). */
export function retry(draft: Draft, agent: Agent, history: string | undefined): Refusal | undefined {
  const { id, process: program, held, sleep } = agent;
  const refusal = history === undefined ? undefined : renew(draft, agent, history);
  if (refusal !== undefined) return refusal;
  const isOver = processMachine.allows(program.kind, "retry");
  const waits = held !== undefined || sleep !== undefined || agent.turn?.retryAt !== undefined;
  if (!isOver && !waits) return history === undefined ? repeat(draft, agent) : undefined;
  if (isOver) draft.add(id, { event: "agent.retried", data: { at: draft.at } });
  else if (held !== undefined) draft.add(id, { event: "agent.released", data: { at: draft.at } });
  if (sleep !== undefined || agent.turn?.retryAt !== undefined) wake(draft, draft.agent(id), "now");
  return undefined;
}

/** RT1 */
function repeat(draft: Draft, agent: Agent): Refusal | undefined {
  const { id, name, failure, turn, settings } = agent;
  const isBusy = turn !== undefined || waitingMessages(agent).length > 0; // RT2
  if (isBusy || failure?.prompt === undefined)
    return refused("nothing-to-retry", `${name} is ${stateOf(agent)}.`, "There is nothing to retry.").error;
  const { prompt } = failure;
  const caution = settings.recovery_prompt;
  const payload = prompt.startsWith(caution) ? prompt : `${caution}\n\n${prompt}`;
  const message = derivedId(id, "repeated", `${failure.turn}`);
  deliver(draft, agent, { id: message, from: USER, kind: "message", payload });
  return undefined;
}

/** Drops what the turn that failed was given; a bare LLM is not asked with it any more. Then it continues. */
export function retryWithout(draft: Draft, agent: Agent): Refusal | undefined {
  const { id, name, failure, turn } = agent;
  const hint = `holdfast agent inbox drop ${name} MESSAGE removes one from its inbox.`;
  if (failure === undefined || turn !== undefined)
    return refused("nothing-to-retry", `The last turn of ${name} has not failed.`, hint).error;
  const waiting = waitingMessages(agent).filter(({ message_id }) => failure.messages.includes(message_id));
  for (const { message_id } of waiting) draft.add(id, { event: "message.dropped", data: { message_id, at: draft.at } });
  const isLeftOut = leaveOutTurn(draft, draft.agent(id), failure);
  if (waiting.length === 0 && !isLeftOut)
    return refused("taken", `${name} has read what that turn was given: it cannot be left out.`, hint).error;
  releaseIfDone(draft, id);
  const { held } = draft.agent(id);
  if (held !== undefined) draft.add(id, { event: "agent.released", data: { at: draft.at } });
  return undefined;
}
