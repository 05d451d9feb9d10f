// What is known about a rule besides what it says: who made it, and what it decided lately. Pure.
// RW1. Only prompts that are still remembered count: each agent remembers its last few.
import type { Rule } from "../../core/agent/rules.ts";
import type { ListedPrompt, OwnedRule } from "../../wire/rpc/agent.ts";
import { count } from "../words.ts";

/** The beginning of the id of a rule that an answer made (ruleIdFor of core/agent/prompts.ts). */
const BY_ANSWER = "always-";

/** `browserOf`: the name of a browser by its id; undefined if it is not known any more. */
export function makerText({ rule, from }: OwnedRule, browserOf: (id: string) => string | undefined): string {
  if (from === "configuration") return "in the configuration";
  const how = rule.rule_id.startsWith(BY_ANSWER) ? "made by answering a prompt" : "added";
  const device = rule.made?.device;
  if (device === undefined) return rule.made === undefined ? how : `${how} in a shell`;
  return `${how} in ${browserOf(device) ?? "a browser that was signed out"}`;
}

/** RW1. The newest first. */
export function matchesOf({ rule_id }: Rule, closed: readonly ListedPrompt[]): ListedPrompt[] {
  const decided = closed.filter(({ given }) => given?.rule === rule_id);
  return decided.sort((a, b) => (a.since < b.since ? 1 : -1));
}

export function matchText(matches: readonly ListedPrompt[]): string {
  return matches.length === 0
    ? "matched none of the last prompts"
    : `matched ${count(matches.length, "prompt")} lately`;
}

/** What a prompt was about, in a line. */
export function aboutText({ tool, input }: Pick<ListedPrompt, "tool" | "input">): string {
  const texts = typeof input === "object" && input !== null ? Object.values(input) : [input];
  const first = texts.find((value) => typeof value === "string" && value !== "");
  return `${tool} ${typeof first === "string" ? first.replaceAll(/\s*\n\s*/g, " ⏎ ") : JSON.stringify(input)}`;
}
