// Real Claude Code in a real daemon, against a loopback mock of its API: the daemon dies at the moments that matter.
import { afterEach, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { WantedWorkspace } from "../../../src/wire/agents/agent-rpc.ts";
import { killIfThere, until } from "../../daemon/home.ts";
import { type AgentHome, agentHomes, PATIENCE_MS } from "../agent-home.ts";
import { AnthropicMock } from "../anthropic-mock.ts";
import { claudeProgram } from "./programs.ts";

const home = agentHomes();
const mocks: AnthropicMock[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.stop();
});

const isMissing = claudeProgram === undefined;

type Place = {
  readonly place: AgentHome;
  readonly mock: AnthropicMock;
  readonly env: Readonly<Record<string, string>>;
};

function prepare(): Place {
  const [place, mock] = [home(), new AnthropicMock()];
  mocks.push(mock);
  mkdirSync(place.file("work"));
  const api = { ANTHROPIC_BASE_URL: mock.url, ANTHROPIC_API_KEY: "none" };
  return { place, mock, env: { ...api, HOME: place.path } };
}

const SANDBOX = { read: [dirname(claudeProgram ?? "/")], write: [], network: true };
/** Where there are sandboxes (tests/agents/workspace.test.ts says what is where there are none). */
const works = Bun.spawnSync(["sh", "-c", "bwrap --ro-bind / / --unshare-pid true"]).exitCode === 0;

function claude(place: AgentHome, workspace?: WantedWorkspace): Promise<string> {
  const env = { HOME: place.path, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" };
  const command = [claudeProgram ?? ""];
  return place.agent("claude", {
    provider: "claude",
    command,
    cwd: place.file("work"),
    env,
    ...(workspace && { workspace }),
  });
}

test.skipIf(isMissing)(
  "PR-3 the daemon is killed at a permission request of Claude Code: same id, answered, and the tool ran once (needs Claude Code)",
  async () => {
    const { place, env } = prepare();
    const first = await place.live(env);
    const id = await claude(place);
    await place.say(id, `run: echo ran >> ${place.file("done")}`);
    const before = await place.prompt();
    const { pid } = await place.shown(id);
    await place.kill(first);
    await place.live(env);
    const after = await place.prompt();
    expect(after).toEqual(before);
    expect(after).toMatchObject({ tool: "Bash", input: { command: `echo ran >> ${place.file("done")}` } });
    expect((await place.shown(id)).pid).toBe(pid);
    expect(await place.answer(after.id)).toMatchObject({ ok: true });
    await place.rests(id, 1);
    expect(place.text("done")).toBe("ran\n");
    expect((await place.shown(id)).lastText).toContain("heard: result of toolu_0001");
  },
);

test.skipIf(isMissing)(
  "PR-3 the daemon is killed between the answer and its delivery: Claude Code gets it once (needs Claude Code)",
  async () => {
    const { place, env } = prepare();
    const first = await place.live(env);
    const id = await claude(place);
    await place.say(id, `run: echo ran >> ${place.file("done")}`);
    const { id: prompt } = await place.prompt();
    const holder = Number((await place.lastOf(id, "process.running"))["holder"]);
    killIfThere(holder, "SIGSTOP");
    await place.answer(prompt);
    await place.kill(first);
    killIfThere(holder, "SIGCONT");
    await place.live(env);
    await place.rests(id, 1);
    expect(place.text("done")).toBe("ran\n");
  },
);

test.skipIf(isMissing)(
  "AG-4 the daemon is killed while Claude Code hears an answer: the turn goes on, and the next one knows of it (needs Claude Code)",
  async () => {
    const { place, mock, env } = prepare();
    const first = await place.live(env);
    const id = await claude(place);
    await place.say(id, "stall: a little");
    await until("it was asked", () => mock.asked.length === 1, PATIENCE_MS);
    await place.kill(first);
    mock.release();
    await place.live(env);
    await place.rests(id, 1);
    expect((await place.shown(id)).lastText).toBe("heard: stall: a little");
    await place.say(id, "and now?");
    await place.rests(id, 2);
    expect(JSON.stringify(mock.asked.at(-1)?.messages)).toContain("stall: a little");
  },
);

test.skipIf(isMissing)(
  "AG-1 Claude Code uses our tools from its sandbox, and is resumed by its own id after its process was killed (needs Claude Code)",
  async () => {
    const { place, mock, env } = prepare();
    await place.live(env);
    const id = await claude(place, works ? { worktree: false, sandbox: SANDBOX } : undefined);
    await place.say(id, 'use: mcp__holdfast__remind_me {"in_seconds": 3000, "text": "later"}');
    await place.rests(id, 1);
    expect((await place.shown(id)).reminders).toMatchObject([{ text: "later" }]);
    killIfThere(Number((await place.shown(id)).pid));
    await place.say(id, "still there?");
    await place.rests(id, 2);
    expect(JSON.stringify(mock.asked.at(-1)?.messages)).toContain("remind_me");
    await place.logged(id, "process.starting", 2);
    expect(await place.lastOf(id, "process.starting")).toMatchObject({ generation: 2, resume: true });
  },
);
