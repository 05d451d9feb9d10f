// Decides on a provider's output: all of it in one transaction with how far it was read.
// I1. A repeat (an offset that was already read) changes nothing, so a crash between reading and forgetting neither
//     loses nor doubles anything.
// I2. Output after the end of a turn is read and ignored; output before the prompt is known to be taken waits for that.

import { backoffMs } from "../../base/backoff.ts";
import { sizeOf } from "../workflow/limits.ts";
import type { Agent } from "./agent.ts";
import { endOf, isNoAnswer } from "./apply-turn.ts";
import type { AgentCommand } from "./commands.ts";
import type { Draft } from "./draft.ts";
import { unopened } from "./fresh.ts";
import { cut, MAX_ANSWER, MAX_INPUT, MAX_PIECE, MAX_REASON, MAX_REQUEST_ID, MAX_TOOL, MAX_TRIES } from "./limits.ts";
import { isAlive } from "./process.ts";
import { ask, withdraw } from "./prompts.ts";
import { type ProviderEvent, styleOf } from "./provider.ts";
import { answerCall } from "./tools.ts";
import { trim } from "./trim.ts";
import { deliverTurn, endTurn, failTurn, settleInline } from "./turns.ts";

type Read = Extract<AgentCommand, { readonly kind: "read" }>;

export function read(draft: Draft, agent: Agent, { generation, offset, events }: Read): void {
  const { id } = agent;
  if (generation !== agent.generation || offset <= agent.consumed) return; // I1
  const request = styleOf(agent.plan.recipe) === "request";
  if (request && (agent.turn === undefined || agent.session.kind !== "active")) return;
  if (!request && !isAlive(agent.process)) return;
  const most = request ? MAX_ANSWER : MAX_PIECE;
  const kept = events.map((event) => bounded(event, most));
  const failed = request && events.some(isNoAnswer);
  if (!failed) settleInline(draft, id);
  draft.add(id, { event: "agent.read", data: { generation, offset, events: kept, at: draft.at } });
  if (request && !failed) deliverTurn(draft, id);
  for (const event of events) meaning(draft, id, event);
  if (request) resume(draft, id, kept);
}

/** N4 of events.ts. A prompt's input and choices are in its own event. */
function bounded(event: ProviderEvent, most: number): ProviderEvent {
  if (event.kind === "text" || event.kind === "stderr") return { ...event, text: cut(event.text, most) };
  if (event.kind === "tool-done") return { ...event, use: shortId(event.use), text: cut(event.text, most) };
  if (event.kind === "done" && event.response !== undefined) return { ...event, response: cut(event.response, most) };
  if (event.kind === "tool") {
    const input = sizeOf(event.input) > most ? cut(JSON.stringify(event.input), most) : event.input;
    return { ...event, use: shortId(event.use), tool: cut(event.tool, MAX_TOOL), input };
  }
  if (event.kind === "ask") return boundedAsk(event);
  if (event.kind === "withdrawn") return { ...event, request: shortId(event.request) };
  if (event.kind === "retrying" || event.kind === "later" || event.kind === "failed")
    return { ...event, reason: cut(event.reason, MAX_REASON) };
  if (event.kind === "call") {
    const args = sizeOf(event.args) > MAX_INPUT ? null : event.args;
    return { ...event, call: shortId(event.call), tool: cut(event.tool, MAX_TOOL), args };
  }
  return event;
}

function boundedAsk({ kind, request, tool, use }: Extract<ProviderEvent, { kind: "ask" }>): ProviderEvent {
  const about = use === undefined ? {} : { use: shortId(use) };
  return { kind, request: shortId(request), tool: cut(tool, MAX_TOOL), input: null, ...about };
}

function shortId(id: string): string {
  return cut(id, MAX_REQUEST_ID);
}

function meaning(draft: Draft, id: string, event: ProviderEvent): void {
  const agent = draft.agent(id);
  if (agent.terminated !== undefined) return;
  if (event.kind === "session") named(draft, agent, event.session);
  else if (event.kind === "ask") asked(draft, agent, event);
  else if (event.kind === "withdrawn") withdraw(draft, agent, event.request);
  else if (event.kind === "call") called(draft, id, event);
  else if (event.kind === "limit") limited(draft, agent, event);
  else if (event.kind === "later") later(draft, agent, event);
  else if (event.kind === "failed" && event.opening === true) unopened(draft, agent, event.reason);
  else if (event.kind === "done" || event.kind === "failed") over(draft, agent, event);
}

/** A bare LLM has no process that could take an answer. */
function asked(draft: Draft, agent: Agent, event: Extract<ProviderEvent, { kind: "ask" }>): void {
  if (styleOf(agent.plan.recipe) === "request" || !isAnswerable(draft, agent.id, event.request)) return;
  ask(draft, agent, event);
}

