// Turns and messages: what wakes an agent, when a message counts as delivered, and what a crash at any point leaves.
import { expect, test } from "bun:test";
import { itemsOf } from "../../src/base/vector.ts";
import { inputsFrom } from "../../src/core/agent/effects.ts";
import { House } from "./house.ts";

test("AG-3(a,b) a message to an idle agent wakes it, and is delivered only when its process has taken the prompt", () => {
  const house = new House();
  house.create("a");
  expect(house.send("a", "m1", "dig")).toEqual(["message.enqueued a", "turn.start a", "process.starting a"]);
  expect([house.state("a"), house.agent("a").inbox.length]).toEqual(["working", 1]);
  expect(house.effects("a")).toEqual([{ kind: "start", id: "a", generation: 1 }]);
  house.do({ kind: "started", id: "a", generation: 1, child: { pid: 1, startTime: 1, bootId: "b" }, holder: 2 });
  expect(house.effects("a")[0]).toEqual({ kind: "send", id: "a", generation: 1, from: 1 });
  const inputs = inputsFrom(house.agent("a"), 1);
  expect(inputs.map(({ number, input }) => [number, input.kind])).toEqual([
    [1, "open"],
    [2, "prompt"],
  ]);
  house.do({ kind: "taken", id: "a", generation: 1, through: 1, pieces: 1 });
  expect([house.agent("a").inbox.length, inputsFrom(house.agent("a"), 1)[0]]).toEqual([1, inputs[1]]);
  expect(house.do({ kind: "taken", id: "a", generation: 1, through: 2, pieces: 2 })).toEqual([
    "input.taken a",
    "message.delivered a",
  ]);
  expect(house.do({ kind: "taken", id: "a", generation: 1, through: 2, pieces: 2 })).toEqual([]);
  expect(house.done("a", "dug")).toEqual(["agent.read a", "turn.complete a"]);
  expect([house.state("a"), house.agent("a").turn, house.agent("a").inbox]).toEqual(["idle", undefined, []]);
});

test("AG-3(a) a message between agents is one transaction over both logs", () => {
  const house = new House();
  house.create("a");
  house.create("b", { parent: "a" });
  const events = house.do({ kind: "call", id: "a", call: "c1", tool: "send_message", args: { to: "b", text: "x" } });
  expect(events).toEqual([
    ...["message.sent a", "message.enqueued b", "tool.answered a", "turn.start b", "process.starting b"],
  ]);
});

test("a repeated message is the same message, also after it was read", () => {
  const house = new House();
  house.create("a");
  house.send("a", "m1");
  expect(house.send("a", "m1")).toEqual([]);
  house.start("a");
  house.done("a");
  expect(house.send("a", "m1")).toEqual([]);
  expect(house.agent("a").turns).toBe(1);
});

test("messages that come in a turn wait for the next one, in their order, and say who they are from", () => {
  const house = new House();
  house.create("a");
  house.create("b", { parent: "a" });
  house.send("a", "m1");
  house.start("a");
  house.send("a", "m2", "second");
  house.call("b", "c1", "send_message", { to: "parent", text: "third", reply_to: "m9" });
  house.done("a");
  const turn = house.agent("a").turn;
  expect([turn?.number, turn?.messages.length]).toEqual([2, 2]);
  expect(turn?.prompt.text).toMatch(
    /^\[Message from the user, id m2\]\nsecond\n\n\[Message from b \(your child\), id .*, in reply to m9\]\nthird$/,
  );
});

test("output that was read counts once, whatever is repeated", () => {
  const house = new House();
  house.create("a");
  house.send("a", "m1");
  house.start("a");
  const read = { kind: "read", id: "a", generation: 1, offset: 40, events: [{ kind: "done", response: "x" }] } as const;
  expect(house.do(read)).toEqual(["agent.read a", "turn.complete a"]);
  expect(house.do(read)).toEqual([]);
  expect(house.do({ ...read, offset: 39 })).toEqual([]);
  expect(house.do({ ...read, generation: 7, offset: 99 })).toEqual([]);
});

test("an end that is read before it is heard that the prompt was taken waits for that, and is not lost", () => {
  const house = new House();
  house.create("a");
  house.send("a", "m1");
  house.do({ kind: "started", id: "a", generation: 1, child: { pid: 1, startTime: 1, bootId: "b" }, holder: 2 });
  expect(house.done("a", "quick")).toEqual(["agent.read a"]);
  expect(house.takeAll("a")).toEqual(["input.taken a", "message.delivered a", "turn.complete a"]);
});

