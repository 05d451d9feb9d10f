// Permission rules: what is allowed or denied without asking a person.
// P1. The first matching rule decides: an agent's own rules, then those for all, then those of the configuration. Those
//     of its ancestors are asked before (H5 of prompts.ts).
// P2. A broken rule denies what it might be about: a broken tool pattern is about every tool.
// P3. In an allow rule, `*` matches neither a line end nor what joins commands in a shell (; & | < > ` $), nor an
//     option: `git *` allows neither `git status; rm -rf ~` nor `git -c alias.x='!rm -rf ~' x` (J1 of pattern.ts). `**`
//     matches everything. In a deny rule, `*` matches everything as well.
// P4. Every pattern matches the whole text. A missing argument matches no pattern. A value that is not a text is
//     matched as JSON, as it was given and with its names in order.
// P5. A rule with an `input` is about exactly this input: the same names with the same values, and no other.

import { canonical, isRecord, type Json, jsonIn, textOf } from "../../base/json.ts";
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
  /** P5. As canonical JSON (base/json.ts); absent: whatever the arguments are. */
  readonly input?: string;
  /** When it was added, and in which browser (devices.ts); the fold of its event sets it, for people. */
  readonly made?: { readonly at: string; readonly device?: string };
};

export type RuleVerdict = { readonly decision: Decision; readonly rule: string; readonly message: string };

/** P1. Undefined if no rule matches: a person is asked. */
export function judge(rules: Iterable<Rule>, tool: string, input: Json): RuleVerdict | undefined {
  let whole: string | undefined;
  for (const rule of rules) {
    if (rule.input !== undefined) whole ??= canonical(input);
    if (rule.input !== undefined && rule.input !== whole) continue; // P5
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
  if (value === undefined) return false;
  return fits(pattern, textOf(value), width) || (typeof value === "object" && fits(pattern, orderedText(value), width));
}

function orderedText(value: Json): string {
  return typeof value === "object" && value !== null ? canonical(value) : textOf(value);
}

function fits(pattern: string, text: string, width: Width): boolean {
  const read = patternOf(pattern);
  return read !== undefined && matches(read, text, width);
}

/** A rule about exactly this (P5). Each argument has a pattern of its own besides, for people and older versions. */
export function exactRule(tool: string, input: Arguments): Pick<Rule, "tool" | "args" | "input"> {
  const patterns = Object.entries(input).map(([name, value]) => [name, exactly(orderedText(value))] as const);
  const args = Object.fromEntries(patterns.filter(([, pattern]) => pattern !== "")); // An empty one is not a pattern.
  return { tool: exactly(tool), args, input: canonical(input) };
}

type Arguments = { readonly [name: string]: Json };

/** A pattern that matches only this text. */
export function exactly(text: string): string {
  return text.replace(/[*?[]/g, "[$&]");
}

/** What is wrong with a new rule; undefined if it can be added. Rules that were added are not read as JSON again. */
export function whyUnfit(rule: Rule): string | undefined {
  const broken = whyBroken(rule);
  if (broken !== undefined || rule.input === undefined) return broken;
  const value = jsonIn(rule.input);
  return value !== undefined && canonical(value) === rule.input ? undefined : "its input is not canonical JSON";
}

/** What is wrong with a rule; undefined if it is valid. */
export function whyBroken({ decision, tool, args }: Rule): string | undefined {
  if (decision !== "allow" && decision !== "deny") return `"${decision}" is neither allow nor deny`;
  const wrong = [tool, ...Object.values(args)].find((pattern) => patternOf(pattern) === undefined);
  return wrong === undefined ? undefined : `"${wrong}" is not a pattern`;
}
