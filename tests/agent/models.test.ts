// What becomes of turns that their provider refuses: trimmed, repeated, left out, slept through. And what they used.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Agent, stateOf } from "../../src/core/agent/agent.ts";
import { heardPieces } from "../../src/core/agent/conversation.ts";
import type { ProviderEvent } from "../../src/core/agent/provider.ts";
import { isTooLong } from "../../src/core/agent/trim.ts";
import { listedAgent } from "../../src/wire/rpc/listed-agent.ts";
import { amount, PROFILE } from "../sim/fuzz/profile.ts";
import { AgentFixture, planFor } from "./house.ts";
import { expectWhole } from "./whole.ts";

const WORDS = "word ".repeat(200);
const TOO_LONG = { kind: "failed", reason: "400: too long", retryable: false } as const;

function bare(options: Readonly<Record<string, number>> = {}): AgentFixture {
  const fixture = new AgentFixture();
  const plan = planFor("openai");
  const recipe = { ...plan.recipe, options };
  const plain = { parent: undefined, instructions: "", settings: {} };
  fixture.do({ kind: "create", id: "a", name: "a", ...plain, plan: { ...plan, recipe } });
  return fixture;
}

/** A bare LLM with this many complete turns, each about a kilobyte long. */
function talked(turns: number, options: Readonly<Record<string, number>> = {}): AgentFixture {
  const fixture = bare(options);
  for (let turn = 1; turn <= turns; turn += 1) {
    fixture.send("a", `m${turn}`, `${turn} ${WORDS}`);
    fixture.done("a", `answer ${turn}`);
  }
  return fixture;
}

/** What its model would get now, each piece by its first word or its role. */
function heard(fixture: AgentFixture): string[] {
  return heardPieces(fixture.agent("a").conversation).map(({ piece }) =>
    piece.role === "tool" ? `result ${piece.call}` : piece.text.split(" ").slice(0, 2).join(" ").slice(0, 8),
  );
}

function sameAfterReplay(fixture: AgentFixture): void {
  expect(fixture.replayed().agent("a")).toEqual(fixture.agent("a"));
}

test("TR1 a conversation that does not fit is asked again without its oldest turns, and the log keeps them", () => {
  const fixture = talked(4);
  fixture.send("a", "m5", "5 now");
  const refused: ProviderEvent = { ...TOO_LONG, context: { limit: 1000, used: 1100 } };
  expect(fixture.says("a", refused)).toEqual(["agent.read a", "conversation.trimmed a", "turn.retrying a"]);
  expect(heard(fixture)).toEqual(["3 word", "answer 3", "4 word", "answer 4", "5 now"]);
  expect(fixture.agent("a").conversation.said).toHaveLength(9);
  expect(fixture.agent("a").conversation.left).toMatchObject({ forgotten: 4, limit: 1000 });
  fixture.do({ kind: "wake", id: "a" });
  expect(fixture.effects("a")).toMatchObject([{ kind: "ask", turn: 5 }]);
  fixture.done("a", "well");
  expect([fixture.state("a"), fixture.agent("a").inbox.length]).toEqual(["idle", 0]);
  sameAfterReplay(fixture);
});

test("TR1 rounds of the current turn go when no older turn is left, but neither its prompt nor its last round", () => {
  const fixture = bare();
  fixture.send("a", "m1", "1 task");
  for (const call of ["c1", "c2", "c3"])
    fixture.says(
      "a",
      { kind: "text", text: `${call} ${WORDS}` },
      { kind: "call", call, tool: "list_children", args: {} },
    );
  fixture.says("a", { ...TOO_LONG, context: { limit: 1000, used: 1500 } });
  expect(heard(fixture)).toEqual(["1 task", "c3 word", "result c3"]);
  fixture.do({ kind: "wake", id: "a" });
  fixture.says("a", { ...TOO_LONG, context: {} });
  expect([fixture.agent("a").turn, fixture.agent("a").failure?.reason]).toEqual([undefined, "400: too long"]);
  sameAfterReplay(fixture);
});

