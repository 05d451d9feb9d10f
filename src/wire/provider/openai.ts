// Any endpoint that is compatible with OpenAI's chat completions: the request, and the stream of its answer.
// O1. The request is made of the conversation alone, so that the same conversation always makes the same request.
// O2. An answer counts only once it is complete (`finish_reason`, then `[DONE]` or the end of the stream).
// O3. A line of the stream, an answer as a whole, its calls, and everything around them are bounded; more is a failure.
// O4. Nothing is read after `[DONE]` or a failure: an endpoint could go on sending for ever.

import { type Json, parseJson, textOf } from "../../base/json.ts";
import type { Said, SaidCall } from "../../core/agent/conversation.ts";
import type { ProviderEvent, Recipe, Usage } from "../../core/agent/provider.ts";
import { amountAt, countAt, type Fields, fieldsAt, numberAt, objectsAt, readObject, textAt } from "./json-line.ts";
import { contextOf, errorText } from "./openai-error.ts";

/** One of our tools, as it is described to a model. */
export type ToolSchema = { readonly name: string; readonly description: string; readonly schema: Json };

/** O3. Ten times the longest answers of today's models. */
const MAX_CHARS = 4 << 20;
/** O3. All that is sent, with the frame around each word: a word has a few characters, its frame a few hundred. */
const MAX_SENT = 64 * MAX_CHARS;
/** O3. As many as are remembered (MAX_CALLS of core/agent/limits.ts). */
const MAX_CALLS = 128;
/** O3. It is written into each event about the call. */
const MAX_CALL_ID = 256;

/** `forgotten`: how many messages before these are left out. */
export type Asking = {
  readonly recipe: Recipe;
  readonly instructions: string;
  readonly said: readonly Said[];
  readonly forgotten: number;
  readonly tools: readonly ToolSchema[];
  /** Whether the tokens are to be counted. */
  readonly isCounted: boolean;
};

/** O1 */
export function requestOf({ recipe, instructions, said, forgotten, tools, isCounted }: Asking): Json {
  const orders = [instructions, forgotten === 0 ? "" : forgottenNote(forgotten)].filter((text) => text !== "");
  const system = orders.length === 0 ? [] : [{ role: "system", content: orders.join("\n\n") }];
  const offered = tools.map(({ name, description, schema }) => {
    return { type: "function", function: { name, description, parameters: schema } };
  });
  return {
    model: recipe.model ?? "",
    stream: true,
    ...(isCounted && { stream_options: { include_usage: true } }),
    messages: [...system, ...said.map(messageOf)],
    ...(offered.length > 0 && { tools: offered }),
    ...(recipe.options["temperature"] !== undefined && { temperature: recipe.options["temperature"] }),
  };
}

function forgottenNote(pieces: number): string {
  return `The first ${pieces} messages of this conversation are left out, because all of it is too long for you.`;
}

function messageOf(said: Said): Json {
  if (said.role === "user") return { role: "user", content: said.text };
  if (said.role === "tool") return { role: "tool", tool_call_id: said.call, content: textOf(said.result) };
  const calls = said.calls.map(({ call, tool, args }) => {
    return { id: call, type: "function", function: { name: tool, arguments: JSON.stringify(args) } };
  });
  return { role: "assistant", content: said.text, ...(calls.length > 0 && { tool_calls: calls }) };
}

export type Answer =
  | {
      readonly kind: "said";
      readonly text: string;
      readonly calls: readonly SaidCall[];
      readonly usage: Usage | undefined;
    }
  | (ProviderEvent & { readonly kind: "failed" });

type Half = { id: string; name: string; text: string };

/** Reads the stream, however it is cut into pieces. */
export class AnswerReader {
  #rest = "";
  #text = "";
  #fresh = "";
  #finished = false;
  #over = false;
  #sent = 0;
  #failure: Answer | undefined;
  #usage: Usage | undefined;
  readonly #calls = new Map<number, Half>();
  /** Of the text and of the calls. */
  #chars = 0;

