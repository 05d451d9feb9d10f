// What a bare LLM is asked with, compared with all that was said.
import { expect } from "bun:test";
import { itemsOf } from "../../src/base/vector.ts";
import type { Agent } from "../../src/core/agent/agent.ts";
import { bytesOf, heardPieces } from "../../src/core/agent/conversation.ts";

/** L2 and L4 of conversation.ts: what a model gets has every call with its result, and the prompt of its turn. */
export function expectWhole({ conversation, turn, plan }: Agent): void {
  if (plan.recipe.provider !== "openai") return;
  const heard = heardPieces(conversation);
  const numbers = new Set(heard.map(({ number }) => number));
  const all = [...itemsOf(conversation.said)];
  const left = all.filter((_, number) => !numbers.has(number)).reduce((sum, piece) => sum + bytesOf(piece), 0);
  expect(conversation.left.bytes).toBe(left);
  if (turn !== undefined) expect(numbers.has(turn.mark.piece)).toBe(true);
  const calls = heard.flatMap(({ piece }) => (piece.role === "assistant" ? piece.calls.map(({ call }) => call) : []));
  expect(heard.flatMap(({ piece }) => (piece.role === "tool" ? [piece.call] : []))).toEqual(calls);
}
