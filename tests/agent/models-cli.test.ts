// Agents on a model that refuses, streams and counts, as their user sees them: a real Holdfast, and an endpoint on
// loopback. One home for all, because starting it takes long.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { rejects } from "../cli/expect.ts";
import { endAll, Home } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { ACTOR } from "./agent-home.ts";
import { OpenAiMock } from "./openai-mock.ts";

const home = new Home();
const mock = new OpenAiMock();

beforeAll(async () => {
  const provider = `[provider.mock]\nkind = "openai"\nmodel = "tiny"\nbase_url = "${mock.url}"\n`;
  appendFileSync(join(home.path, "config.toml"), `\n[breaker]\nfailures = 1\ntimeout_s = 3\n${provider}`);
  await home.ok("up");
});

afterEach(() => mock.release());

afterAll(async () => {
  mock.close();
  await endAll();
});

function make(name: string): Promise<string> {
  return home.ok("agent", "new", name, "--provider", "mock");
}

/** The row of `agent tree` about it. */
async function shown(name: string): Promise<string> {
  const rows = (await home.ok("agent", "tree")).split("\n");
  return rows.find((row) => row.startsWith(`${name} `)) ?? "";
}

const said = (at = -1): string => JSON.stringify(mock.asked.at(at)?.messages);
const status = (status: number, message: string) => ({ kind: "status", status, headers: {}, message }) as const;

test("a message that is refused for good blocks nothing: it is seen, changed, dropped, and never sent twice", async () => {
  await make("refused");
  mock.will({ kind: "text", text: "hello" }, status(400, "bad image"));
  expect(await home.ok("agent", "ask", "refused", "good day")).toBe("hello\n");
  expect(await home.run("agent", "ask", "refused", "poison")).toMatchObject({ code: 1 });
  const row = await shown("refused");
  expect(row).toMatch(/ suspended +2, failed +1 +0 +1 in, 5 out, \$0.250 /);
  expect(row).toContain("Its turn failed: 400: bad image → holdfast agent retry refused");
  const [{ message_id: poison }] = await home.json("agent", "inbox", "refused");
  rejects(await home.run("agent", "inbox", "drop", "refused", "f00"), 4, "There is no unread message f00.");
  await home.ok("agent", "inbox", "edit", "refused", poison.slice(0, 8), "medicine");
  expect(await home.ok("agent", "inbox", "refused")).toContain("medicine");
  mock.will(status(400, "still bad"));
  expect(await home.run("agent", "ask", "refused", "go on")).toMatchObject({ code: 1 });
  expect(said().match(/medicine/g)).toHaveLength(1);
  expect(said()).not.toContain("poison");
  await home.ok("agent", "inbox", "drop", "refused", poison);
  mock.will({ kind: "text", text: "on we go" });
  await home.ok("agent", "retry", "refused");
  const { turns, usage } = await until(
    "it is idle",
    async () => (await home.json("agent", "tree")).find((one: { name: string; state: string }) => one.state === "idle"),
    () => home.ok("agent", "tree"),
  );
  expect([turns, usage]).toEqual([4, { input_tokens: 4, output_tokens: 10, cached_tokens: 2, cost_usd: 0.5 }]);
  expect(JSON.parse(said())).toMatchObject([{ content: "good day" }, { content: "hello" }, { content: "go on" }]);
  expect(await home.ok("agent", "log", "refused")).toContain(`the message ${poison} was dropped`);
  const last = (await home.ok("agent", "log", "refused", "-n", "5")).trimEnd().split("\n");
  expect([last.length, last.at(-1)]).toEqual([5, expect.stringContaining("turn 4 is complete (3 in, 5 out, $0.250)")]);
  rejects(await home.run("agent", "retry", "refused", "--without"), 1, "has not failed");
});

test("usage agents sums what agents used", async () => {
  const { agents, total } = await home.json("usage", "agents");
  expect([agents.length, agents[0]?.name, total]).toEqual([1, "refused", agents[0]?.usage]);
  expect(await home.ok("usage", "agents")).toMatch(/^in all +4 +2 +10 +\$0\.500$/m);
});

test("a conversation that is too long goes on without its oldest turns, and says so", async () => {
  await make("long");
  for (const turn of ["one", "two", "three"]) {
    mock.will({ kind: "text", text: `${turn} heard` });
    await home.ok("agent", "ask", "long", `${turn} ${"x".repeat(3_000)}`);
  }
  const tooLong = "This model's maximum context length is 2000 tokens. However, you requested 2600 tokens.";
  mock.will(status(400, tooLong), { kind: "text", text: "four heard" });
  expect(await home.ok("agent", "ask", "long", "four")).toBe("four heard\n");
  expect(said()).toContain("The first 4 messages of this conversation are left out");
  expect([said().includes("two heard"), said().includes("three heard")]).toEqual([false, true]);
  expect(await home.ok("agent", "log", "long")).toContain("longer than the model's limit of 2000 tokens");
  expect(
    readFileSync(join(home.path, "agents", (await home.json("agent", "inspect", "long")).id, "events.jsonl"), "utf8"),
  ).toContain("one heard");
});

test("an open circuit says its cause and waits: another model is asked meanwhile, and no attempt is lost", async () => {
  await make("broken");
  await home.ok("agent", "new", "other", "--provider", "mock", "--model", "huge");
  mock.will(status(503, "on fire"));
  await home.ok("agent", "send", "broken", "hello");
  const row = await until(
    "it waits for the circuit",
    async () => (await shown("broken")).includes("tiny") && shown("broken"),
    () => shown("broken"),
  );
  expect(row).toMatch(
    / working .*It tries again at .*\(tiny\) is not being called: it failed too often. It failed with: 503: on fire/,
  );
  expect(await home.ok("agent", "ask", "other", "are you there?")).toBe("nothing more\n");
  await until(
    "it has recovered by itself",
    async () => / idle +1 /.test(await shown("broken")),
    () => shown("broken"),
  );
});

test("follow shows text as it comes, once, though the log has it only as a whole", async () => {
  await make("slow");
  const { id } = await home.json("agent", "inspect", "slow");
  const log = () => readFileSync(join(home.path, "agents", id, "events.jsonl"), "utf8");
  const watching = home.window(["agent", "follow", "slow"]);
  await watching.shows("slow was created");
  mock.will({ kind: "stall", text: "Once upon a time" }, { kind: "text", text: "The end." });
  await home.ok("agent", "send", "slow", "tell me");
  await watching.shows("> Once upon a time");
  expect(log()).not.toContain("Once upon");
  mock.release();
  await watching.shows("turn 1 is complete");
  expect(watching.seen.match(/Once upon a time/g)).toHaveLength(1);
  expect(watching.seen).toContain("> Once upon a timeand so on");

  await home.ok("agent", "new", "scripted", "--provider", "scripted", "--", ...ACTOR);
  const other = home.window(["agent", "follow", "scripted"]);
  await other.shows("scripted was created");
  const go = join(home.path, "go");
  await home.ok("agent", "send", "scripted", `>> partial Half a\n>> retrying busy\n>> wait ${go}\n>> say Half a word`);
  await other.shows("> Half a");
  await other.shows("its provider tries again in 60 s (1 of 3): busy");
  expect(await shown("scripted")).toContain("Its provider tries again by itself (1 of 3): busy");
  appendFileSync(go, "");
  await other.shows("turn 1 is complete");
  expect(await shown("scripted")).not.toContain("busy");
});
