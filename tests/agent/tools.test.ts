// The tools that agents have, over MCP and in the output of a process: what each does, exactly once.
import { expect, test } from "bun:test";
import { isId } from "../../src/base/ids.ts";
import { derivedId } from "../../src/core/agent/derive.ts";
import { inputsFrom } from "../../src/core/agent/effects.ts";
import { TOOLS } from "../../src/core/agent/tool-shapes.ts";
import { AgentFixture, planFor } from "./house.ts";

function pair(): AgentFixture {
  const fixture = new AgentFixture();
  fixture.create("a", { instructions: "go" });
  fixture.start("a");
  fixture.create("b", { parent: "a" });
  return fixture;
}

test("there are eight tools, and each describes its parameters", () => {
  expect(TOOLS.map(({ name }) => name).join(" ")).toBe(
    "spawn_agent send_message broadcast check_inbox inspect_agent list_children complete remind_me",
  );
  for (const { inputSchema } of TOOLS)
    expect(inputSchema.required.filter((name) => !(name in inputSchema.properties))).toEqual([]);
});

test("a repeated call is answered from the log: no spawn and no message happens twice", () => {
  const fixture = pair();
  const spawned = fixture.call("a", "c1", "spawn_agent", { name: "kid", instructions: "dig" });
  const again = {
    kind: "call",
    id: "a",
    call: "c1",
    tool: "spawn_agent",
    args: { name: "kid", instructions: "dig" },
  } as const;
  expect(fixture.do(again)).toEqual([]);
  expect(fixture.call("a", "c1", "spawn_agent", {})).toEqual(spawned);
  fixture.call("a", "c2", "send_message", { to: "b", text: "x" });
  fixture.call("a", "c2", "send_message", { to: "b", text: "x" });
  expect([fixture.tree.childrenOf("a").length, fixture.agent("b").inbox.length]).toEqual([2, 1]);
  expect(fixture.replayed().do(again)).toEqual([]);
});

/** The ids of what a call of each kind makes: messages to the parent and to a sibling, and a child. */
function made(key: string): string[] {
  const fixture = pair();
  Object.assign(fixture, { keyed: (text: string) => derivedId(key, text) });
  fixture.create("c", { parent: "a" });
  fixture.call("b", "c1", "send_message", { to: "parent", text: "x" });
  fixture.call("b", "c2", "broadcast", { text: "x" });
  fixture.call("b", "c3", "spawn_agent", { name: "kid", instructions: "" });
  fixture.call("b", "c4", "complete", { result: "x" });
  return fixture.events.flatMap((one) => {
    if (one.event === "message.enqueued" && one.data.sender === "b") return [one.data.message_id];
    return one.event === "agent.created" && one.data.parent_session_id === "b" ? [one.id] : [];
  });
}

test("D4 an agent cannot compute the id of what a sibling's call makes, and so cannot take it", () => {
  const ids = made("key");
  expect(ids.filter(isId)).toHaveLength(4);
  expect(made("key")).toEqual(ids);
  const computed = [
    ["message", "c1"],
    ["complete", "c4"],
    ["broadcast", "c2", "c"],
    ["spawn", "c3"],
  ];
  const others = [...computed.map((parts) => derivedId("b", ...parts)), ...made("another")];
  expect(ids.filter((id) => others.includes(id))).toEqual([]);
});

test("D5 what version 0.1 made for a call is recognised when the call comes again", () => {
  const fixture = pair();
  const at = "2026-01-01T00:00:00.000Z";
  const message_id = derivedId("b", "message", "c1");
  const head = { message_id, sender: "b", recipient: "a", kind: "message", payload: "x" } as const;
  const data = { ...head, timestamp: at, reply_to: null, metadata: {} };
  fixture.fold({ id: "a", event: "message.enqueued", data });
  expect(fixture.call("b", "c1", "send_message", { to: "parent", text: "x" }).ok).toBe(true);
  expect(fixture.agent("a").inbox.map((one) => one.message_id)).toEqual([message_id]);
  const kid = derivedId("b", "spawn", "c2");
  fixture.do({
    kind: "create",
    id: kid,
    name: "kid",
    parent: "b",
    instructions: "",
    plan: planFor("scripted"),
    settings: {},
  });
  expect(fixture.call("b", "c2", "spawn_agent", { name: "kid", instructions: "" }).result).toMatchObject({
    agent: kid,
  });
  expect(fixture.tree.childrenOf("b")).toEqual([kid]);
});

test("a call in the output of a process is answered on its input, and its repeat gets the same result", () => {
  const fixture = pair();
  fixture.says("a", { kind: "call", call: "c1", tool: "send_message", args: { to: "b", text: "x" } });
  const [first] = inputsFrom(fixture.agent("a"), 1);
  expect(first?.input).toMatchObject({ kind: "result", call: "c1", ok: true });
  fixture.takeAll("a");
  fixture.says("a", { kind: "call", call: "c1", tool: "send_message", args: { to: "b", text: "x" } });
  expect([inputsFrom(fixture.agent("a"), 1)[0]?.input, fixture.agent("b").inbox.length]).toEqual([
    ...[first?.input, 1],
  ]);
});