/** The reply has to repeat the id, and an event has to have it: without a reply, the process would wait for ever. */
function isAnswerable(draft: Draft, id: string, request: string): boolean {
  if (request.length <= MAX_REQUEST_ID) return true;
  failTurn(
    draft,
    id,
    `It gave a question or call an id of ${request.length} characters; ${MAX_REQUEST_ID} are allowed.`,
  );
  return false;
}

function named(draft: Draft, { id, providerSession, resumable }: Agent, session: string): void {
  if (providerSession !== session || !resumable) draft.add(id, { event: "session.named", data: { session } });
}

function called(draft: Draft, id: string, event: Extract<ProviderEvent, { kind: "call" }>): void {
  if (!isAnswerable(draft, id, event.call)) return;
  const args = sizeOf(event.args) > MAX_INPUT ? "too large" : event.args;
  answerCall(draft, id, { ...event, args, inline: true });
}

function over(draft: Draft, agent: Agent, event: Extract<ProviderEvent, { kind: "done" | "failed" }>): void {
  const { id, turn } = agent;
  if (turn === undefined || agent.sleep !== undefined) return; // I2
  const request = styleOf(agent.plan.recipe) === "request";
  if (!request && !turn.taken) return; // I2: `taken` ends it.
  if (request && event.kind === "failed" && isTriedAgain(draft, agent, event)) return;
  const end = endOf([event], turn);
  if (end !== undefined) endTurn(draft, id, end);
}

type Failed = Extract<ProviderEvent, { readonly kind: "failed" }>;

/** Whether its request is made again: later, or at once and with less (trim.ts). */
function isTriedAgain(draft: Draft, agent: Agent, event: Failed): boolean {
  const { id, turn } = agent;
  if (turn === undefined) return false;
  const { reason, context, retryable, passing } = event;
  const isLast = turn.tries + 1 >= MAX_TRIES;
  if (passing === true && isLast && agent.settings.sleep_on_limit) {
    limited(draft, agent, { until: "", reason });
    return true;
  }
  if (isLast || (context === undefined ? !retryable : !trim(draft, agent, context))) return false;
  const until = draft.in(context === undefined ? backoffMs(turn.tries + 1, 0) : 0);
  draft.add(id, { event: "turn.retrying", data: { turn: turn.number, reason: cut(reason, MAX_REASON), until } });
  return true;
}

/** Nothing was requested: none of its attempts. */
function later(draft: Draft, { id, turn }: Agent, { reason, until }: { reason: string; until: string }): void {
  if (turn === undefined) return;
  const data = { turn: turn.number, reason: cut(reason, MAX_REASON), until, waited: true } as const;
  draft.add(id, { event: "turn.retrying", data });
}

/** A limit that is already over, or has no time, is tried again after this, and twice as long each time after that. */
const SHORT_SLEEP_MS = 60_000;
const MAX_DOUBLINGS = 6;
/** No provider's limit lasts longer than a month; one that says so is tried again then. */
const LONGEST_SLEEP_MS = 31 * 24 * 60 * 60_000;

type Limit = Omit<Extract<ProviderEvent, { readonly kind: "limit" }>, "kind">;

function limited(draft: Draft, { id, settings, turn, sleep }: Agent, { until, reason }: Limit): void {
  if (!settings.sleep_on_limit) {
    const when = until === "" ? "." : `, until ${until}.`;
    const why = reason === undefined ? "" : ` ${reason}`;
    if (turn !== undefined) failTurn(draft, id, `The usage limit is reached${when}${why}`);
    return;
  }
  const time = Date.parse(until);
  const isOver = Number.isNaN(time) || time <= draft.now;
  if (isOver && sleep !== undefined) return; // How long was said before.
  const short = SHORT_SLEEP_MS * 2 ** Math.min(turn?.naps ?? 0, MAX_DOUBLINGS);
  const later = draft.in(isOver ? short : Math.min(time - draft.now, LONGEST_SLEEP_MS));
  const why = reason === undefined ? {} : { reason: cut(reason, MAX_REASON) };
  draft.add(id, { event: "agent.sleeping", data: { until: later, at: draft.at, ...why } });
}

/** An answer that neither calls nor ends is the end: a model that is asked the same again would say the same. */
function resume(draft: Draft, id: string, events: readonly ProviderEvent[]): void {
  const agent = draft.agent(id);
  if (agent.turn === undefined || agent.sleep !== undefined || agent.turn.retryAt !== undefined) return;
  if (events.some(({ kind }) => kind === "call")) return;
  const response = events.flatMap((event) => (event.kind === "text" ? [event.text] : [])).join("");
  endTurn(draft, id, { kind: "complete", response });
}
