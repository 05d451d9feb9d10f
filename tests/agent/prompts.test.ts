// Permission prompts: opened, decided by rules, answered once, kept until delivered, and recovered after a crash.
import { expect, test } from "bun:test";
import type { Json } from "../../src/base/json.ts";
import { cells, unreachable } from "../../src/base/machine.ts";
import { RULE_BOOK } from "../../src/core/agent/agent.ts";
import { derivedId } from "../../src/core/agent/derive.ts";
import { inputsFrom } from "../../src/core/agent/effects.ts";
import { promptMachine, stageOf } from "../../src/core/agent/prompt-machine.ts";
import { listedPrompts } from "../../src/wire/rpc/listed-agent.ts";
import { AgentFixture, CHILD } from "./house.ts";

const DAY = 24 * 3_600_000;
const ASK = { kind: "ask", request: "r1", tool: "Bash", input: { command: "rm -rf x" } } as const;

function asked(settings = {}): { readonly fixture: AgentFixture; readonly prompt: string } {
  const fixture = new AgentFixture();
  fixture.create("a", { settings });
  fixture.send("a", "m1");
  fixture.start("a");
  fixture.says("a", ASK);
  return { fixture, prompt: fixture.agent("a").prompts[0]?.id ?? "" };
}

const answer = (prompt: string, decision: "allow" | "deny" = "allow", always = false, answer = decision as string) =>
  ({ kind: "answer", id: "a", prompt, answer, decision, message: "fine", always }) as const;
const rule = (rule_id: string, decision: string, tool: string, args = {}) => ({
  rule_id,
  decision,
  tool,
  args,
  message: "",
});

test("every state of a prompt can be reached, and an answer that was lost leads nowhere", () => {
  expect(unreachable(promptMachine)).toEqual([]);
  expect(cells(promptMachine).filter(({ state, next }) => state === "Lost" && next !== undefined)).toEqual([]);
});

test("PR-1(a,c) a request becomes a prompt that waits for a person, seven days from now", () => {
  const { fixture, prompt } = asked();
  expect([fixture.state("a"), fixture.tree.askerOf(prompt), fixture.tree.openPrompts]).toEqual([
    "waiting",
    "a",
    [prompt],
  ]);
  const [open] = fixture.agent("a").prompts;
  expect([open?.since, open?.deadline]).toEqual([fixture.at, new Date(fixture.now + 7 * DAY).toISOString()]);
  expect(fixture.effects("a")).toEqual([{ kind: "timer", id: "a", at: open?.deadline ?? "" }]);
});

test("PR-1(b) a rule answers at once: an agent's own first, then those for all, then the configuration's", () => {
  const fixture = new AgentFixture({ rules: [rule("c", "deny", "*")] });
  fixture.create("a");
  fixture.send("a", "m1");
  fixture.start("a");
  fixture.do({ kind: "rule-add", id: RULE_BOOK, rule: rule("g", "deny", "Bash", { command: "rm *" }) });
  fixture.do({ kind: "rule-add", id: "a", rule: rule("o", "allow", "Bash", { command: "rm -rf x" }) });
  fixture.do({ kind: "rule-add", id: RULE_BOOK, rule: rule("h", "allow", "Read") });
  fixture.says(
    "a",
    ASK,
    { ...ASK, request: "r2", input: { command: "rm y" } },
    { ...ASK, request: "r3", tool: "Edit" },
  );
  fixture.says("a", { ...ASK, request: "r4", tool: "Read" });
  const states = fixture
    .agent("a")
    .prompts.map(({ state }) => ("decision" in state ? `${state.decision} ${state.by}` : state.kind));
  expect(states).toEqual(["allow rule", "deny rule", "deny rule", "allow rule"]);
  expect(fixture.state("a")).toBe("working");
  fixture.do({ kind: "rule-remove", id: RULE_BOOK, rule: "g" });
  expect(fixture.refusal({ kind: "rule-remove", id: RULE_BOOK, rule: "g" })).toBe("unknown");
  expect(fixture.refusal({ kind: "rule-add", id: "a", rule: rule("o", "allow", "*") })).toBe("id-taken");
  expect(fixture.refusal({ kind: "rule-add", id: "a", rule: rule("x", "maybe", "*") })).toBe("bad-rule");
});