test("AG-3(b) check_inbox returns messages, and they are delivered when the caller has them", () => {
  const fixture = pair();
  fixture.send("a", "m1", "one");
  fixture.send("a", "m2", "two");
  const { result } = fixture.call("a", "c1", "check_inbox");
  expect(result).toMatchObject({ messages: [{ id: "m1", from: "the user", text: "one" }, { id: "m2" }] });
  expect([fixture.agent("a").inbox.length, fixture.call("a", "c2", "check_inbox").result]).toEqual([
    2,
    { messages: [] },
  ]);
  expect(fixture.do({ kind: "call-taken", id: "a", call: "c1" })).toEqual([
    ...["tool.taken a", "message.delivered a", "message.delivered a"],
  ]);
  expect(fixture.do({ kind: "call-taken", id: "a", call: "c1" })).toEqual([]);
  fixture.done("a");
  expect(fixture.agent("a").turn).toBeUndefined();
});

test("AG-3(c) messages returned to a process that died are returned again", () => {
  const fixture = pair();
  fixture.send("a", "m1", "one");
  fixture.call("a", "c1", "check_inbox");
  fixture.ends("a", 1);
  fixture.wait(1000);
  fixture.do({ kind: "wake", id: "a" });
  fixture.start("a");
  fixture.done("a");
  expect(fixture.agent("a").turn?.messages).toEqual(["m1"]);
});

test("AG-3(b) a call in the output is delivered once the process continues after its result", () => {
  const fixture = pair();
  fixture.send("a", "m1", "one");
  fixture.says("a", { kind: "call", call: "c1", tool: "check_inbox", args: null });
  fixture.takeAll("a");
  expect(fixture.agent("a").inbox.length).toBe(1);
  expect(fixture.says("a", { kind: "text", text: "I see" })).toEqual([
    "tool.taken a",
    "message.delivered a",
    "agent.read a",
  ]);
  fixture.send("a", "m2", "two");
  fixture.says("a", { kind: "call", call: "c2", tool: "check_inbox", args: null }, { kind: "done", response: "" });
  expect(fixture.takeAll("a")).toEqual(["input.taken a", "tool.taken a", "message.delivered a"]);
});

test("an agent can inspect the state of others", () => {
  const fixture = pair();
  fixture.send("b", "m1");
  expect(fixture.call("a", "c1", "list_children").result).toEqual({
    children: [{ name: "b", state: "working", inbox: 1 }],
  });
  expect(fixture.call("b", "c1", "inspect_agent", { name: "parent" }).result).toMatchObject({
    name: "a",
    state: "working",
  });
  expect(fixture.call("b", "c2", "inspect_agent", { name: "x" }).ok).toBe(false);
});

test("remind_me wakes the agent with its own words, also after a crash, and once", () => {
  const fixture = pair();
  const { result } = fixture.call("a", "c1", "remind_me", { in_seconds: 60, text: "look again" });
  fixture.done("a");
  const next = fixture.replayed();
  expect(next.effects("a")).toEqual([{ kind: "timer", id: "a", at: new Date(next.now + 60_000).toISOString() }]);
  expect(result).toMatchObject({ due: new Date(next.now + 60_000).toISOString() });
  next.wait(60_000);
  expect(next.do({ kind: "wake", id: "a" })).toEqual(["message.enqueued a", "reminder.fired a", "turn.start a"]);
  expect(next.agent("a").turn?.prompt.text).toContain("look again");
  expect(next.do({ kind: "wake", id: "a" })).toEqual([]);
  expect(fixture.call("a", "c2", "remind_me", { in_seconds: -1, text: "x" }).ok).toBe(false);
});

test("a tool that cannot do what is asked gives the reason, and does nothing", () => {
  const fixture = pair();
  const wrong: readonly (readonly [string, Parameters<AgentFixture["call"]>[3]])[] = [
    ["fly", {}],
    ["send_message", { to: "b" }],
    ["send_message", { to: "b", text: 3 }],
    ["send_message", []],
    ["send_message", { to: "b", text: "x".repeat(200_000) }],
    ["spawn_agent", { name: "b", instructions: "x" }],
    ["spawn_agent", { name: "c", instructions: "x", provider: "none" }],
    ["broadcast", { text: null }],
  ];
  for (const [at, [tool, args]] of wrong.entries()) {
    expect([tool, fixture.call("a", `w${at}`, tool, args).ok]).toEqual([tool, false]);
  }
  expect([fixture.agent("b").inbox, fixture.tree.childrenOf("a")]).toEqual([[], ["b"]]);
});

