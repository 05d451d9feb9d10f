// A program on pipes that speaks our own small protocol, a JSON object a line: for pipelines and tests (docs/AGENTS.md
// describes it).
import type { Codec, Decoded, Input, ProviderEvent, SessionFacts, Usage } from "../../core/agent/provider.ts";
import { amountAt, countAt, type Fields, readObject, textAt } from "./json-line.ts";

export const scripted: Codec = {
  launch: ({ recipe }) => ({ argv: [...recipe.command, ...recipe.flags], env: {} }),
  encode: (input, facts) => [JSON.stringify(messageOf(input, facts))],
  decode: (line): Decoded => {
    const message = readObject(line);
    if (message?.["type"] === "partial") return { events: [], replies: [], partial: textAt(message, "text") ?? "" };
    const event = message && eventOf(message);
    return { events: event === undefined ? [] : [event], replies: [] };
  },
};

function messageOf(input: Input, { session, resume, systemPrompt }: SessionFacts): object {
  if (input.kind === "open") return { type: "open", session, resume, instructions: systemPrompt };
  if (input.kind === "prompt") return { type: "prompt", id: input.uuid, text: input.text };
  if (input.kind === "result") return { type: "result", call: input.call, ok: input.ok, result: input.result };
  if (input.kind === "interrupt") return { type: "interrupt" };
  const { request, decision, message } = input;
  return { type: "answer", request, decision, message };
}

function usageOf(message: Fields): Usage {
  const [cached, cost] = [countAt(message, "cached_tokens"), amountAt(message, "cost_usd")];
  return {
    input_tokens: countAt(message, "input_tokens") ?? 0,
    output_tokens: countAt(message, "output_tokens") ?? 0,
    ...(cached !== undefined && { cached_tokens: cached }),
    ...(cost !== undefined && { cost_usd: cost }),
  };
}

/** Undefined if it is unknown. */
function eventOf(message: Fields): ProviderEvent | undefined {
  const text = (name: string) => textAt(message, name) ?? "";
  switch (textAt(message, "type")) {
    case "text":
      return { kind: "text", text: text("text") };
    case "ask":
      return { kind: "ask", request: text("request"), tool: text("tool"), input: message["input"] ?? null };
    case "withdrawn":
      return { kind: "withdrawn", request: text("request") };
    case "call":
      return { kind: "call", call: text("call"), tool: text("tool"), args: message["args"] ?? {} };
    case "done":
      return { kind: "done", response: text("response") };
    case "failed":
      return { kind: "failed", reason: text("reason"), retryable: message["retryable"] === true };
    case "limit":
      return { kind: "limit", until: text("until") };
    case "retrying": {
      const count = (name: string) => countAt(message, name) ?? 0;
      const [attempt, of, delay_ms] = [count("attempt"), count("of"), count("delay_ms")];
      return { kind: "retrying", reason: text("reason"), attempt, of, delay_ms };
    }
    case "usage":
      return { kind: "usage", usage: usageOf(message) };
    default:
      return undefined;
  }
}