test("PR-1(b) Claude Code does not ask about our own tools, unless a rule denies one", () => {
  const fixture = new AgentFixture();
  const states = (id: string, provider: "claude" | "scripted") => {
    fixture.create(id, { provider });
    fixture.send(id, `${id}-m1`);
    fixture.start(id);
    const asks = ["spawn_agent", "check_inbox"].map((tool) => ({
      ...ASK,
      request: tool,
      tool: `mcp__holdfast__${tool}`,
    }));
    fixture.says(id, ...asks, ASK);
    return fixture.agent(id).prompts.map(({ state }) => ("decision" in state ? state.decision : state.kind));
  };
  fixture.do({ kind: "rule-add", id: RULE_BOOK, rule: rule("g", "deny", "mcp__holdfast__spawn_agent") });
  expect(states("a", "claude")).toEqual(["deny", "allow", "open"]);
  expect(states("b", "scripted")).toEqual(["deny", "open", "open"]);
});

test("PR-2(a) PR-3(d) an answer goes to the agent, is kept until it is delivered, and a second one is refused", () => {
  const { fixture, prompt } = asked();
  expect(fixture.do(answer(prompt))).toEqual(["prompt.answered a"]);
  expect(inputsFrom(fixture.agent("a"), 1)[0]?.input).toEqual({
    ...{
      kind: "answer",
      request: "r1",
      tool: "Bash",
      input: ASK.input,
      decision: "allow",
      message: "fine",
      options: null,
    },
  });
  expect([fixture.refusal(answer(prompt, "deny")), fixture.refusal(answer("nothing"))]).toEqual([
    "answered",
    "unknown",
  ]);
  expect(fixture.do(answer(prompt))).toEqual([]); // Its acknowledgement was lost.
  expect(fixture.takeAll("a")).toEqual(["input.taken a", "prompt.delivered a"]);
  const [again, other] = [answer(prompt), answer(prompt, "allow", false, "another")];
  const next = fixture.replayed();
  expect([next.do(again), next.refusal(other)]).toEqual([[], "answered"]);
  fixture.do({ kind: "terminate", id: "a", reason: "" });
  expect([fixture.do(again), fixture.refusal(other)]).toEqual([[], "terminated"]);
});

test("PR-3(a,d) a prompt has the same id before and after a crash, and an adopted process gets its answer once", () => {
  const { fixture, prompt } = asked();
  const next = fixture.replayed();
  next.do({ kind: "detach", id: "a" });
  expect([next.state("a"), next.tree.openPrompts]).toEqual(["waiting", [prompt]]);
  next.do(answer(prompt));
  next.do({ kind: "adopted", id: "a", generation: 1, child: CHILD, holder: 8 });
  expect(next.effects("a")[0]).toEqual({ kind: "send", id: "a", generation: 1, from: 3 });
  next.takeAll("a");
  expect(
    next
      .replayed()
      .effects("a")
      .filter(({ kind }) => kind === "send"),
  ).toEqual([]);
  expect(next.says("a", ASK)).toEqual(["agent.read a"]);
});

test("a bare model cannot ask: no prompt is opened whose answer could not be delivered", () => {
  const fixture = new AgentFixture();
  fixture.create("a", { provider: "openai" });
  fixture.send("a", "m1");
  expect(fixture.says("a", ASK)).not.toContain("prompt.opened a");
  expect(fixture.agent("a").prompts).toEqual([]);
});

test("a question withdrawn by the agent can no longer be answered", () => {
  const { fixture, prompt } = asked();
  fixture.says("a", { kind: "withdrawn", request: "r1" });
  expect([fixture.state("a"), fixture.refusal(answer(prompt))]).toEqual(["working", "stale"]);
  const late = asked();
  late.fixture.do(answer(late.prompt));
  late.fixture.says("a", { kind: "withdrawn", request: "r1" });
  expect(late.fixture.takeAll("a")).toEqual(["input.taken a", "prompt.delivered a"]);
});

