// Real Claude Code whose API is busy, slow and counts: what its user sees of that, and that nothing is lost.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { type PartialText, partialOf, partialTopic } from "../../../src/wire/rpc/partial.ts";
import type { Running } from "../../daemon/home.ts";
import { until } from "../../until.ts";
import { AGENT_PATIENCE_MS, AgentHome } from "../agent-home.ts";
import { AnthropicMock } from "../anthropic-mock.ts";
import { claudeProgram, LITTLE_COMPILED } from "./programs.ts";

const isMissing = claudeProgram === undefined;
const [place, mock] = [new AgentHome(), new AnthropicMock()];
let daemon: Running;
let id = "";

async function nextDaemon(): Promise<void> {
  const env = { ANTHROPIC_BASE_URL: mock.url, ANTHROPIC_API_KEY: "sk-ant-api03-planted" };
  daemon = await place.live({ HOLDFAST_CONFIG: place.file("config.toml"), ...env });
}

beforeAll(async () => {
  if (isMissing) return;
  mkdirSync(place.file("work"));
  writeFileSync(place.file("config.toml"), "[log]\nballast_bytes = 0\n[agents]\nsandbox = false\n");
  await nextDaemon();
  const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" };
  const env = { HOME: place.path, ...quiet, ...LITTLE_COMPILED };
  const command = [claudeProgram ?? ""];
  const rest = { provider: "claude", model: "claude-sonnet-4-5", command, cwd: place.file("work"), env };
  id = await place.agent("claude", rest);
});

afterAll(async () => {
  await mock.stop();
  await place.close();
});

test.skipIf(isMissing)(
  "text of Claude Code is passed on before it is whole, and what its turn used is counted (needs Claude Code)",
  async () => {
    const client = await place.client();
    const heard: PartialText[] = [];
    if (client !== undefined) client.onNotice = ({ data }) => void heard.push(...[partialOf(data) ?? []].flat());
    await client?.call("subscribe", { topics: [partialTopic(id)] });
    await place.say(id, "stall: a story");
    await until(
      "the text comes",
      () => heard.map(({ text }) => text).join("") === "heard: stall: a story",
      () => heard,
      AGENT_PATIENCE_MS,
    );
    expect(place.text(`agents/${id}/events.jsonl`)).not.toContain("heard: stall");
    mock.release();
    await place.rests(id, 1);
    const { usage } = await place.shown(id);
    expect([usage?.input_tokens, usage?.output_tokens, Number(usage?.cost_usd) > 0]).toEqual([10, 5, true]);
    await place.say(id, "and?");
    await place.rests(id, 2);
    const both = (await place.shown(id)).usage;
    expect([both?.input_tokens, both?.cost_usd]).toEqual([20, 2 * Number(usage?.cost_usd)]);
    client?.close();
  },
);

test.skipIf(isMissing)(
  "retries of Claude Code's own are shown while they last; a refusal for longer is slept on through a kill, with its message (needs Claude Code)",
  async () => {
    await place.say(id, "busy: 1s");
    const note = async () => (await place.shown(id)).note ?? "";
    await until("its own retry is shown", async () => (await note()).includes("(1 of 10): 429 rate_limit"), note);
    await place.rests(id, 3);
    mock.rested();
    await place.say(id, "busy: 1, build it");
    const { note: why } = await place.becomes(id, "sleeping");
    expect(why).toMatch(/^It sleeps until .*429.*slow down/);
    await place.kill(daemon);
    await nextDaemon();
    expect((await place.shown(id)).note).toBe(why);
    await place.must("agent.retry", { id });
    await place.rests(id, 4);
    expect(JSON.stringify(mock.asked.at(-1)?.messages)).toContain("busy: 1, build it");
  },
);
