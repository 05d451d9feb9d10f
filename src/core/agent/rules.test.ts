import { expect, test } from "bun:test";
import type { Json } from "../../base/json.ts";
import { warningsOf } from "./rule-warnings.ts";
import { exactly, exactRule, judge, type Rule, whyBroken, whyUnfit } from "./rules.ts";

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

test("J1 a star in an allow rule matches no option, nor what a shell turns into one", () => {
  const git = rule("allow", "Bash", { command: "git *" });
  const asks = [
    ...["-c alias.x='!evil' x", "log --output=/etc/x", '"-c" x', "'-c' x", "\\-c x", '""-c x', "\t-c x", "{-c,x}"],
    ...["{x,-c}", "?c x", "*", "[-]c x", '""?c x', "{?c,x}", "() (evil)"],
    ...["log\u0000x", "log\u000bx", "log\u001b[A", "log\u0085x"],
  ];
  for (const rest of asks) expect([rest, said([git], "Bash", bash(`git ${rest}`))]).toEqual([rest, "ask"]);
  for (const rest of ["status", "log a-b c..d", "commit x=-y", "diff HEAD~1 src/*.ts", 'log "a b"'])
    expect([rest, said([git], "Bash", bash(`git ${rest}`))]).toEqual([rest, "allow"]);
  const written = rule("allow", "Bash", { command: "git log --oneline -[0-9]*" });
  expect([
    said([written], "Bash", bash("git log --oneline -9 x")),
    said([written], "Bash", bash("git log -p")),
  ]).toEqual([...["allow", "ask"]]);
  expect(said([rule("allow", "Bash", { command: "git **" })], "Bash", bash("git -c x"))).toBe("allow");
  expect(said([rule("allow", "Grep", { pattern: "*" })], "Grep", { pattern: "--pre=evil" })).toBe("ask");
});

test("J1 a star in an allow rule does not climb out of a directory", () => {
  const write = rule("allow", "Write", { file_path: "/srv/*" });
  const paths = ["/srv/a/b..c", "/srv/..", "/srv/../etc/passwd", "/srv/a/../../etc/passwd"];
  expect(paths.map((file_path) => said([write], "Write", { file_path }))).toEqual(["allow", "ask", "ask", "ask"]);
});

test("P5 a rule about an exact input matches it in any order of its names, and nothing else", () => {
  const inputs: { readonly [name: string]: Json }[] = [
    { command: "git status", timeout: 5 },
    { command: ["bash", "-lc", "git status; ls *"], cwd: "/w" },
    { title: "ls -la", content: [{ type: "diff", path: "/a", newText: "x\ny" }], locations: [] },
    { file_path: "/a[1]", content: "" },
    { n: null },
    {},
  ];
  for (const input of inputs) {
    const pinned: Rule = { rule_id: "r", decision: "allow", message: "", ...exactRule("T*[x", input) };
    const backwards = Object.fromEntries(Object.entries(input).reverse());
    expect([whyUnfit(pinned), said([pinned], "T*[x", input), said([pinned], "T*[x", backwards)]).toEqual([
      ...[undefined, "allow", "allow"],
    ]);
    const others: readonly Json[] = [{ ...input, more: "" }, { ...input, command: "git push" }, [], "", null];
    for (const other of others) expect([other, said([pinned], "T*[x", other)]).toEqual([other, "ask"]);
    expect(said([pinned], "Tool[x", input)).toBe("ask");
  }
  const five = { rule_id: "r", decision: "allow", message: "", ...exactRule("Bash", { timeout: 5 }) };
  expect(said([five], "Bash", { timeout: "5" })).toBe("ask");
  expect(whyUnfit({ ...five, input: '{"b":1,"a":2}' })).toContain("canonical");
  expect(whyUnfit({ ...five, input: "{" })).toContain("canonical");
});

test("P4 nested arguments are matched as JSON, in whatever order their names come", () => {
  const nested = rule("allow", "Edit", { edit: '{"a":*,"b":2}', list: '[[]"x",*]' });
  expect(said([nested], "Edit", { edit: { b: 2, a: 1 }, list: ["x", "y"] })).toBe("allow");
  expect(said([nested], "Edit", { edit: { b: 3, a: 1 }, list: ["x", "y"] })).toBe("ask");
  expect(said([nested], "Edit", { edit: { b: 2, a: 1 }, list: ["x", "-y"] })).toBe("ask");
});

test("RW1 a rule is warned about if it allows a program that runs others, any program, or any use", () => {
  const warned = (command: string) => warningsOf(rule("allow", "Bash", { command })).join(" ");
  for (const runner of ["sh *", "/usr/bin/env *", "xargs *", "find *", "git *", "FOO=1 sudo ls", '[[]"bash","-lc",*]'])
    expect([runner, warned(runner)]).toEqual([runner, expect.stringContaining("can run other programs")]);
  for (const open of ["*", "** x", "gi? status"]) expect(warned(open)).toContain("which program");
  expect([warned("ls *"), warned("cat /etc/hosts")]).toEqual(["", ""]);
  expect(warningsOf(rule("allow", "Bash"))).toEqual([expect.stringContaining("every use of Bash")]);
  expect(warningsOf(rule("deny", "Bash", { command: "sh *" }))).toEqual([]);
  expect(warningsOf({ ...rule("allow", "Bash"), ...exactRule("Bash", bash("sh x")) })).toEqual([]);
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