test("TR1 a message that does not fit by itself fails its turn, stays in the inbox, and is sent once with the next", () => {
  const fixture = talked(1);
  fixture.send("a", "m2", `2 ${WORDS}`);
  for (let tries = 0; fixture.agent("a").turn !== undefined && tries < 9; tries += 1) {
    fixture.says("a", { ...TOO_LONG, context: { limit: 100, used: 400 } });
    fixture.do({ kind: "wake", id: "a" });
  }
  expect([fixture.state("a"), fixture.agent("a").inbox.length]).toEqual(["suspended", 1]);
  expect(heard(fixture)).toEqual([]);
  fixture.do({ kind: "inbox-edit", id: "a", message: "m2", payload: "2 short" });
  fixture.do({ kind: "retry", id: "a" });
  expect(heard(fixture)).toEqual(["2 short"]);
  sameAfterReplay(fixture);
});

test("TR2 with a limit that is known, the oldest is left out before the request, and not at every request", () => {
  const fixture = talked(4, { context_tokens: 1100 });
  expect(isTooLong(fixture.agent("a"))).toBe(false);
  fixture.send("a", "m5", `5 ${WORDS}`);
  expect(isTooLong(fixture.agent("a"))).toBe(true);
  expect(fixture.do({ kind: "trim", id: "a" })).toEqual(["conversation.trimmed a"]);
  expect(heard(fixture)).toEqual(["4 word", "answer 4", "5 word"]);
  expect([isTooLong(fixture.agent("a")), fixture.do({ kind: "trim", id: "a" })]).toEqual([false, []]);
  fixture.done("a");
  fixture.send("a", "m6", `6 ${WORDS}`);
  expect(isTooLong(fixture.agent("a"))).toBe(false);
  const alone = bare({ context_tokens: 10 });
  alone.send("a", "m1", WORDS);
  expect(isTooLong(alone.agent("a"))).toBe(false); // There is nothing to leave out.
});

test("a message that is refused for good is asked for once more only if a person wants it", () => {
  const fixture = talked(1);
  fixture.send("a", "m2", "2 poison");
  const refused = { kind: "failed", reason: "400: bad image", retryable: false } as const;
  fixture.says("a", refused);
  expect(heard(fixture)).toEqual(["1 word", "answer 1"]);
  fixture.send("a", "m3", "3 next");
  expect(fixture.agent("a").turn?.messages).toEqual(["m2", "m3"]);
  expect(fixture.refusal({ kind: "inbox-drop", id: "a", messages: ["m2"] })).toBe("given");
  fixture.says("a", refused);
  expect(fixture.do({ kind: "inbox-drop", id: "a", messages: ["m2"] })).toEqual(["message.dropped a"]);
  expect(fixture.refusal({ kind: "inbox-drop", id: "a", messages: ["m2"] })).toBe("unknown");
  fixture.do({ kind: "retry", id: "a" });
  expect(heard(fixture)).toEqual(["1 word", "answer 1", "3 next"]);
  fixture.done("a");
  expect(fixture.state("a")).toBe("idle");
  sameAfterReplay(fixture);
});

test("IB2 when the last message of a turn that failed is dropped, its agent waits no longer", () => {
  const fixture = bare();
  fixture.send("a", "m1");
  fixture.says("a", TOO_LONG);
  expect([fixture.state("a"), listedAgent(fixture.agent("a")).failure?.turn]).toEqual(["suspended", 1]);
  fixture.do({ kind: "inbox-drop", id: "a", messages: ["m1"] });
  expect([fixture.state("a"), listedAgent(fixture.agent("a")).failure]).toEqual(["idle", undefined]);
  expect(fixture.refusal({ kind: "retry", id: "a" })).toBe("nothing-to-retry");
  fixture.send("a", "m1"); // Its id is known: a client that repeats it does not bring it back.
  expect(fixture.agent("a").inbox).toEqual([]);
});

