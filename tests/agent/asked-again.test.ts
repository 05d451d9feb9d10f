// What becomes of a prompt whose process is gone when the next process asks (decision 0063).
import { expect, test } from "bun:test";
import { inputsFrom } from "../../src/core/agent/effects.ts";
import { AgentFixture } from "./house.ts";

const ASK = { kind: "ask", request: "r1", tool: "Bash", input: { command: "rm -rf x" } } as const;

function asked(settings = {}): { readonly fixture: AgentFixture; readonly prompt: string } {
  const fixture = new AgentFixture();
  fixture.create("a", { settings });
  fixture.send("a", "m1");
  fixture.start("a");
  fixture.says("a", ASK);
  return { fixture, prompt: fixture.agent("a").prompts[0]?.id ?? "" };
}

const answer = (prompt: string, decision: "allow" | "deny" = "allow", answer: string = decision) =>
  ({ kind: "answer", id: "a", prompt, answer, decision, message: "fine", always: false }) as const;

/** The process ends, and the next one runs. */
function comesBack(fixture: AgentFixture): void {
  fixture.ends("a", null, "SIGKILL");
  fixture.wait(1000);
  fixture.do({ kind: "wake", id: "a" });
  fixture.start("a");
}

test("PR-3(a,c) if the next process asks the same in the same turn it is the same prompt, with its id and its deadline", () => {
  const { fixture, prompt } = asked();
  const [before] = fixture.agent("a").prompts;
  fixture.ends("a", null, "SIGKILL");
  expect(fixture.refusal(answer(prompt))).toBe("stale");
  expect(fixture.tree.openPrompts).toEqual([]);
  fixture.wait(1000);
  fixture.do({ kind: "wake", id: "a" });
  fixture.start("a");
  fixture.says("a", { ...ASK, request: "r9" });
  const [again, ...others] = fixture.agent("a").prompts;
  expect(others).toEqual([]);
  expect(again).toEqual({ ...before, generation: 2, request: "r9", again: 1 } as typeof again);
  fixture.do(answer(prompt));
  const given = inputsFrom(fixture.agent("a"), 0).map(({ input }) => input);
  expect(given).toContainEqual(expect.objectContaining({ kind: "answer", request: "r9", decision: "allow" }));
  expect(fixture.refusal(answer(prompt, "deny"))).toBe("answered");
});

test("PR-3(d) what the next process asks is another prompt if it is not the same, or was answered: no answer is given to another process", () => {
  const other = { ...ASK, request: "r9", input: { command: "rm -rf y" } };
  for (const question of [other, { ...ASK, tool: "Edit" }, { ...ASK, options: ["yes"] }]) {
    const { fixture, prompt } = asked();
    comesBack(fixture);
    fixture.says("a", question);
    expect(fixture.agent("a").prompts.map(({ state }) => state.kind)).toEqual(["stale", "open"]);
    expect(fixture.refusal(answer(prompt))).toBe("stale");
  }
  const { fixture, prompt } = asked();
  fixture.do(answer(prompt));
  comesBack(fixture);
  expect(fixture.refusal(answer(prompt, "allow", "late"))).toBe("stale");
  fixture.says("a", ASK);
  const [, second] = fixture.agent("a").prompts;
  expect([second?.state.kind, second?.id === prompt]).toEqual(["open", false]);
});

test("PR-3(d) a question of an earlier turn, or one that its process took back, is another prompt when it is asked again", () => {
  const { fixture, prompt } = asked();
  fixture.says("a", { kind: "withdrawn", request: "r1" });
  fixture.says("a", { ...ASK, request: "r2" });
  expect(fixture.agent("a").prompts.map(({ id, state }) => [id === prompt, state.kind])).toEqual([
    [true, "stale"],
    [false, "open"],
  ]);
  comesBack(fixture);
  fixture.says("a", { kind: "done", response: "" });
  fixture.takeAll("a");
  fixture.send("a", "m2");
  fixture.says("a", { ...ASK, request: "r3" });
  expect(fixture.agent("a").prompts.map(({ state }) => state.kind)).toEqual(["stale", "stale", "open"]);
});

test("PR-3(d) what its process took back is another prompt, also if the next process asks the same", () => {
  const { fixture, prompt } = asked();
  fixture.says("a", { kind: "withdrawn", request: "r1" });
  comesBack(fixture);
  fixture.says("a", { ...ASK, request: "r9" });
  const [first, second] = fixture.agent("a").prompts;
  expect([first?.id, first?.state.kind, second?.id === prompt]).toEqual([prompt, "stale", false]);
});

test("PR-3(a) all open prompts of a process keep their ids, however many they are, and what is kept of them is bounded", () => {
  const { fixture } = asked();
  const askFor = (request: number) => ({ ...ASK, request: `q${request}`, input: { command: `rm ${request}` } });
  for (let at = 1; at < 40; at += 1) fixture.says("a", askFor(at));
  const ids = fixture.agent("a").prompts.map(({ id }) => id);
  comesBack(fixture);
  fixture.says("a", { ...ASK, request: "again" });
  for (let at = 1; at < 40; at += 1) fixture.says("a", { ...askFor(at), request: `again-${at}` });
  expect(fixture.agent("a").prompts.map(({ id }) => id)).toEqual(ids);
  expect(fixture.tree.openPrompts).toEqual(ids);
  for (let round = 1; round < 4; round += 1) {
    comesBack(fixture);
    for (let at = 0; at < 40; at += 1) fixture.says("a", askFor(100 * round + at));
  }
  expect(fixture.agent("a").prompts.length).toBeLessThanOrEqual(40 + 64 + 16);
});

test("PR-2(b) PR-3(c) a default action waits anew, since nobody could prevent it; so do seven days that are over", () => {
  const unattended = asked({ prompt_default: { decision: "allow", after_ms: 60_000 } });
  unattended.fixture.ends("a", null, "SIGKILL");
  unattended.fixture.wait(120_000);
  comesBack(unattended.fixture);
  unattended.fixture.says("a", { ...ASK, request: "r9" });
  expect(unattended.fixture.do({ kind: "wake", id: "a" })).toEqual([]);
  unattended.fixture.wait(60_000);
  expect(unattended.fixture.do({ kind: "wake", id: "a" })).toEqual(["prompt.answered a"]);
  const { fixture, prompt } = asked();
  fixture.ends("a", null, "SIGKILL");
  fixture.wait(8 * 24 * 3_600_000);
  comesBack(fixture);
  fixture.says("a", { ...ASK, request: "r9" });
  expect(fixture.do({ kind: "wake", id: "a" })).toEqual([]);
  expect(fixture.tree.openPrompts).toEqual([prompt]);
});