test("PR-2(b,c) seven days without activity deny; activity extends by seven more", () => {
  const { fixture, prompt } = asked();
  fixture.wait(6 * DAY);
  expect(fixture.do({ kind: "activity", id: "a" })).toEqual(["prompt.refreshed a"]);
  expect(fixture.do({ kind: "activity", id: "a" })).toEqual([]);
  fixture.wait(6 * DAY);
  expect(fixture.do({ kind: "wake", id: "a" })).toEqual([]);
  fixture.wait(1 * DAY);
  expect(fixture.do({ kind: "wake", id: "a" })).toEqual(["prompt.answered a"]);
  expect(fixture.agent("a").prompts[0]?.state).toMatchObject({ kind: "answered", decision: "deny", by: "expired" });
  expect(fixture.refusal(answer(prompt))).toBe("answered");
});

test("PR-2(b) every act of a person towards the agent postpones the deadline, also one about its rules", () => {
  const acts = {
    send: { kind: "send", id: "a", message: "m2", payload: "hello", replyTo: undefined },
    set: { kind: "set", id: "a", settings: { hung_after_ms: 1000 } },
    interrupt: { kind: "interrupt", id: "a" },
    inspect: { kind: "activity", id: "a" },
    rule: { kind: "rule-add", id: "a", rule: rule("r", "deny", "Write") },
  } as const;
  for (const [name, act] of Object.entries(acts)) {
    const { fixture } = asked();
    fixture.wait(6 * DAY);
    expect(`${name}: ${fixture.do(act)}`).toContain("prompt.refreshed a");
    expect(fixture.agent("a").prompts[0]?.deadline).toBe(new Date(fixture.now + 7 * DAY).toISOString());
  }
});

test("PR-1(a,b,c) PR-2(a,c) a prompt has the stages of the document: by a rule, a client, or the end of its time", () => {
  const stage = (fixture: AgentFixture) => fixture.agent("a").prompts.map(({ state }) => stageOf(state));
  for (const [decision, expected] of [
    ["allow", "AutoApproved"],
    ["deny", "AutoDenied"],
  ] as const) {
    const fixture = new AgentFixture({ rules: [rule("c", decision, "Bash")] });
    fixture.create("a");
    fixture.send("a", "m1");
    fixture.start("a");
    fixture.says("a", ASK);
    expect(stage(fixture)).toEqual([expected]);
  }
  const { fixture, prompt } = asked();
  expect(stage(fixture)).toEqual(["WaitingForClient"]);
  fixture.do(answer(prompt));
  expect(stage(fixture)).toEqual(["Responded"]);
  fixture.takeAll("a");
  expect(stage(fixture)).toEqual(["Responded"]);
  const late = asked().fixture;
  late.wait(7 * DAY);
  late.do({ kind: "wake", id: "a" });
  expect(stage(late)).toEqual(["Expired"]);
});

test("an unattended agent has a shorter deadline with a default, and activity does not extend it", () => {
  const { fixture } = asked({ prompt_default: { after_ms: 1000, decision: "allow" } });
  fixture.wait(999);
  expect(fixture.do({ kind: "activity", id: "a" })).toEqual([]);
  fixture.wait(1);
  fixture.do({ kind: "wake", id: "a" });
  expect(fixture.agent("a").prompts[0]?.state).toMatchObject({ kind: "answered", decision: "allow", by: "default" });
});

test("--always answers the same question from now on, and no other", () => {
  const { fixture, prompt } = asked();
  fixture.do(answer(prompt, "allow", true));
  fixture.says("a", { ...ASK, request: "r2" }, { ...ASK, request: "r3", input: { command: "rm -rf *" } });
  expect(fixture.agent("a").prompts.map(({ state }) => state.kind)).toEqual(["answered", "answered", "open"]);
});