test("`retry --without` drops what the turn that failed was given, and continues with the rest", () => {
  const fixture = bare();
  fixture.send("a", "m1", "1 poison");
  fixture.says("a", TOO_LONG);
  expect(fixture.do({ kind: "retry", id: "a", without: true })).toEqual(["message.dropped a", "agent.released a"]);
  fixture.send("a", "m2", "2 task");
  fixture.says("a", { kind: "call", call: "c1", tool: "list_children", args: {} });
  fixture.says("a", TOO_LONG); // The result of its call is refused: the turn had been taken.
  expect([fixture.agent("a").inbox, heard(fixture)]).toEqual([[], ["2 task", "", "result c1"]]);
  expect(fixture.do({ kind: "retry", id: "a", without: true })).toEqual(["conversation.trimmed a"]);
  expect([heard(fixture), fixture.agent("a").failure]).toEqual([[], undefined]);
  expect(fixture.refusal({ kind: "retry", id: "a", without: true })).toBe("nothing-to-retry");
  sameAfterReplay(fixture);
});

test("RT1 a turn that failed after its messages were taken is repeated by `agent retry`, once", () => {
  const fixture = new AgentFixture();
  fixture.create("a");
  fixture.send("a", "m1", "build it");
  fixture.start("a");
  fixture.says("a", { kind: "failed", reason: "500: oops", retryable: true });
  expect([fixture.state("a"), fixture.agent("a").inbox]).toEqual(["idle", []]);
  expect(fixture.refusal({ kind: "retry", id: "a", without: true })).toBe("taken");
  expect(fixture.do({ kind: "retry", id: "a" })).toContain("turn.start a");
  const { recovery_prompt } = fixture.agent("a").settings;
  expect(fixture.agent("a").turn?.prompt.text).toBe(`${recovery_prompt}\n\nbuild it`);
  expect(fixture.refusal({ kind: "retry", id: "a" })).toBe("nothing-to-retry");
  fixture.takeAll("a");
  fixture.done("a");
  expect(["failure" in fixture.agent("a"), fixture.agent("a").turns]).toEqual([false, 2]);
});

test("a service that is asked too often is slept on for longer each time, and the turn and its prompt stay", () => {
  const fixture = new AgentFixture();
  fixture.create("a", { provider: "claude" });
  fixture.send("a", "m1", "build it");
  fixture.start("a");
  const waits: number[] = [];
  for (let naps = 0; naps < 8; naps += 1) {
    fixture.says("a", { kind: "limit", until: "", reason: "429: slow down" });
    const until = Date.parse(fixture.agent("a").sleep?.until ?? "");
    waits.push((until - fixture.now) / 60_000);
    expect(listedAgent(fixture.agent("a"))).toMatchObject({
      state: "sleeping",
      note: expect.stringContaining("429: slow down"),
    });
    fixture.wait(until - fixture.now);
    fixture.do({ kind: "wake", id: "a" });
    fixture.takeAll("a");
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 64]);
  fixture.says("a", { kind: "text", text: "I am back" });
  fixture.says("a", { kind: "limit", until: "", reason: "429" });
  expect(Date.parse(fixture.agent("a").sleep?.until ?? "") - fixture.now).toBe(60_000);
  expect(fixture.agent("a").turns).toBe(1);
});

test("a sleep is neither shortened nor lost by a crash of the machine, nor by a later word without a time", () => {
  const fixture = new AgentFixture();
  fixture.create("a", { provider: "claude", settings: { recovery: "auto" } });
  fixture.send("a", "m1", "build it");
  fixture.start("a");
  const until = new Date(fixture.now + 3_600_000).toISOString();
  fixture.says("a", { kind: "limit", until });
  fixture.says("a", { kind: "limit", until: "", reason: "429" });
  const next = fixture.replayed();
  next.do({ kind: "detach", id: "a" });
  next.ends("a", null);
  next.do({ kind: "schedule", id: "a" });
  expect([next.state("a"), next.agent("a").sleep?.until]).toEqual(["sleeping", until]);
  expect(next.effects("a")).toEqual([{ kind: "timer", id: "a", at: until }]);
  next.wait(3_600_000);
  next.do({ kind: "wake", id: "a" });
  expect([next.state("a"), next.agent("a").process.kind]).toEqual(["working", "Spawning"]);
  expect(next.agent("a").turn?.prompt.text).toContain("build it");
});