  /** The text that came since the last call. */
  takeNew(): string {
    const text = this.#fresh;
    this.#fresh = "";
    return text;
  }

  /** O4. Whether nothing more is to be read. */
  get isOver(): boolean {
    return this.#over;
  }

  feed(piece: string): void {
    if (this.#over) return;
    this.#sent += piece.length;
    this.#rest += piece;
    if (piece.includes("\n")) this.#takeLines();
    const isLong = this.#rest.length + this.#chars > MAX_CHARS || this.#sent > MAX_SENT;
    if (isLong || this.#calls.size > MAX_CALLS) this.#fail("The answer is too long.", false); // O3
  }

  #takeLines(): void {
    const lines = this.#rest.split(/\r?\n/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines)
      if (!this.#over && line.startsWith("data:")) this.#take(line.slice("data:".length).trim());
  }

  /** O2 */
  end(): Answer {
    if (this.#failure !== undefined) return this.#failure;
    if (!this.#finished) return { kind: "failed", reason: "The answer broke off.", retryable: true };
    const calls: SaidCall[] = [];
    for (const { id, name, text } of this.#calls.values()) {
      const args = parseJson(text === "" ? "{}" : text);
      if (!args.ok) return { kind: "failed", reason: `The arguments for ${name} are no JSON.`, retryable: true };
      calls.push({ call: id, tool: name, args: args.value });
    }
    return { kind: "said", text: this.#text, calls, usage: this.#usage };
  }

  #take(data: string): void {
    if (data === "[DONE]") this.#over = true; // O4
    const chunk = readObject(data);
    if (chunk === undefined) return;
    if (chunk["error"] !== undefined) this.#refuse(chunk);
    this.#usage = usageOf(fieldsAt(chunk, "usage")) ?? this.#usage;
    for (const choice of objectsAt(chunk, "choices")) this.#choice(choice);
  }

  #refuse(chunk: Fields): void {
    const context = contextOf(chunk, errorText(chunk));
    this.#fail(errorText(chunk), context === undefined);
    if (context !== undefined && this.#failure?.kind === "failed") this.#failure = { ...this.#failure, context };
  }

  #choice(choice: Fields): void {
    const delta = fieldsAt(choice, "delta");
    const text = this.#counted(textAt(delta, "content"));
    this.#text += text;
    this.#fresh += text;
    for (const call of objectsAt(delta, "tool_calls")) this.#call(call);
    if (textAt(choice, "finish_reason") !== undefined) this.#finished = true;
  }

  #call(call: Fields): void {
    const at = numberAt(call, "index") ?? this.#calls.size;
    const half = this.#calls.get(at) ?? { id: "", name: "", text: "" };
    half.id ||= this.#counted(textAt(call, "id"));
    if (half.id.length > MAX_CALL_ID) this.#fail("The id of a call is too long.", false); // O3
    half.name ||= this.#counted(textAt(fieldsAt(call, "function"), "name"));
    half.text += this.#counted(textAt(fieldsAt(call, "function"), "arguments"));
    this.#calls.set(at, half);
  }

  /** O3 */
  #counted(text = ""): string {
    this.#chars += text.length;
    return text;
  }

  #fail(reason: string, retryable: boolean): void {
    this.#failure ??= { kind: "failed", reason, retryable };
    this.#over = true; // O4
  }
}

/** What OpenAI and OpenRouter send with the end of an answer: an input that was cached is part of the input. */
function usageOf(found: Fields): Usage | undefined {
  const [input, output] = [countAt(found, "prompt_tokens"), countAt(found, "completion_tokens")];
  if (input === undefined || output === undefined) return undefined;
  const cached = countAt(fieldsAt(found, "prompt_tokens_details"), "cached_tokens");
  const cost = amountAt(found, "cost");
  return {
    ...{ input_tokens: input, output_tokens: output },
    ...(cached !== undefined && { cached_tokens: cached }),
    ...(cost !== undefined && { cost_usd: cost }),
  };
}