test("H6 a worded rule is added with its answer, once, for this agent or for all; with a refusal nothing is", () => {
  const worded = (tool: string, isForAll = false) => ({ rule: rule("given", "allow", tool), isForAll });
  for (const isForAll of [false, true]) {
    const { fixture, prompt } = asked();
    const given = { ...answer(prompt), worded: worded("Ba*", isForAll) };
    expect(fixture.refusal({ ...given, worded: worded("[") })).toBe("bad-rule");
    expect(fixture.agent("a").prompts[0]?.state.kind).toBe("open");
    for (const _ of [1, 2]) fixture.do(given); // The second is a repeat.
    expect(fixture.refusal({ ...given, answer: "another" })).toBe("answered");
    const added = fixture.events.filter(({ event }) => event === "rule.added");
    expect(added).toMatchObject([{ data: { rule: { rule_id: `always-${prompt}`, tool: "Ba*" } } }]);
    expect(fixture.agent("a").rules).toHaveLength(isForAll ? 0 : 1);
    fixture.says("a", { ...ASK, request: "r2", input: { command: "another" } });
    expect(fixture.agent("a").prompts.at(-1)?.state).toMatchObject({ kind: "answered", by: "rule" });
  }
});

test("a decided prompt names its rule, and a rule says when and in which browser it was made", () => {
  const { fixture, prompt } = asked();
  fixture.do({ ...answer(prompt, "allow", true), device: "d1" });
  fixture.do({ kind: "rule-add", id: "a", rule: { ...rule("o", "deny", "Edit"), made: { at: "never", device: "x" } } });
  fixture.says("a", { ...ASK, request: "r2" }, { ...ASK, request: "r3", tool: "Edit" });
  const { prompts, rules } = fixture.agent("a");
  const by = prompts.map(({ state }) => ("by" in state ? [state.by, state.rule] : state.kind));
  expect(by).toEqual([
    ["user", undefined],
    ["rule", `always-${prompt}`],
    ["rule", "o"],
  ]);
  expect(rules.map(({ made }) => made)).toEqual([{ at: fixture.at, device: "d1" }, { at: fixture.at }]);
  expect(listedPrompts([fixture.agent("a")], true).at(-1)?.given).toMatchObject({ by: "rule", rule: "o" });
});

test("H6 --always pins every argument, and is refused if it cannot", () => {
  const always = (input: Json, tool = "Write") => {
    const fixture = new AgentFixture();
    fixture.create("a");
    fixture.send("a", "m1");
    fixture.start("a");
    fixture.says("a", { kind: "ask", request: "r1", tool, input });
    const decided = fixture.refusal(answer(fixture.agent("a").prompts[0]?.id ?? "", "allow", true));
    return { fixture, decided };
  };
  const input = { file_path: "/w/a", content: "x\ny", edits: [{ b: 1, a: [2] }] };
  const { fixture, decided } = always(input);
  const others = [
    ...[{ ...input, content: "x" }, { ...input, mode: "0777" }, { file_path: "/w/a" }, { ...input, edits: [{ b: 1 }] }],
    { edits: [{ a: [2], b: 1 }], content: "x\ny", file_path: "/w/a" },
  ];
  for (const [at, other] of others.entries())
    fixture.says("a", { kind: "ask", request: `o${at}`, tool: "Write", input: other });
  const kinds = fixture.agent("a").prompts.map(({ state }) => state.kind);
  expect([decided, ...kinds]).toEqual(["", "answered", "open", "open", "open", "open", "answered"]);
  const odd = always({ x: "y" }, "B*").fixture;
  odd.says("a", { kind: "ask", request: "o", tool: "Bash", input: { x: "y" } });
  expect(odd.agent("a").prompts.at(-1)?.state.kind).toBe("open");
  const cannot = [always("text"), always(null), always({ x: "y".repeat(20_000) }), always({}, "")];
  expect(cannot.map((one) => [one.decided, one.fixture.state("a"), one.fixture.agent("a").rules])).toEqual(
    cannot.map(() => ["not-exact", "waiting", []]),
  );
});

