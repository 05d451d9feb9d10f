// Bare LLMs (AG-6, CB-1) behind a real HTTP endpoint that answers, calls tools, breaks off, refuses, and hangs.
import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import type { Agent } from "../../src/core/agent/agent.ts";
import type { ProviderEvent } from "../../src/core/agent/provider.ts";
import { BareModels } from "../../src/daemon/agent/bare.ts";
import { realHttpClient } from "../../src/world/real/http-client.ts";
import { SimClock } from "../sim/clock.ts";
import { until } from "../until.ts";
import { type AgentHome, agentHomes } from "./agent-home.ts";
import { AgentFixture } from "./house.ts";
import { chunk, OpenAiMock } from "./openai-mock.ts";

const home = agentHomes();
const mocks: OpenAiMock[] = [];
afterEach(() => {
  for (const mock of mocks.splice(0)) mock.close();
});

function newMock(): OpenAiMock {
  const mock = new OpenAiMock();
  mocks.push(mock);
  return mock;
}

async function begin(place: AgentHome, mock: OpenAiMock): Promise<Readonly<Record<string, string>>> {
  const provider = `[provider.mock]\nkind = "openai"\nmodel = "tiny"\nbase_url = "${mock.url}"\nkey_env = "MOCK_KEY"\n`;
  writeFileSync(place.file("config.toml"), provider);
  return { HOLDFAST_CONFIG: place.file("config.toml"), MOCK_KEY: "k3y" };
}

const BARE = { provider: "mock", command: [], systemPrompt: "Be brief." };

test("a bare LLM answers, and uses the tools that others have over MCP", async () => {
  const [place, mock] = [home(), newMock()];
  await place.live(await begin(place, mock));
  mock.will({ kind: "call", id: "c1", tool: "list_children", args: {} }, { kind: "text", text: "I have none" });
  const id = await place.agent("model", BARE);
  await place.say(id, "how many?");
  await place.rests(id, 1);
  expect((await place.shown(id)).lastText).toBe("I have none");
  expect(mock.keys).toEqual(["Bearer k3y", "Bearer k3y"]);
  expect(mock.asked[1]?.messages).toMatchObject([
    { role: "system", content: "Be brief." },
    { role: "user" },
    { role: "assistant", tool_calls: [{ id: "c1", function: { name: "list_children", arguments: "{}" } }] },
    { role: "tool", tool_call_id: "c1" },
  ]);
  expect(mock.asked[0]?.tools).toHaveLength(8);
  expect(place.text(`agents/${id}/events.jsonl`)).not.toContain("k3y");
});

test("an answer that breaks off is requested again, and its first half is discarded", async () => {
  const [place, mock] = [home(), newMock()];
  await place.live(await begin(place, mock));
  mock.will({ kind: "break", text: "half of" }, { kind: "text", text: "all of it" });
  const id = await place.agent("model", BARE);
  await place.say(id, "go on");
  await place.rests(id, 1);
  expect((await place.shown(id)).lastText).toBe("all of it");
  expect(mock.asked[1]).toEqual(mock.asked[0] as never);
});

test("an endpoint that asks to retry later is called then, and not before", async () => {
  const [place, mock] = [home(), newMock()];
  await place.live(await begin(place, mock));
  mock.will({ kind: "status", status: 429, headers: { "retry-after": "3600" } });
  const long = await place.agent("long", BARE);
  await place.say(long, "go on");
  expect((await place.becomes(long, "sleeping")).note).toStartWith("It sleeps until ");
  mock.will({ kind: "status", status: 429, headers: { "retry-after": "1" } }, { kind: "text", text: "now" });
  const id = await place.agent("model", BARE);
  await place.say(id, "go on");
  await place.rests(id, 1);
  expect((await place.shown(id)).lastText).toBe("now");
  expect(await place.lastOf(id, "agent.sleeping")).toHaveProperty("until");
  expect(mock.asked).toHaveLength(3); // A longer sleep has not ended yet.
});

test("AG-6(b) the conversation is the same after the daemon was killed in the middle of an answer", async () => {
  const [place, mock] = [home(), newMock()];
  const env = await begin(place, mock);
  const first = await place.live(env);
  mock.will(
    { kind: "text", text: "one" },
    { kind: "call", id: "c1", tool: "list_children", args: {} },
    { kind: "stall" },
  );
  const id = await place.agent("model", BARE);
  await place.say(id, "first");
  await place.rests(id, 1);
  await place.say(id, "second");
  await until(
    "the third request",
    () => mock.asked.length === 3,
    () => mock.asked.length,
  );
  await place.kill(first);
  mock.will({ kind: "text", text: "two" });
  await place.live(env);
  await place.rests(id, 2);
  expect(mock.asked).toHaveLength(4);
  expect(mock.asked[3]).toEqual(mock.asked[2] as never);
});