test("a process that never ran leaves the prompt as it was; one that did may have had it; after it was taken, there is the recovery prompt", () => {
  const house = new House();
  house.create("a", { settings: { recovery_prompt: "go on" } });
  house.send("a", "m1", "dig");
  const first = house.agent("a").turn?.prompt;
  house.do({ kind: "start-failed", id: "a", generation: 1, reason: "no room" });
  house.do({ kind: "retry", id: "a" });
  expect([house.agent("a").generation, house.agent("a").turn?.prompt]).toEqual([2, first ?? { uuid: "", text: "" }]);
  house.do({ kind: "started", id: "a", generation: 2, child: { pid: 1, startTime: 1, bootId: "b" }, holder: 2 });
  house.ends("a", 1);
  house.wait(1000);
  house.do({ kind: "wake", id: "a" });
  // It was on its way: whether it arrived, nobody knows.
  expect([house.agent("a").generation, house.agent("a").turn?.prompt.text]).toEqual([3, "go on\n\ndig"]);
  expect(house.agent("a").turn?.prompt.uuid === first?.uuid).toBe(false);
  house.start("a");
  expect(house.agent("a").inbox).toEqual([]);
  house.ends("a", 1);
  house.wait(2000);
  house.do({ kind: "wake", id: "a" });
  // It said nothing: it may not have read its prompt.
  expect(house.agent("a").turn?.prompt.text).toBe("go on\n\ndig");
  house.start("a");
  house.ends("a", 1);
  house.wait(4000);
  house.do({ kind: "wake", id: "a" });
  expect(house.agent("a").turn?.prompt.text).toBe("go on\n\ndig");
  house.start("a");
  house.says("a", { kind: "text", text: "I dig" });
  house.ends("a", 1);
  house.wait(8000);
  house.do({ kind: "wake", id: "a" });
  const [, again] = inputsFrom(house.agent("a"), 1);
  expect([again?.input.kind, house.agent("a").turn?.prompt.text]).toEqual(["prompt", "go on"]);
  expect(house.agent("a").turn?.prompt.uuid).not.toBe(first?.uuid ?? "");
  house.start("a");
  expect(house.done("a")).toContain("turn.complete a");
});

test("an interrupted turn ends when its provider says so, or with its process", () => {
  const house = new House();
  house.create("a");
  expect(house.refusal({ kind: "interrupt", id: "a" })).toBe("idle");
  house.send("a", "m1");
  house.start("a");
  house.do({ kind: "interrupt", id: "a" });
  expect(inputsFrom(house.agent("a"), 1).map(({ input }) => input.kind)).toEqual(["interrupt"]);
  expect(house.ends("a", 1)).toEqual(["process.ended a", "turn.failed a", "process.backoff a"]);
  house.create("b");
  house.send("b", "m1");
  house.start("b");
  house.do({ kind: "interrupt", id: "b" });
  house.says("b", { kind: "failed", reason: "error_during_execution", retryable: false });
  expect(house.events.at(-1)).toMatchObject({ event: "turn.failed", data: { reason: "It was interrupted." } });
  house.create("c", { provider: "command" });
  house.send("c", "m1");
  house.start("c");
  house.do({ kind: "interrupt", id: "c" });
  expect(house.effects("c")[0]).toEqual({ kind: "stop", id: "c", generation: 1, signal: "SIGTERM" });
  expect(house.ends("c", 143)).toContain("turn.failed c");
  expect(house.state("c")).toBe("suspended");
});

test("a turn that fails before its messages were taken keeps them, and the agent waits for a word", () => {
  const house = new House();
  house.create("a", { provider: "openai" });
  house.send("a", "m1");
  expect(house.says("a", { kind: "failed", reason: "no key", retryable: false })).toEqual([
    ...["agent.read a", "turn.failed a", "agent.held a"],
  ]);
  expect([house.state("a"), house.agent("a").inbox.length, house.effects("a")]).toEqual(["suspended", 1, []]);
  house.do({ kind: "retry", id: "a" });
  expect([house.agent("a").turns, house.agent("a").turn?.messages]).toEqual([2, ["m1"]]);
});

test("a child's failed turn reaches its parent", () => {
  const house = new House();
  house.create("a");
  house.create("b", { parent: "a" });
  house.send("b", "m1");
  house.start("b");
  house.says("b", { kind: "failed", reason: "out of ideas", retryable: true });
  expect(house.agent("a").inbox.map(({ kind, payload }) => [kind, payload])).toEqual([
    ["child.failed", "out of ideas"],
  ]);
  expect(house.state("b")).toBe("idle");
});

test("one process a turn: a command's end is no crash once its turn has ended", () => {
  const house = new House();
  house.create("a", { provider: "command" });
  house.send("a", "m1");
  house.start("a");
  house.send("a", "m2");
  house.done("a");
  expect([house.state("a"), house.agent("a").turn]).toEqual(["idle", undefined]);
  expect(house.ends("a", 3)).toEqual(["process.ended a", "turn.start a", "process.starting a"]);
});