test("H5 what an agent is denied is denied all below it, whatever they were allowed; what it is allowed is its own", () => {
  const fixture = new AgentFixture();
  const allowed = (id: string) => {
    fixture.says(id, { ...ASK, request: `${id}-${fixture.events.length}` });
    const state = fixture.agent(id).prompts.at(-1)?.state;
    return state !== undefined && "decision" in state ? state.decision : "ask";
  };
  for (const [id, parent] of [["root"], ["kid", "root"], ["grandkid", "kid"]] as const) {
    fixture.create(id, parent === undefined ? {} : { parent });
    fixture.send(id, `${id}-m1`);
    fixture.start(id);
  }
  const family = () => ["root", "kid", "grandkid"].map(allowed);
  fixture.do({ kind: "rule-add", id: "root", rule: rule("r", "allow", "Bash") });
  expect(family()).toEqual(["allow", "ask", "ask"]);
  fixture.do({ kind: "rule-add", id: "grandkid", rule: rule("g", "allow", "Bash") });
  expect(family()).toEqual(["allow", "ask", "allow"]);
  fixture.do({ kind: "rule-add", id: "kid", rule: rule("k", "deny", "Bash", { command: "rm *" }) });
  expect(family()).toEqual(["allow", "deny", "deny"]);
  fixture.do({ kind: "rule-remove", id: "kid", rule: "k" });
  fixture.do({ kind: "rule-remove", id: "root", rule: "r" });
  fixture.do({ kind: "rule-add", id: "root", rule: rule("d", "deny", "Bash") });
  expect(family()).toEqual(["deny", "deny", "deny"]);
  fixture.do({ kind: "rule-remove", id: "root", rule: "d" });
  fixture.do({ kind: "rule-add", id: RULE_BOOK, rule: rule("all", "deny", "Bash") });
  expect(family()).toEqual(["deny", "deny", "deny"]);
});

test("what a question consists of is bounded: its tool and choices are denied, an id without a reply fails the turn", () => {
  const { fixture } = asked();
  fixture.says("a", { ...ASK, request: "r2", tool: "T".repeat(300) });
  fixture.says("a", { ...ASK, request: "r3", options: ["x".repeat(20_000)] });
  const [, tool, options] = fixture.agent("a").prompts;
  expect([tool?.state, options?.state]).toMatchObject([{ decision: "deny" }, { decision: "deny" }]);
  expect([tool?.tool.length, options?.options]).toEqual([expect.any(Number), null]);
  expect(fixture.says("a", { ...ASK, request: "r".repeat(257) })).toEqual([...["agent.read a", "turn.failed a"]]);
  expect(fixture.agent("a").prompts.length).toBe(3);
  expect(JSON.stringify(fixture.events.at(-2)).length).toBeLessThan(1000);
});

test("H1 without the key of the home, an agent cannot choose the id of its prompt", () => {
  const { prompt } = asked();
  const other = new AgentFixture();
  Object.assign(other, { keyed: (text: string) => derivedId("another", text) });
  other.create("a");
  other.send("a", "m1");
  other.start("a");
  other.says("a", ASK);
  expect(other.agent("a").prompts[0]?.id).toMatch(/^[0-9a-f]{16}$/);
  expect(other.agent("a").prompts[0]?.id).not.toBe(prompt);
});

test("a question too large to be shown is denied, and closed prompts are not kept forever", () => {
  const { fixture } = asked();
  fixture.says("a", { ...ASK, request: "big", input: { command: "x".repeat(200_000) } });
  expect(fixture.agent("a").prompts[1]?.state).toMatchObject({ decision: "deny" });
  fixture.do({ kind: "rule-add", id: "a", rule: rule("all", "allow", "*") });
  for (let at = 0; at < 40; at += 1) {
    fixture.says("a", { ...ASK, request: `q${at}` });
    fixture.takeAll("a");
  }
  expect(fixture.agent("a").prompts.length).toBe(17);
  expect(fixture.state("a")).toBe("waiting");
});

test("a bare LLM has no process that could receive an answer: none of its output is a question to a person", () => {
  const fixture = new AgentFixture();
  fixture.create("a", { provider: "openai" });
  fixture.send("a", "m1");
  fixture.says("a", ASK, { kind: "done", response: "well" });
  expect(fixture.agent("a").prompts).toEqual([]);
});
