// The rule that "Always" makes of a prompt: exactly what was asked at first; a person may make it wider.
// RD1. While nothing was edited, it is the rule that `holdfast answer --always` makes: about this input and no other.
// RD2. Once a pattern is edited, only the patterns count: a rule about an exact input would not match anything else.
import { isRecord } from "../../base/json.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { warningsOf } from "../../core/agent/rule-warnings.ts";
import { exactRule, type Rule, whyUnfit } from "../../core/agent/rules.ts";
import type { ListedPrompt } from "../../wire/rpc/agent.ts";

export type RuleDraft = {
  readonly tool: string;
  readonly args: Readonly<Record<string, string>>;
  /** For this agent, or for all. */
  readonly isForAll: boolean;
  readonly isEdited: boolean;
};

/** Undefined if no rule can say exactly this. */
export function draftFor({ tool, input }: Pick<ListedPrompt, "tool" | "input">): RuleDraft | undefined {
  if (!isRecord(input) || tool === "") return undefined;
  const { tool: pattern, args } = exactRule(tool, input);
  return { tool: pattern, args, isForAll: false, isEdited: false };
}

/** The rule to be added with the answer, if it was edited or is for all. The daemon gives it an id of its own. */
export function ruleOf(draft: RuleDraft, prompt: ListedPrompt): Result<Rule> {
  const { tool, args, isEdited } = draft;
  const head = { rule_id: prompt.id, decision: "allow", message: "As answered before." };
  const exact = isRecord(prompt.input) ? exactRule(prompt.tool, prompt.input) : undefined;
  const rule: Rule = isEdited || exact === undefined ? { ...head, tool, args } : { ...head, ...exact }; // RD1, RD2
  const wrong = whyUnfit(rule);
  if (wrong === undefined) return ok(rule);
  return refused(
    "usage",
    `This is not a rule: ${wrong}.`,
    "In a pattern, * is any characters, ? is one, [ab] one of these.",
  );
}

/** What it allows beyond what it seems to. */
export function warningsFor({ tool, args, isEdited }: RuleDraft): string[] {
  return isEdited ? warningsOf({ rule_id: "", decision: "allow", message: "", tool, args }) : [];
}
