// Permission prompts: asked, judged by rules, answered once, kept until taken, and what a crash makes of them.
import { expect, test } from "bun:test";
import { cells, unreachable } from "../../src/base/machine.ts";
import { RULE_BOOK } from "../../src/core/agent/agent.ts";
import { inputsFrom } from "../../src/core/agent/effects.ts";
import { promptMachine } from "../../src/core/agent/prompts.ts";
import { CHILD, House } from "./house.ts";

const DAY = 24 * 3_600_000;
const ASK = { kind: "ask", request: "r1", tool: "Bash", input: { command: "rm -rf x" } } as const;

function asked(settings = {}): { readonly house: House; readonly prompt: string } {
  const house = new House();
  house.create("a", { settings });
  house.send("a", "m1");
  house.start("a");
  house.says("a", ASK);
  return { house, prompt: house.agent("a").prompts[0]?.id ?? "" };
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

test("every state of a prompt can be reached", () => {
  expect(unreachable(promptMachine)).toEqual([]);
  expect(cells(promptMachine).filter(({ state, next }) => state === "stale" && next !== undefined)).toEqual([]);
});

test("PR-1(a,c) a request becomes a prompt that waits for a person, seven days from now", () => {
  const { house, prompt } = asked();
  expect([house.state("a"), house.tree.askerOf(prompt), house.tree.openPrompts]).toEqual(["waiting", "a", [prompt]]);
  const [open] = house.agent("a").prompts;
  expect([open?.since, open?.deadline]).toEqual([house.at, new Date(house.now + 7 * DAY).toISOString()]);
  expect(house.effects("a")).toEqual([{ kind: "timer", id: "a", at: open?.deadline ?? "" }]);
});

test("PR-1(b) a rule answers at once: an agent's own first, then those for all, then the configuration's", () => {
  const house = new House({ rules: [rule("c", "deny", "*")] });
  house.create("a");
  house.send("a", "m1");
  house.start("a");
  house.do({ kind: "rule-add", id: RULE_BOOK, rule: rule("g", "deny", "Bash", { command: "rm *" }) });
  house.do({ kind: "rule-add", id: "a", rule: rule("o", "allow", "Bash", { command: "rm -rf x" }) });
  house.do({ kind: "rule-add", id: RULE_BOOK, rule: rule("h", "allow", "Read") });
  house.says("a", ASK, { ...ASK, request: "r2", input: { command: "rm y" } }, { ...ASK, request: "r3", tool: "Edit" });
  house.says("a", { ...ASK, request: "r4", tool: "Read" });
  const states = house
    .agent("a")
    .prompts.map(({ state }) => ("decision" in state ? `${state.decision} ${state.by}` : state.kind));
  expect(states).toEqual(["allow rule", "deny rule", "deny rule", "allow rule"]);
  expect(house.state("a")).toBe("working");
  house.do({ kind: "rule-remove", id: RULE_BOOK, rule: "g" });
  expect(house.refusal({ kind: "rule-remove", id: RULE_BOOK, rule: "g" })).toBe("unknown");
  expect(house.refusal({ kind: "rule-add", id: "a", rule: rule("o", "allow", "*") })).toBe("id-taken");
  expect(house.refusal({ kind: "rule-add", id: "a", rule: rule("x", "maybe", "*") })).toBe("bad-rule");
});

test("PR-1(b) Claude Code is not asked about our own tools, unless a rule denies one", () => {
  const house = new House();
  const states = (id: string, provider: "claude" | "scripted") => {
    house.create(id, { provider });
    house.send(id, `${id}-m1`);
    house.start(id);
    const asks = ["spawn_agent", "check_inbox"].map((tool) => ({
      ...ASK,
      request: tool,
      tool: `mcp__holdfast__${tool}`,
    }));
    house.says(id, ...asks, ASK);
    return house.agent(id).prompts.map(({ state }) => ("decision" in state ? state.decision : state.kind));
  };
  house.do({ kind: "rule-add", id: RULE_BOOK, rule: rule("g", "deny", "mcp__holdfast__spawn_agent") });
  expect(states("a", "claude")).toEqual(["deny", "allow", "open"]);
  expect(states("b", "scripted")).toEqual(["deny", "open", "open"]);
});

test("PR-2(a) PR-3(d) an answer goes to the agent, is kept until it is taken, and a second one is refused", () => {
  const { house, prompt } = asked();
  expect(house.do(answer(prompt))).toEqual(["prompt.answered a"]);
  expect(inputsFrom(house.agent("a"), 1)[0]?.input).toEqual({
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
  expect([house.refusal(answer(prompt, "deny")), house.refusal(answer("nothing"))]).toEqual(["answered", "unknown"]);
  expect(house.do(answer(prompt))).toEqual([]); // Its acknowledgement was lost.
  expect(house.takeAll("a")).toEqual(["input.taken a", "prompt.delivered a"]);
  const [again, other] = [answer(prompt), answer(prompt, "allow", false, "another")];
  const next = house.replayed();
  expect([next.do(again), next.refusal(other)]).toEqual([[], "answered"]);
  house.do({ kind: "terminate", id: "a", reason: "" });
  expect([house.do(again), house.refusal(other)]).toEqual([[], "terminated"]);
});

test("PR-3(a,d) a prompt has the same id before and after a crash, and an adopted process gets its answer once", () => {
  const { house, prompt } = asked();
  const next = house.replayed();
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

test("PR-3(d) where the asker is gone the prompt must be asked again, answered or not, and the next process asks under another id", () => {
  const { house, prompt } = asked();
  house.ends("a", null, "SIGKILL");
  expect(house.refusal(answer(prompt))).toBe("stale");
  expect(house.tree.openPrompts).toEqual([]);
  house.wait(1000);
  house.do({ kind: "wake", id: "a" });
  house.start("a");
  house.says("a", ASK);
  const [, second] = house.agent("a").prompts;
  expect([second?.state.kind, second?.id === prompt]).toEqual(["open", false]);
  house.do(answer(second?.id ?? ""));
  house.ends("a", 1);
  expect(house.agent("a").prompts[1]?.state.kind).toBe("stale");
});

test("a bare model cannot ask: no prompt is opened that nobody could be told the answer of", () => {
  const house = new House();
  house.create("a", { provider: "openai" });
  house.send("a", "m1");
  expect(house.says("a", ASK)).not.toContain("prompt.opened a");
  expect(house.agent("a").prompts).toEqual([]);
});

test("a question that the agent takes back is not answered any more", () => {
  const { house, prompt } = asked();
  house.says("a", { kind: "withdrawn", request: "r1" });
  expect([house.state("a"), house.refusal(answer(prompt))]).toEqual(["working", "stale"]);
  const late = asked();
  late.house.do(answer(late.prompt));
  late.house.says("a", { kind: "withdrawn", request: "r1" });
  expect(late.house.takeAll("a")).toEqual(["input.taken a", "prompt.delivered a"]);
});

test("PR-2(b,c) seven days without activity deny; activity gives seven more", () => {
  const { house, prompt } = asked();
  house.wait(6 * DAY);
  expect(house.do({ kind: "activity", id: "a" })).toEqual(["prompt.refreshed a"]);
  expect(house.do({ kind: "activity", id: "a" })).toEqual([]);
  house.wait(6 * DAY);
  expect(house.do({ kind: "wake", id: "a" })).toEqual([]);
  house.wait(1 * DAY);
  expect(house.do({ kind: "wake", id: "a" })).toEqual(["prompt.answered a"]);
  expect(house.agent("a").prompts[0]?.state).toMatchObject({ kind: "answered", decision: "deny", by: "expired" });
  expect(house.refusal(answer(prompt))).toBe("answered");
});

test("an agent that nobody watches has a shorter deadline with a default, and activity does not put it off", () => {
  const { house } = asked({ prompt_default: { after_ms: 1000, decision: "allow" } });
  house.wait(999);
  expect(house.do({ kind: "activity", id: "a" })).toEqual([]);
  house.wait(1);
  house.do({ kind: "wake", id: "a" });
  expect(house.agent("a").prompts[0]?.state).toMatchObject({ kind: "answered", decision: "allow", by: "default" });
});

test("--always answers the same question from now on, and no other", () => {
  const { house, prompt } = asked();
  house.do(answer(prompt, "allow", true));
  house.says("a", { ...ASK, request: "r2" }, { ...ASK, request: "r3", input: { command: "rm -rf *" } });
  expect(house.agent("a").prompts.map(({ state }) => state.kind)).toEqual(["answered", "answered", "open"]);
});

test("a question too large to be shown is denied, and closed prompts are not kept for ever", () => {
  const { house } = asked();
  house.says("a", { ...ASK, request: "big", input: { command: "x".repeat(200_000) } });
  expect(house.agent("a").prompts[1]?.state).toMatchObject({ decision: "deny" });
  house.do({ kind: "rule-add", id: "a", rule: rule("all", "allow", "*") });
  for (let at = 0; at < 40; at += 1) {
    house.says("a", { ...ASK, request: `q${at}` });
    house.takeAll("a");
  }
  expect(house.agent("a").prompts.length).toBe(17);
  expect(house.state("a")).toBe("waiting");
});

test("a bare LLM has no process that could take an answer: nothing it says is a question to a person", () => {
  const house = new House();
  house.create("a", { provider: "openai" });
  house.send("a", "m1");
  house.says("a", ASK, { kind: "done", response: "well" });
  expect(house.agent("a").prompts).toEqual([]);
});