test("a child takes its recipe from the configuration, and directory and environment from its parent", () => {
  const recipe = { provider: "openai", model: "m", command: [], flags: [], permissionMode: null, options: {} } as const;
  const fixture = new AgentFixture({ recipes: { llm: recipe }, spawns: { scripted: ["llm"] } });
  fixture.create("a");
  fixture.call("a", "c1", "spawn_agent", {
    name: "k",
    instructions: "x",
    provider: "llm",
    model: "n",
    system_prompt: "s",
  });
  const kid = fixture.agent(fixture.tree.childOf("a", "k") ?? "");
  expect([kid.plan.recipe, kid.plan.cwd, kid.plan.system_prompt]).toEqual([{ ...recipe, model: "n" }, "/w", "s"]);
  expect(kid.settings.recovery).toBe("parent");
});

test("IN1 an agent starts others on its own provider and on those that its provider and its ancestors' list", () => {
  const recipe = (name: string) =>
    ({
      provider: "scripted",
      name,
      model: null,
      command: ["x"],
      flags: [],
      permissionMode: null,
      options: {},
    }) as const;
  const recipes = { fast: recipe("fast"), slow: recipe("slow"), other: recipe("other") };
  const spawns = { scripted: ["fast", "slow"], fast: ["slow", "other"], slow: ["gone"] };
  const fixture = new AgentFixture({ recipes, spawns });
  const spawn = (by: string, provider: string, name = provider) => {
    const { ok, result } = fixture.call(by, `c${fixture.events.length}`, "spawn_agent", {
      name,
      instructions: "x",
      provider,
    });
    return ok ? (fixture.tree.childOf(by, name) ?? "") : JSON.stringify(result);
  };
  fixture.create("a");
  const fast = spawn("a", "fast");
  expect(fixture.agent(fast).plan.recipe).toEqual(recipe("fast"));
  expect(fixture.agent(spawn("a", "scripted", "same")).plan.recipe).toEqual(fixture.agent("a").plan.recipe);
  expect(spawn("a", "other")).toContain('[provider.scripted] spawns = [\\"other\\"]');
  expect(fixture.agent(spawn(fast, "slow")).plan.recipe.name).toBe("slow");
  expect(spawn(fast, "other")).toContain("a runs on scripted, whose agents may not start any on other");
  expect(spawn(fast, "constructor")).toContain("may not start any");
});

test("IN2 a child has no higher permission mode than its parent: it is lowered, or refused if a person wants it", () => {
  const claude = (permissionMode: string | null, name = "c") =>
    ({ provider: "claude", name, model: null, command: [], flags: [], permissionMode, options: {} }) as const;
  const fixture = new AgentFixture({ recipes: { free: claude("bypassPermissions") }, spawns: { c: ["free"] } });
  const create = (id: string, mode: string | null, parent?: string) => {
    const plan = { recipe: claude(mode), system_prompt: "", cwd: "/w", environment: {}, workspace: null };
    return fixture.refusal({ kind: "create", id, name: id, parent, instructions: "", plan, settings: {} });
  };
  expect([create("plain", null), create("free", "bypassPermissions"), create("edits", "acceptEdits")]).toEqual([
    "",
    "",
    "",
  ]);
  const modes = ["plain", "edits", "free"].map((id) => {
    fixture.call(id, "c1", "spawn_agent", { name: "kid", instructions: "x", provider: "free" });
    return fixture.agent(fixture.tree.childOf(id, "kid") ?? "").plan.recipe.permissionMode;
  });
  expect(modes).toEqual([null, "acceptEdits", "bypassPermissions"]);
  const below = [
    ["plan", "plain"],
    ["default", "plain"],
    ["acceptEdits", "plain"],
    ["acceptEdits", "edits"],
    ["unknown", "edits"],
    ["unknown", "free"],
  ] as const;
  expect(below.map(([mode, parent], at) => create(`n${at}`, mode, parent))).toEqual([
    ...["", "", "above-parent", "", "above-parent", ""],
  ]);
});

test("the id of a call has at most 256 characters", () => {
  const fixture = pair();
  const call = (id: string) => ({ kind: "call", id: "a", call: id, tool: "list_children", args: {} }) as const;
  expect([fixture.refusal(call("c".repeat(256))), fixture.refusal(call("c".repeat(257)))]).toEqual(["", "bad-call"]);
  const inline = { kind: "call", call: "c".repeat(257), tool: "list_children", args: {} } as const;
  expect(fixture.says("a", inline)).toEqual(["agent.read a", "turn.failed a", "agent.held a"].slice(0, 2));
});

test("only the calls of the current and the last turn are remembered", () => {
  const fixture = pair();
  for (let turn = 1; turn <= 3; turn += 1) {
    for (let at = 0; at < 5; at += 1) fixture.call("a", `t${turn}.${at}`, "list_children");
    fixture.done("a");
    fixture.send("a", `m${turn}`);
    fixture.takeAll("a");
  }
  fixture.call("a", "last", "list_children");
  expect(
    fixture
      .agent("a")
      .calls.map(({ call }) => call)
      .sort(),
  ).toEqual(["last", "t3.0", "t3.1", "t3.2", "t3.3", "t3.4"]);
});