test("AG-6(b) a model whose log lacks earlier messages is not called with less: its turn fails, with the reason", async () => {
  const [place, mock] = [home(), newMock()];
  const env = await begin(place, mock);
  mock.will({ kind: "text", text: "one" });
  const first = await place.live(env);
  const id = await place.agent("model", BARE);
  await place.say(id, "remember this");
  await place.rests(id, 1);
  expect(await place.stop(first)).toBe(0);
  const path = place.file(`agents/${id}/events.jsonl`);
  writeFileSync(path, place.text(`agents/${id}/events.jsonl`).replace("remember this", "remember that"));
  await place.live(env);
  await place.say(id, "and now?");
  expect((await place.lastOf(id, "turn.failed"))["reason"]).toContain("cannot be read from its log");
  expect(mock.asked).toHaveLength(1);
});

/** An agent with a turn and a request to make. */
function asking(): Agent {
  const fixture = new AgentFixture();
  fixture.create("bare", { provider: "openai" });
  fixture.send("bare", "hello");
  return fixture.agent("bare");
}

function modelsAt(clock: SimClock, breaker = { threshold: 5, timeoutMs: 30_000 }) {
  const answers: (readonly ProviderEvent[])[] = [];
  const partials: string[] = [];
  const models = new BareModels({
    ...{ clock, http: realHttpClient(), tools: [], variable: () => undefined, breaker },
    answered: async (_, __, events) => void answers.push(events),
    partial: (_, __, from, text) => void partials.push(`${from} ${text}`),
    onBug: (error) => {
      throw error;
    },
  });
  return { models, answers, partials };
}

function withUrl(agent: Agent, url: string): Agent {
  const recipe = { ...agent.plan.recipe, options: { base_url: url } };
  return { ...agent, plan: { ...agent.plan, recipe } };
}

test("a stream that is silent for two minutes is given up, and may be retried", async () => {
  const [clock, mock] = [new SimClock(), newMock()];
  const { models, answers } = modelsAt(clock);
  mock.will({ kind: "stall" });
  models.ask(withUrl(asking(), mock.url), 1);
  await until(
    "it was asked",
    () => mock.asked.length === 1,
    () => mock.asked.length,
  );
  clock.advance(120_000);
  await until(
    "it is given up",
    () => answers.length === 1,
    () => answers.length,
  );
  expect(answers[0]).toEqual([{ kind: "failed", reason: "Nothing was heard for 120 s.", retryable: true }]);
});

test("O3 O4 a stream that does not end is cut off: when it is too long, and when its answer is complete", async () => {
  const [clock, mock] = [new SimClock(), newMock()];
  const { models, answers } = modelsAt(clock);
  const long = chunk({ content: "x".repeat(1 << 20) });
  mock.will(
    { kind: "endless", text: "", more: long },
    { kind: "endless", text: `${chunk({ content: "well" }, "stop")}data: [DONE]\n\n`, more: ": alive\n\n" },
  );
  for (const request of [1, 2]) {
    models.ask(withUrl(asking(), mock.url), request);
    await until(
      "it is answered and cut off",
      () => answers.length === request && mock.cutOff === request,
      () => [answers.length, mock.cutOff],
    );
  }
  expect(answers[0]).toEqual([{ kind: "failed", reason: "The answer is too long.", retryable: false }]);
  expect(answers[1]?.at(-1)).toEqual({ kind: "done", response: "well" });
});

/** Knows how often something was heard of a stream: each time, the wait for the next sign begins anew. */
class HearingClock extends SimClock {
  heard = 0;

  override after(ms: number, act: () => void): () => void {
    if (ms === 120_000) this.heard += 1;
    return super.after(ms, act);
  }
}

test("B3 a stream that only gives signs of life is given up after an hour", async () => {
  const [clock, mock] = [new HearingClock(), newMock()];
  const { models, answers } = modelsAt(clock);
  mock.will({ kind: "endless", text: "", more: ": alive\n\n" });
  models.ask(withUrl(asking(), mock.url), 1);
  while (answers.length === 0) {
    const { heard } = clock;
    await until(
      "another sign of life is heard, or it is given up",
      () => clock.heard > heard || answers.length > 0,
      () => [clock.heard, answers.length],
    ); // A wait for each: the stream never rests, and later looks of one wait come slowly.
    clock.advance(50_000);
  }
  expect(answers[0]).toEqual([
    { kind: "failed", reason: "The answer was not complete after an hour.", retryable: true },
  ]);
});

test("CB-1(b,d) an endpoint that fails five times in a row is not called for a while", async () => {
  const [clock, mock] = [new SimClock(), newMock()];
  const { models, answers } = modelsAt(clock);
  const agent = withUrl(asking(), mock.url);
  for (let request = 1; request <= 6; request += 1) {
    mock.will({ kind: "status", status: 503, headers: {} });
    models.ask(agent, request);
    await until(
      "it has failed",
      () => answers.length === request,
      () => answers.length,
    );
  }
  expect(mock.asked).toHaveLength(5);
  clock.advance(60_000);
  models.ask(agent, 7);
  await until(
    "it is asked again",
    () => mock.asked.length === 6,
    () => mock.asked.length,
  );
});

