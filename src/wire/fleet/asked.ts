// What a home asks of one that another host has, and the answer, both sealed: a person's answer to a permission prompt.
import type { Result } from "../../base/result.ts";
import { fitting } from "../check.ts";
import { decodeLine } from "../lines.ts";
import { count, flag, type Infer, json, literal, object, optional, text } from "../shape.ts";

/** `answer`: chosen at random, so a repeat is the same answer (H2 of core/agent/prompts.ts). */
const ASKED = object({
  v: count,
  kind: literal("answer"),
  prompt: text,
  answer: text,
  decision: literal("allow", "deny"),
  message: text,
  always: flag,
});
export type AskedAnswer = Omit<Infer<typeof ASKED>, "v" | "kind">;

const REPLY = object({
  v: count,
  value: optional(json),
  error: optional(object({ code: text, message: text, hint: text })),
});

export function encodeAsked(asked: AskedAnswer): Uint8Array {
  return Buffer.from(JSON.stringify({ v: 1, kind: "answer", ...asked }));
}

/** Undefined: a newer version has written it. */
export function parseAsked(bytes: Uint8Array): AskedAnswer | undefined {
  return fitting(ASKED, decodeLine(new TextDecoder().decode(bytes)));
}

export function encodeReply(reply: Result<unknown>): Uint8Array {
  return Buffer.from(JSON.stringify({ v: 1, ...(reply.ok ? { value: reply.value } : { error: reply.error }) }));
}

/** Undefined: a newer version has written it. */
export function parseReply(bytes: Uint8Array): Result<unknown> | undefined {
  const found = fitting(REPLY, decodeLine(new TextDecoder().decode(bytes)));
  if (found === undefined) return undefined;
  return found.error === undefined ? { ok: true, value: found.value } : { ok: false, error: found.error };
}

/** What a sealed question, and a sealed reply, are (FleetSeal.note). */
export function askNote(home: string, id: string, host: string): readonly string[] {
  return ["ask", home, id, host];
}

export function replyNote(home: string, id: string): readonly string[] {
  return ["reply", home, id];
}
