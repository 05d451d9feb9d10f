import { expect, test } from "bun:test";
import { ok } from "../../base/result.ts";
import { pickPrompt, pickRule } from "./find.ts";

const [open, other, closed] = ["aaaaaaaa11", "aaaaaaaa22", "bbbbbbbb33"].map((id) => ({ id }));
const prompts = (isClosed: boolean) => [isClosed ? [closed] : [open, other]].flat().flatMap((one) => one ?? []);
const codeOf = (key: string) => {
  const found = pickPrompt(prompts, key);
  return found.ok ? found.value.id : found.error.code;
};

test("FA4 a prompt is meant by its id or 8 characters of it, and a closed one is found after the open ones", () => {
  expect([codeOf("aaaaaaaa11"), codeOf("aaaaaaaa2"), codeOf("bbbbbbbb")]).toEqual([
    "aaaaaaaa11",
    "aaaaaaaa22",
    "bbbbbbbb33",
  ]);
  expect([codeOf("aaaaaaaa"), codeOf("aaaaaaa"), codeOf("cccccccc"), codeOf("")]).toEqual([
    "ambiguous",
    "usage",
    "unknown",
    "usage",
  ]);
  expect(pickPrompt(() => [{ id: "p1" }], "p1")).toEqual(ok({ id: "p1" })); // Whole, if short.
});

test("FA4 a rule is meant by the beginning of its id", () => {
  const rules = ["abc1", "abd2"].map((rule_id) => ({ rule: { rule_id } }));
  const found = ["abc", "ab", "x"].map((key) => pickRule(rules, key));
  expect(found.map((one) => (one.ok ? one.value.rule.rule_id : one.error.code))).toEqual([
    "abc1",
    "ambiguous",
    "unknown",
  ]);
});