test("B1 an answer to an abandoned request is discarded", async () => {
  const [clock, mock] = [new SimClock(), newMock()];
  const { models, answers } = modelsAt(clock);
  const agent = withUrl(asking(), mock.url);
  mock.will({ kind: "stall" }, { kind: "text", text: "second" });
  models.ask(agent, 1);
  models.ask(agent, 1);
  await until(
    "it was asked once",
    () => mock.asked.length === 1,
    () => mock.asked.length,
  );
  models.ask(agent, 2);
  await until(
    "the second is answered",
    () => answers.length === 1,
    () => answers.length,
  );
  expect(answers[0]?.[0]).toEqual({ kind: "text", text: "second" });
  models.ask(agent, 3);
  models.close();
});

test("CB-1(a,b,d) requests that we cancel are no failures of the endpoint; those that it fails count up to what is configured", async () => {
  const [clock, mock] = [new SimClock(), newMock()];
  const { models, answers } = modelsAt(clock, { threshold: 2, timeoutMs: 10_000 });
  const agent = withUrl(asking(), mock.url);
  for (let request = 1; request <= 6; request += 1) {
    mock.will({ kind: "stall" });
    models.ask(agent, request);
    await until(
      "it was asked",
      () => mock.asked.length === request,
      () => mock.asked.length,
    );
    models.forget(agent.id); // As an interrupt does.
  }
  const failing = async (request: number) => {
    mock.will({ kind: "status", status: 500, headers: {} });
    models.ask(agent, request);
    await until(
      "its answer",
      () => answers.length === request - 6,
      () => answers,
    );
    return answers.at(-1)?.[0];
  };
  expect(await failing(7)).toMatchObject({ kind: "failed", retryable: true });
  expect(await failing(8)).toMatchObject({ kind: "failed", retryable: true });
  expect(mock.asked.length).toBe(8);
  expect(await failing(9)).toMatchObject({ reason: expect.stringContaining("is not being called") });
  expect(mock.asked.length).toBe(8);
});

test("B4 text is passed on as it comes, each piece with its place; what was used comes with the answer", async () => {
  const [clock, mock] = [new SimClock(), newMock()];
  const { models, answers, partials } = modelsAt(clock);
  mock.will({ kind: "stall", text: "Once upon" });
  models.ask(withUrl(asking(), mock.url), 1);
  await until(
    "a piece comes",
    () => partials.length === 1,
    () => partials,
  );
  mock.release();
  await until(
    "it is answered",
    () => answers.length === 1,
    () => answers,
  );
  expect(partials.join("")).toStartWith("0 Once upon9 and");
  const usage = { input_tokens: 1, output_tokens: 5, cached_tokens: 1, cost_usd: 0.25 };
  expect(answers[0]?.slice(0, 2)).toEqual([
    { kind: "text", text: "Once uponand so on" },
    { kind: "usage", usage },
  ]);
});

test("an endpoint that does not know how to count tokens is asked without that, at once and from then on", async () => {
  const [clock, mock] = [new SimClock(), newMock()];
  const { models, answers } = modelsAt(clock, { threshold: 1, timeoutMs: 10_000 });
  const message = "Unknown parameter: stream_options";
  mock.will({ kind: "status", status: 422, headers: {}, message }, { kind: "text", text: "well" });
  for (const request of [1, 2]) {
    models.ask(withUrl(asking(), mock.url), request);
    await until(
      "it is answered",
      () => answers.length === request,
      () => answers,
    );
  }
  expect(mock.asked.map((asked) => "stream_options" in asked)).toEqual([true, false, false]);
  expect(answers[0]).toEqual([
    { kind: "text", text: "well" },
    { kind: "done", response: "well" },
  ]);
});

test("CB-1(b) each model of an endpoint has a circuit of its own, and an open one says until when it waits, and why", async () => {
  const [clock, mock] = [new SimClock(), newMock()];
  const { models, answers } = modelsAt(clock, { threshold: 1, timeoutMs: 10_000 });
  const named = (model: string): Agent => {
    const agent = withUrl(asking(), mock.url);
    return { ...agent, plan: { ...agent.plan, recipe: { ...agent.plan.recipe, model } } };
  };
  const answerTo = async (model: string, request: number) => {
    models.ask(named(model), request);
    await until(
      "it is answered",
      () => answers.length === request,
      () => answers,
    );
    return answers.at(-1)?.at(-1);
  };
  mock.will({ kind: "status", status: 500, headers: {}, message: "on fire" });
  await answerTo("tiny", 1);
  clock.advance(4_000);
  const reason = "(tiny) is not being called: it failed too often. It failed with: 500: on fire";
  const until10 = new Date(clock.now() + 6_000).toISOString();
  expect(await answerTo("tiny", 2)).toEqual({ kind: "later", until: until10, reason: expect.stringContaining(reason) });
  expect(mock.asked).toHaveLength(1);
  expect(await answerTo("huge", 3)).toEqual({ kind: "done", response: "nothing more" });
});
