// What a notification says.
// NM1. It contains what the prompt itself shows and nothing else, and only if all of it fits: otherwise it says where
//      to look. So nobody allows what they have not seen.
// NM2. Whoever reads it sees every character: nothing in it can hide or reverse a part of the rest.
import { isRecord, type Json } from "../../base/json.ts";
import { plainLine } from "../../base/visible.ts";
import type { Over } from "./outbox.ts";

/**
 * What the service worker, the operator's command and URL get. `tag`: one notification is shown for each. It is the id
 * of the prompt; if that is asked again it has another one, since nothing is shown after the end of a tag.
 */
export type Message = {
  readonly v: 1;
  readonly kind: "question" | "end" | "test";
  readonly tag: string;
  readonly title: string;
  readonly body: string;
  /** Null in a test. */
  readonly prompt: PromptFacts | null;
  /** What the notification itself offers: nothing unless all of the input is in it, and the device may answer. */
  readonly actions: readonly ("allow" | "deny")[];
};

export type PromptFacts = {
  readonly id: string;
  readonly agent: string;
  readonly name: string;
  readonly tool: string;
  readonly decision: Over["decision"];
};

/** A question as far as it is shown. */
export type Question = Omit<PromptFacts, "decision"> & Asked & { readonly input: Json };
/** `again`: how often it was asked again. */
type Asked = { readonly again?: number };

/** As much as a phone shows of a notification. */
const MAX_LINES = 4;
const MAX_BODY = 240;
const MAX_TITLE = 100;
const ELSEWHERE = "There is more to see than fits here: open the page, or run `holdfast prompts`.";

export function questionMessage({ input, again, ...facts }: Question, mayAnswer: boolean): Message {
  const whole = wholeOf(input);
  return {
    ...{ v: 1, kind: "question", tag: tagOf(facts.id, again), title: cut(`${facts.name} asks for ${facts.tool}`) },
    body: whole ?? ELSEWHERE, // NM1
    prompt: { ...facts, tool: cut(facts.tool), decision: null },
    actions: whole !== undefined && mayAnswer ? ["allow", "deny"] : [],
  };
}

export function endMessage({ id, agent, name, tool, again }: PromptFacts & Asked, { decision, how }: Over): Message {
  const done = decision === "allow" ? "allowed" : "denied";
  const title = decision === null ? `${name} no longer asks for ${tool}` : `${name}: ${tool} was ${done}`;
  return {
    ...{ v: 1, kind: "end", tag: tagOf(id, again), title: cut(title), body: plainLine(how) },
    prompt: { id, agent, name, tool, decision },
    actions: [],
  };
}

function tagOf(id: string, again: number | undefined): string {
  return again === undefined ? id : `${id}-${again}`;
}

export function testMessage(): Message {
  const body = "Holdfast calls you here when an agent waits for your answer.";
  return { v: 1, kind: "test", tag: "test", title: "A test of Holdfast", body, prompt: null, actions: [] };
}

/** One line for each field; undefined if it does not fit (NM1, NM2). */
function wholeOf(input: Json): string | undefined {
  const lines = isRecord(input)
    ? Object.entries(input).map(
        ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
      )
    : [typeof input === "string" ? input : JSON.stringify(input)];
  const text = lines.map(plainLine).join("\n");
  return lines.length <= MAX_LINES && text.length <= MAX_BODY ? text : undefined;
}

function cut(text: string): string {
  const line = plainLine(text);
  return line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1)}…`;
}
