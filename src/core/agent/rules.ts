// Permission rules: what is allowed or denied without asking a person.
// P1. The first matching rule decides: an agent's own rules, then those for all, then those of the configuration.
// P2. A broken rule denies what it might be about: a broken tool pattern is about every tool.
// P3. In an allow rule, `*` matches neither a line end nor what joins commands in a shell (; & | < > ` $): `git *` does
//     not allow `git status; rm -rf ~`. `**` matches everything. In a deny rule, `*` matches everything as well.
// P4. Every pattern matches the whole text. A missing argument matches no pattern.

import type { Json } from "../../base/json.ts";
import { isRecord, textOf } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { matches, patternOf, type Width } from "./pattern.ts";
import type { Decision } from "./provider.ts";

export type Rule = {
  readonly rule_id: string;
  /** `allow` or `deny`; anything else is a broken rule (P2): rules also come from files that people write. */
  readonly decision: string;
  /** A pattern for the tool's name: `*` any characters, `?` one, `[ab]` one of these. */
  readonly tool: string;
  /** Patterns for arguments, by name; all must match. */
  readonly args: Readonly<Record<string, string>>;
  /** The message to the agent. */
  readonly message: string;
};

export type RuleVerdict = { readonly decision: Decision; readonly rule: string; readonly message: string };

/** P1. Undefined if no rule matches: a person is asked. */
export function judge(rules: Iterable<Rule>, tool: string, input: Json): RuleVerdict | undefined {
  for (const rule of rules) {
    const verdict = judgeBy(rule, tool, input);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}

function judgeBy(rule: Rule, tool: string, input: Json): RuleVerdict | undefined {
  const { rule_id, decision, message } = rule;
  const broken = whyBroken(rule);
  if (broken !== undefined) {
    const about = patternOf(rule.tool);
    if (about !== undefined && !matches(about, tool, "wide")) return undefined;
    return { decision: "deny", rule: rule_id, message: `Rule ${rule_id} cannot be read: ${broken}` }; // P2
  }
  const width = decision === "allow" ? "narrow" : "wide"; // P3
  if (!fits(rule.tool, tool, width)) return undefined;
  const all = Object.entries(rule.args).every(([name, pattern]) => argumentMatches(input, name, pattern, width));
  if (!all) return undefined;
  return { decision: decision === "allow" ? "allow" : "deny", rule: rule_id, message };
}

/** P4 */
function argumentMatches(input: Json, name: string, pattern: string, width: Width): boolean {
  const value = isRecord(input) ? own(input, name) : undefined;
  return value !== undefined && fits(pattern, textOf(value), width);
}

function fits(pattern: string, text: string, width: Width): boolean {
  const read = patternOf(pattern);
  return read !== undefined && matches(read, text, width);
}

/** What is wrong with a rule; undefined if it is valid. */
export function whyBroken({ decision, tool, args }: Rule): string | undefined {
  if (decision !== "allow" && decision !== "deny") return `"${decision}" is neither allow nor deny`;
  const wrong = [tool, ...Object.values(args)].find((pattern) => patternOf(pattern) === undefined);
  return wrong === undefined ? undefined : `"${wrong}" is not a pattern`;
}