test("429 without a time is retried soon at first, and then slept on: its turn does not fail", () => {
  const busy = { kind: "failed", reason: "429: slow down", retryable: true, passing: true } as const;
  const fixture = bare();
  fixture.send("a", "m1");
  for (let tries = 1; tries <= 5; tries += 1) {
    expect(fixture.says("a", busy)).toEqual(["agent.read a", "turn.retrying a"]);
    fixture.wait(60_000);
    fixture.do({ kind: "wake", id: "a" });
  }
  expect(fixture.says("a", busy)).toEqual(["agent.read a", "agent.sleeping a"]);
  fixture.wait(60_000);
  fixture.do({ kind: "wake", id: "a" });
  expect(fixture.effects("a")).toMatchObject([{ kind: "ask", turn: 1 }]);
  fixture.done("a");
  const hasty = new AgentFixture();
  hasty.create("a", { provider: "openai", settings: { sleep_on_limit: false } });
  hasty.send("a", "m1");
  for (let tries = 1; tries <= 6; tries += 1) {
    hasty.says("a", busy);
    hasty.wait(60_000);
    hasty.do({ kind: "wake", id: "a" });
  }
  expect([hasty.state("a"), hasty.agent("a").failure?.reason]).toEqual(["suspended", "429: slow down"]);
});

test("a request that was not made is none of a turn's attempts, and its agent says what it waits for", () => {
  const fixture = bare();
  fixture.send("a", "m1");
  for (let waits = 0; waits < 20; waits += 1) {
    const until = new Date(fixture.now + 30_000).toISOString();
    fixture.says("a", { kind: "later", reason: "the model is not being called: 503", until });
    expect(listedAgent(fixture.agent("a")).note).toBe(`It tries again at ${until}. the model is not being called: 503`);
    fixture.wait(30_000);
    fixture.do({ kind: "wake", id: "a" });
  }
  expect([fixture.agent("a").turn?.tries, fixture.agent("a").turn?.taken]).toEqual([0, false]);
  expect(listedAgent(fixture.agent("a")).note).toBe(null);
  sameAfterReplay(fixture);
});

test("a provider's own retries are shown while they last, and its silence meanwhile is no hang", () => {
  const fixture = new AgentFixture();
  fixture.create("a", { provider: "claude", settings: { hung_after_ms: 60_000 } });
  fixture.send("a", "m1");
  fixture.start("a");
  fixture.says("a", { kind: "retrying", reason: "429 rate_limit", attempt: 2, of: 10, delay_ms: 90_000 });
  expect(listedAgent(fixture.agent("a")).note).toContain("(2 of 10): 429 rate_limit");
  fixture.wait(149_000);
  expect(fixture.do({ kind: "wake", id: "a" })).toEqual([]);
  fixture.says("a", { kind: "text", text: "on we go" });
  expect(listedAgent(fixture.agent("a")).note).toBe(null);
  fixture.says("a", { kind: "retrying", reason: "429", attempt: 1, of: 10, delay_ms: 1e15 });
  fixture.wait(3_600_000 + 60_000);
  expect(fixture.do({ kind: "wake", id: "a" })).toEqual(["process.stopping a"]);
});

function used(agent: Agent): unknown {
  return [agent.turn?.usage, agent.usage];
}

