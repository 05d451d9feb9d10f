// What an OpenAI-compatible endpoint says when it refuses a request.
// OE1. Whether a conversation is too long is read off the error's code or text, and so are the numbers of tokens in it:
//      endpoints have no other way to say it.
import type { ContextLimit, ProviderEvent } from "../../core/agent/provider.ts";
import { countAt, type Fields, fieldsAt, readObject, textAt } from "./json-line.ts";

export type RefusedRequest = {
  readonly failure: ProviderEvent & { readonly kind: "failed" };
  /** When it may be retried, if the provider says so. */
  readonly afterMs: number | undefined;
};

type Header = (name: string) => string | null;

/** What a refused request means. `now`: in milliseconds. */
export function refusalOf(status: number, body: string, header: Header, now: number): RefusedRequest {
  const found = readObject(body);
  const text = found === undefined ? body.slice(0, 500) : errorText(found);
  const context = status === 429 || status >= 500 ? undefined : contextOf(found ?? {}, text);
  const retryable = context === undefined && (status === 408 || status === 409 || status === 429 || status >= 500);
  const failure: RefusedRequest["failure"] = {
    ...{ kind: "failed", reason: `${status}: ${text}`, retryable },
    ...(context !== undefined && { context }),
    ...(status === 429 && { passing: true as const }),
  };
  return { failure, afterMs: retryable ? waitOf(header, now) : undefined };
}

/** Seconds, or a date; OpenAI also says it in milliseconds. */
function waitOf(header: Header, now: number): number | undefined {
  const [exact, text] = [header("retry-after-ms"), header("retry-after")];
  if (exact !== null && isNumber(exact)) return Number(exact);
  if (text === null) return undefined;
  if (isNumber(text)) return Number(text) * 1000;
  const date = Date.parse(/^[A-Z][a-z]{2},? /.test(text) ? text : "");
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function isNumber(text: string): boolean {
  return /^\d{1,9}(\.\d+)?$/.test(text);
}

export function errorText(found: Fields): string {
  const error = found["error"];
  return typeof error === "string" ? error : (textAt(fieldsAt(found, "error"), "message") ?? "The provider failed.");
}

const TOO_LONG: readonly string[] = ["context_length_exceeded", "exceed_context_size_error"];
const TOO_LONG_WORDS =
  /(maximum|available) context (length|size|window)|prompt is too long|exceeds the (context|maximum number of tokens)/i;
const NUMBER = "(\\d[\\d,]{2,11})";
/** OpenAI, vLLM and OpenRouter; llama.cpp; Anthropic; Google: each with the number of the limit. */
const LIMITS = ["maximum context length is", "available context size \\(", "tokens >", "tokens allowed \\("];
const USED = ["resulted in", "you requested (?:about )?", "the request \\(", "too long:", "input token count \\("];

/** OE1 */
export function contextOf(found: Fields, text: string): ContextLimit | undefined {
  const error = fieldsAt(found, "error");
  const names = [textAt(error, "code"), textAt(error, "type")];
  const isNamed = names.some((name) => name !== undefined && TOO_LONG.includes(name));
  if (!isNamed && !TOO_LONG_WORDS.test(text)) return undefined;
  const limit = countAt(error, "n_ctx") ?? numberAfter(text, LIMITS);
  const used = countAt(error, "n_prompt_tokens") ?? numberAfter(text, USED);
  return { ...(limit !== undefined && { limit }), ...(used !== undefined && { used }) };
}

function numberAfter(text: string, words: readonly string[]): number | undefined {
  const found = new RegExp(`(?:${words.join("|")})\\s*${NUMBER}`, "i").exec(text)?.[1];
  return found === undefined ? undefined : Number(found.replaceAll(",", ""));
}
