import { expect, test } from "bun:test";
import { judge } from "../../core/agent/rules.ts";
import type { ListedPrompt } from "../../wire/rpc/agent.ts";
import { draftFor, type RuleDraft, ruleOf, warningsFor } from "./rule-draft.ts";

const PROMPT: ListedPrompt = {
  ...{ id: "p", agent: "a", name: "ann", tool: "Bash", input: { command: "git push *" }, since: "", deadline: "" },
  ...{ state: "open", stage: "Pending" },
};

function draft(): RuleDraft {
  const made = draftFor(PROMPT);
  if (made === undefined) throw new Error("a rule can be made");
  return made;
}

test("RD1 an untouched draft allows exactly what was asked", () => {
  const rule = ruleOf(draft(), PROMPT);
  const rules = rule.ok ? [rule.value] : [];
  expect(judge(rules, "Bash", { command: "git push *" })?.decision).toBe("allow");
  expect(judge(rules, "Bash", { command: "git push x" })).toBeUndefined();
  expect(judge(rules, "Bash", { command: "git push *", more: 1 })).toBeUndefined();
  expect(draftFor({ tool: "Bash", input: "text" })).toBeUndefined();
});

test("RD2 an edited draft allows what its patterns say, and a broken one is refused", () => {
  const edited = { ...draft(), args: { command: "git push **" }, isEdited: true };
  const rule = ruleOf(edited, PROMPT);
  expect(judge(rule.ok ? [rule.value] : [], "Bash", { command: "git push x" })?.decision).toBe("allow");
  expect(ruleOf({ ...edited, args: { command: "git [" } }, PROMPT).ok).toBe(false);
});

test("a draft that allows more than it seems to is warned about", () => {
  expect(warningsFor(draft())).toEqual([]);
  expect(warningsFor({ ...draft(), tool: "**", args: {}, isEdited: true })).not.toEqual([]);
});
