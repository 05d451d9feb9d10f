// The conversation of a bare LLM, which keeps nothing itself: the log is the only copy (AG-6).
import type { Json } from "../workflow/json.ts";

export type LlmCall = { readonly call: string; readonly tool: string; readonly args: Json };

export type Said =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string; readonly calls: readonly LlmCall[] }
  | { readonly role: "tool"; readonly call: string; readonly text: string };
