// When the conversation of a bare LLM is longer than its model takes, the oldest of it is left out (L4 of
// conversation.ts).
// TR1. Whole turns go first, the oldest first; then whole rounds of the current turn (an answer with the results of its
//      calls), except for the last. Its prompt always stays: a message that does not fit by itself needs a person.
// TR2. More is left out than is needed now, so that this does not happen at every request.
// TR3. Tokens are estimated by bytes, unless the provider has counted them: only it knows how.
import type { Agent, Failure, Turn } from "./agent.ts";
import {
  bytesOf,
  type Conversation,
  endMark,
  heardPieces,
  type Mark,
  type Numbered,
  type Stretch,
} from "./conversation.ts";
import type { Draft } from "./draft.ts";
import type { Trimmed } from "./events.ts";
import { type ContextLimit, styleOf } from "./provider.ts";

/** TR3. English has about four bytes a token, other languages and code fewer. */
const BYTES_A_TOKEN = 4;
const FEWEST_BYTES_A_TOKEN = 3;
/** TR2. Of the limit: what is left out at, and what is kept then. */
const FULL = 0.9;
const KEPT = 0.6;
/** If the limit is not known. */
const HALF = 0.5;

/** The limit of its model in tokens: from the configuration, or learnt. */
export function contextLimit({ plan, conversation }: Agent): number | undefined {
  const told = plan.recipe.options["context_tokens"];
  return typeof told === "number" && told > 0 ? told : conversation.left.limit;
}

/** Whether its conversation is probably too long for its next request, and can be trimmed. */
export function isTooLong(agent: Agent): boolean {
  const limit = contextLimit(agent);
  if (limit === undefined || agent.turn === undefined || agent.conversation.earlier > 0) return false;
  if (heardBytes(agent.conversation) <= FULL * limit * BYTES_A_TOKEN) return false;
  return trimmable(agent, agent.turn, KEPT * limit * BYTES_A_TOKEN).length > 0;
}

/** Leaves out what does not fit. Returns false if nothing can be. */
export function trim(draft: Draft, agent: Agent, { limit: learnt, used }: ContextLimit = {}): boolean {
  const { turn, conversation } = agent;
  if (turn === undefined || conversation.earlier > 0) return false;
  const limit = learnt ?? contextLimit(agent);
  const wasRefused = learnt !== undefined || used !== undefined;
  const cuts = trimmable(agent, turn, keptBytes(heardBytes(conversation), { limit, used }, wasRefused));
  for (const cut of cuts) {
    const data: Trimmed = { ...cut, why: "context", ...(learnt !== undefined && { limit: learnt }), at: draft.at };
    draft.add(agent.id, { event: "conversation.trimmed", data });
  }
  return cuts.length > 0;
}

function heardBytes({ bytes, left }: Conversation): number {
  return bytes - left.bytes;
}

type Known = { readonly limit: number | undefined; readonly used: number | undefined };

/** TR2, TR3. `now`: the length of what was sent. Always less than that. */
function keptBytes(now: number, { limit, used }: Known, wasRefused: boolean): number {
  if (limit === undefined) return now * HALF;
  if (used !== undefined && used > 0) return Math.min(KEPT, (KEPT * limit) / used) * now;
  const each = wasRefused ? FEWEST_BYTES_A_TOKEN : BYTES_A_TOKEN;
  return Math.min(KEPT * now, KEPT * limit * each);
}

type Cut = Stretch & { readonly bytes: number };

/** TR1. As many as are needed to get below this length, or all; neighbours are one. */
function trimmable({ conversation }: Agent, { mark }: Turn, bytes: number): Cut[] {
  const pieces = heardPieces(conversation);
  const isEarlier = ({ number }: Numbered) => number < mark.piece;
  const turns = unitsOf(pieces.filter(isEarlier), "user");
  const rounds = unitsOf(
    pieces.filter(({ number }) => number > mark.piece),
    "assistant",
  ).slice(0, -1);
  let rest = heardBytes(conversation);
  const cuts: Cut[] = [];
  for (const unit of [...turns, ...rounds]) {
    if (rest <= bytes) break;
    rest -= unit.bytes;
    const last = cuts.at(-1);
    const isNext = last !== undefined && last.from < mark.piece === unit.from < mark.piece;
    if (isNext) cuts[cuts.length - 1] = { from: last.from, to: unit.to, bytes: last.bytes + unit.bytes };
    else cuts.push(unit);
  }
  return cuts;
}

/** Each begins with a piece of this role. */
function unitsOf(pieces: readonly Numbered[], role: "user" | "assistant"): Cut[] {
  const units: Cut[] = [];
  for (const { piece, number } of pieces) {
    const last = units.at(-1);
    const bytes = bytesOf(piece);
    if (last === undefined || piece.role === role) units.push({ from: number, to: number + 1, bytes });
    else units[units.length - 1] = { from: last.from, to: number + 1, bytes: last.bytes + bytes };
  }
  return units;
}

/** Of what is still heard, if it is in memory. */
function bytesAfter(conversation: Conversation, mark: Mark): number {
  if (conversation.earlier > 0) return conversation.bytes - mark.bytes;
  const after = heardPieces(conversation).filter(({ number }) => number >= mark.piece);
  return after.reduce((sum, { piece }) => sum + bytesOf(piece), 0);
}

/** A turn that failed is not part of the conversation: its messages are sent again, or were dropped. */
export function leaveOutTurn(draft: Draft, agent: Agent, { mark }: Pick<Turn | Failure, "mark">): boolean {
  if (styleOf(agent.plan.recipe) !== "request") return false;
  const end = endMark(agent.conversation);
  const isOut = agent.conversation.left.stretches.some(({ from, to }) => from <= mark.piece && to >= end.piece);
  if (isOut || end.piece <= mark.piece) return false;
  const bytes = bytesAfter(agent.conversation, mark);
  const data = { from: mark.piece, to: end.piece, bytes, why: "failed", at: draft.at } as const;
  draft.add(agent.id, { event: "conversation.trimmed", data });
  return true;
}
