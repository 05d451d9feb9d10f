import { expect, test } from "bun:test";
import { exactly } from "./prompts.ts";
import { judge, type Rule, whyBroken } from "./rules.ts";

const rule = (decision: string, tool: string, args: Rule["args"] = {}, rule_id = `${decision} ${tool}`): Rule => ({
  ...{ rule_id, decision, tool, args, message: "" },
});

const bash = (command: string) => ({ command });
const said = (rules: readonly Rule[], tool: string, input: Parameters<typeof judge>[2]): string =>
  judge(rules, tool, input)?.decision ?? "ask";

test("PR-1(b) the first rule that matches decides, and no rule means a person is asked", () => {
  const rules = [rule("deny", "Bash", { command: "git push*" }), rule("allow", "Bash", { command: "git *" })];
  expect(["git status", "git push -f", "ls"].map((command) => said(rules, "Bash", bash(command)))).toEqual([
    ...["allow", "deny", "ask"],
  ]);
  expect(said(rules, "Edit", bash("git status"))).toBe("ask");
});

test("PR-1(b) patterns match the whole text: *, ?, [ab], and every other character is itself", () => {
  const allows = (pattern: string, tool: string) => said([rule("allow", pattern)], tool, {}) === "allow";
  expect([allows("mcp__*__read", "mcp__files__read"), allows("mcp__*", "xmcp__a"), allows("R?ad", "Read")]).toEqual([
    ...[true, false, true],
  ]);
  expect([allows("[RW]*", "Write"), allows("[RW]*", "Edit"), allows("a.c", "abc"), allows("a+", "a+")]).toEqual([
    ...[true, false, false, true],
  ]);
  for (const text of ["a*b?[c]", "[", "x", "*"]) {
    expect([allows(exactly(text), text), allows(exactly(text), `${text}y`)]).toEqual([true, false]);
  }
});

test("PR-1(b) a star in an allow rule matches one command; in a deny rule it matches everything", () => {
  const [allow, deny] = [rule("allow", "Bash", { command: "git *" }), rule("deny", "Bash", { command: "*rm *" })];
  for (const command of ["git a; rm x", "git a && b", "git $(x)", "git a\nb", "git `x`", "git a > b"])
    expect([said([allow], "Bash", bash(command)), command]).toEqual(["ask", command]);
  expect(said([deny], "Bash", bash("ls\nrm x"))).toBe("deny");
  expect(said([rule("allow", "Bash", { command: "**" })], "Bash", bash("a; b"))).toBe("allow");
});

test("PR-1(b) a broken rule denies what it might be about, and nothing else", () => {
  for (const broken of [
    rule("alow", "Bash"),
    rule("allow", "Bash", { command: "[x" }),
    rule("allow", "Bash", { command: "" }),
  ]) {
    expect(whyBroken(broken)).toBeDefined();
    expect([said([broken], "Bash", bash("ls")), said([broken], "Edit", {})]).toEqual(["deny", "ask"]);
    expect(judge([broken], "Bash", {})?.message).toContain("cannot be read");
  }
  expect(said([rule("allow", "[x")], "Anything", {})).toBe("deny");
});

test("a missing argument matches nothing, and one that is not a text is matched as JSON", () => {
  expect(said([rule("allow", "*", { path: "*" })], "Edit", {})).toBe("ask");
  expect(said([rule("allow", "*", { path: "*" })], "Edit", "text")).toBe("ask");
  expect(said([rule("allow", "*", { n: "3", list: "[[]1,2]" })], "Edit", { n: 3, list: [1, 2] })).toBe("allow");
});

test("J2 no text makes a pattern slow", () => {
  const stars = rule("deny", "*", { text: "*a".repeat(20) });
  expect(said([stars], "Edit", { text: "a".repeat(5000) })).toBe("deny");
  expect(said([stars], "Edit", { text: `${"a".repeat(5000)}b` })).toBe("ask");
});