test("what a turn used is in the event of its end, and summed; costs of a process are a total", () => {
  const fixture = new AgentFixture();
  fixture.create("a", { provider: "claude" });
  fixture.send("a", "m1");
  fixture.start("a");
  const bill = (input_tokens: number, cost_usd: number): ProviderEvent => {
    return { kind: "usage", usage: { input_tokens, output_tokens: 5, cached_tokens: 1, cost_usd }, total: "process" };
  };
  fixture.says("a", bill(10, 0.25), { kind: "done", response: "ok" });
  const end = fixture.events.findLast(({ event }) => event === "turn.complete");
  const first = { input_tokens: 10, output_tokens: 5, cached_tokens: 1, cost_usd: 0.25 };
  expect([end?.data, used(fixture.agent("a"))]).toMatchObject([{ usage: first }, [undefined, first]]);
  fixture.send("a", "m2");
  fixture.takeAll("a");
  fixture.says("a", bill(20, 0.75), { kind: "failed", reason: "no", retryable: false });
  expect(fixture.agent("a").usage).toEqual({ input_tokens: 30, output_tokens: 10, cached_tokens: 2, cost_usd: 0.75 });
  fixture.ends("a", 1);
  fixture.wait(60_000);
  fixture.do({ kind: "wake", id: "a" });
  fixture.send("a", "m3");
  fixture.start("a");
  fixture.says("a", bill(1, 1), { kind: "done", response: "ok" }); // A new process begins at nothing.
  expect(listedAgent(fixture.agent("a")).usage?.cost_usd).toBe(1.75);
  sameAfterReplay(fixture);
});

test("what the requests of a bare LLM used is summed in its turn; one that never says it has none", () => {
  const fixture = bare();
  const usage = { input_tokens: 10, output_tokens: 5 };
  fixture.send("a", "m1");
  fixture.says("a", { kind: "usage", usage }, { kind: "call", call: "c1", tool: "list_children", args: {} });
  expect(fixture.agent("a").turn?.usage).toEqual(usage);
  fixture.says("a", { kind: "usage", usage: { ...usage, cost_usd: 0.5 } }, { kind: "done", response: "ok" });
  expect(fixture.agent("a").usage).toEqual({ input_tokens: 20, output_tokens: 10, cost_usd: 0.5 });
  const silent = bare();
  silent.send("a", "m1");
  silent.done("a");
  expect("usage" in listedAgent(silent.agent("a"))).toBe(false);
  expect(stateOf(silent.agent("a"))).toBe("idle");
});

const ACTS = ["send", "done", "call", "too long", "refused", "wake", "retry", "without", "drop", "interrupt"] as const;

function act(fixture: AgentFixture, what: (typeof ACTS)[number], number: number): void {
  const { turn, inbox } = fixture.agent("a");
  const says = (event: ProviderEvent) => (turn?.retryAt === undefined ? fixture.says("a", event) : []);
  const unread = inbox.slice(-1).map(({ message_id }) => message_id);
  if (what === "send") fixture.send("a", `m${number}`, `${number} ${WORDS}`);
  else if (what === "done") says({ kind: "done", response: `answer ${number}` });
  else if (what === "call") says({ kind: "call", call: `c${number}`, tool: "list_children", args: {} });
  else if (what === "too long") says({ ...TOO_LONG, context: number % 2 === 0 ? { limit: 500, used: 900 } : {} });
  else if (what === "refused") says(TOO_LONG);
  else if (what === "wake") fixture.do({ kind: "wake", id: "a" });
  else if (what === "drop") fixture.try({ kind: "inbox-drop", id: "a", messages: unread });
  else if (what === "without") fixture.try({ kind: "retry", id: "a", without: true });
  else fixture.try({ kind: what, id: "a" });
}

test("whatever is refused, left out, dropped and repeated, a model gets whole rounds, its prompt, and no message twice", () => {
  const acts = fc.array(fc.constantFrom(...ACTS, "send", "done", "call", "too long", "wake"), {
    minLength: 20,
    maxLength: 60,
  });
  const holds = fc.property(acts, (all) => {
    const fixture = bare();
    for (const [number, what] of all.entries()) {
      act(fixture, what, number);
      expectWhole(fixture.agent("a"));
      const users = heard(fixture).filter((text) => / word$/.test(text));
      expect(new Set(users).size).toBe(users.length);
    }
    sameAfterReplay(fixture);
  });
  fc.assert(holds, { seed: PROFILE.seed, numRuns: amount(100, 2_000) });
});