test("AG-6(b) a bare LLM's conversation is rebuilt from the log, equal to what it was", () => {
  const house = new House();
  house.create("a", { provider: "openai" });
  house.create("b", { parent: "a" });
  house.send("a", "m1", "hello");
  expect(house.effects("a")).toEqual([{ kind: "ask", id: "a", turn: 1, request: 1 }]);
  house.says(
    "a",
    { kind: "text", text: "let me see" },
    { kind: "call", call: "c1", tool: "list_children", args: {} },
    { kind: "call", call: "c2", tool: "send_message", args: { to: "b", text: "x" } },
  );
  expect(house.agent("a").inbox).toEqual([]);
  expect(house.effects("a")).toEqual([{ kind: "ask", id: "a", turn: 1, request: 2 }]);
  house.says("a", { kind: "failed", reason: "429", retryable: true });
  expect(house.effects("a").map(({ kind }) => kind)).toEqual(["timer"]);
  house.wait(1000);
  house.do({ kind: "wake", id: "a" });
  expect(house.effects("a")).toEqual([{ kind: "ask", id: "a", turn: 1, request: 3 }]);
  house.says("a", { kind: "done", response: "one child" });
  house.send("a", "m2", "bye");
  house.says("a", { kind: "text", text: "bye" });
  const said = [...itemsOf(house.agent("a").conversation.said)];
  expect(said.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "assistant", "user", "assistant"]);
  expect(said[1]).toMatchObject({ text: "let me see", calls: [{ call: "c1" }, { call: "c2" }] });
  expect([...itemsOf(house.replayed().agent("a").conversation.said)]).toEqual(said);
  expect([...itemsOf(house.agent("b").conversation.said)]).toEqual([]);
});

test("a late answer to a turn that was given up does not count for the next", () => {
  const house = new House();
  house.create("a", { provider: "openai" });
  house.send("a", "m1");
  house.do({ kind: "interrupt", id: "a" });
  house.do({ kind: "retry", id: "a" });
  const late = {
    kind: "read",
    id: "a",
    generation: 0,
    offset: 1,
    events: [{ kind: "done", response: "late" }],
  } as const;
  expect(house.do(late)).toEqual([]);
  expect(house.effects("a")).toEqual([{ kind: "ask", id: "a", turn: 2, request: 2 }]);
});

test("a request that fails again and again fails its turn", () => {
  const house = new House();
  house.create("a", { provider: "openai" });
  house.send("a", "m1");
  for (let tries = 1; tries <= 6; tries += 1) {
    house.says("a", { kind: "failed", reason: "503", retryable: true });
    house.wait(60_000);
    house.do({ kind: "wake", id: "a" });
  }
  expect([house.state("a"), house.agent("a").held?.reason]).toEqual(["suspended", "Its turn failed: 503"]);
});

test("a usage limit makes an agent sleep until it is over, in the middle of its turn; it can be switched off", () => {
  const house = new House();
  house.create("a");
  house.send("a", "m1");
  house.start("a");
  const until = new Date(house.now + 3_600_000).toISOString();
  house.says("a", { kind: "limit", until }, { kind: "failed", reason: "limit", retryable: true });
  expect([house.state("a"), house.effects("a")]).toEqual(["sleeping", [{ kind: "timer", id: "a", at: until }]]);
  house.do({ kind: "wake", id: "a" });
  expect(house.state("a")).toBe("sleeping");
  house.wait(3_600_000);
  house.do({ kind: "wake", id: "a" });
  expect([house.state("a"), inputsFrom(house.agent("a"), 1).map(({ input }) => input.kind)]).toEqual([
    "working",
    ["prompt"],
  ]);
  house.takeAll("a");
  house.done("a");
  house.do({ kind: "set", id: "a", settings: { sleep_on_limit: false } });
  house.send("a", "m2");
  house.takeAll("a");
  expect(house.says("a", { kind: "limit", until: "tomorrow" })).toContain("turn.failed a");
  house.do({ kind: "set", id: "a", settings: { sleep_on_limit: true } });
  house.send("a", "m3");
  house.says("a", { kind: "limit", until: "tomorrow" });
  house.do({ kind: "retry", id: "a" });
  expect(house.state("a")).toBe("working");
});

test("what a bare LLM seems to ask opens no prompt: nothing of it would take the answer", () => {
  const house = new House();
  house.create("a", { provider: "openai" });
  house.send("a", "m1");
  house.says("a", { kind: "ask", request: "r1", tool: "Bash", input: {} }, { kind: "done", response: "well" });
  expect([house.agent("a").prompts, house.agent("a").turns, house.state("a")]).toEqual([[], 1, "idle"]);
});
