// Real Claude Code in a real daemon, against a loopback mock of its API: the daemon dies at the moments that matter.
// One home and one agent for all tests but the last, run in order: starting it takes long.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { COUNTED } from "../../../scripts/counted-files.ts";
import type { NewAgent } from "../../../src/wire/rpc/agent.ts";
import { killIfThere, type Running } from "../../daemon/home.ts";
import { COUNTING } from "../../ours.ts";
import { AgentHome } from "../agent-home.ts";
import { AnthropicMock, stalls } from "../anthropic-mock.ts";
import { claudeProgram, LITTLE_COMPILED } from "./programs.ts";

const isMissing = claudeProgram === undefined;
const [place, mock] = [new AgentHome(), new AnthropicMock()];
const KEY = "sk-ant-api03-planted";
let daemon: Running;
let id = "";

beforeAll(async () => {
  if (isMissing) return;
  mkdirSync(place.file("work"));
  await nextDaemon();
  id = await claude("claude");
});

afterAll(async () => {
  await mock.stop();
  await place.close();
});

async function nextDaemon(): Promise<void> {
  writeFileSync(
    place.file("config.toml"),
    '[log]\nballast_bytes = 0\n[agents]\nsandbox = false\n[provider.hidden]\nkind = "claude"\nkey_proxy = true\n',
  );
  const env = { ANTHROPIC_BASE_URL: mock.url, ANTHROPIC_API_KEY: KEY };
  daemon = await place.live({ HOLDFAST_CONFIG: place.file("config.toml"), ...env });
}

/** Under `npm test` our programs write their coverage there, also in a sandbox. */
const COUNTERS = COUNTING.length === 0 ? [] : [COUNTED];
const SANDBOX = { read: [dirname(claudeProgram ?? "/")], write: COUNTERS, network: false, egress: [] };
/** If there are sandboxes (tests/agent/workspace.test.ts covers the other case). */
const works = Bun.spawnSync(["sh", "-c", "bwrap --ro-bind / / --unshare-pid true"]).exitCode === 0;

function claude(name: string, given: Partial<NewAgent> = {}): Promise<string> {
  const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" };
  const env = { HOME: place.path, ...quiet, ...LITTLE_COMPILED };
  const command = [claudeProgram ?? ""];
  return place.agent(name, { provider: "claude", command, cwd: place.file("work"), env, ...given });
}

test.skipIf(isMissing)(
  "PR-3(a,d) the daemon is killed at a permission request of Claude Code: same id, answered, and the tool ran once (needs Claude Code)",
  async () => {
    await place.say(id, `run: echo ran >> ${place.file("done")}`);
    const before = await place.prompt();
    const { pid } = await place.shown(id);
    await place.kill(daemon);
    await nextDaemon();
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
  "PR-3(d) the daemon is killed between the answer and its delivery: Claude Code gets it once (needs Claude Code)",
  async () => {
    await place.say(id, `run: echo ran >> ${place.file("done")}`);
    const { id: prompt } = await place.prompt();
    const holder = Number((await place.lastOf(id, "process.running"))["holder"]);
    killIfThere(holder, "SIGSTOP");
    await place.answer(prompt);
    await place.kill(daemon);
    killIfThere(holder, "SIGCONT");
    await nextDaemon();
    await place.rests(id, 2);
    expect(place.text("done")).toBe("ran\nran\n");
  },
);

test.skipIf(isMissing)(
  "AG-4(b) the daemon is killed while Claude Code receives an answer: the turn continues, and the next one remembers it (needs Claude Code)",
  async () => {
    await stalls(place, mock, id, "a little");
    await place.kill(daemon);
    mock.release();
    await nextDaemon();
    await place.rests(id, 3);
    expect((await place.shown(id)).lastText).toBe("heard: stall: a little");
    await place.say(id, "and now?");
    await place.rests(id, 4);
    expect(JSON.stringify(mock.asked.at(-1)?.messages)).toContain("stall: a little");
  },
);

test.skipIf(isMissing)(
  "AG-6(a) Claude Code uses our tools from its sandbox, and is resumed by its own id after its process was killed (needs Claude Code)",
  async () => {
    const workspace = { worktree: false, sandbox: SANDBOX };
    const other = await claude("other", works ? { workspace } : {});
    await place.say(other, 'use: mcp__holdfast__remind_me {"in_seconds": 3000, "text": "later"}');
    await place.rests(other, 1);
    const { reminders, pid, lastText } = await place.shown(other);
    killIfThere(Number(pid)); // At once: earlier output is in its transcript (C5 of wire/provider/claude.ts).
    expect(reminders).toMatchObject([{ text: "later" }]);
    expect(lastText).toStartWith("heard: result of toolu_");
    await place.say(other, "still there?");
    await place.rests(other, 2);
    const known = JSON.stringify(mock.asked.at(-1)?.messages);
    expect(known).toContain("remind_me");
    expect(known).toContain("heard: result of toolu_");
    await place.logged(other, "process.starting", 2);
    expect(await place.lastOf(other, "process.starting")).toMatchObject({ generation: 2, resume: true });
  },
);

test.skipIf(isMissing || !works)(
  "Claude Code in a sandbox works without its key, through its proxy, in mid-stream without a daemon, and after the proxy was killed (needs Claude Code and bwrap)",
  async () => {
    const workspace = { worktree: false, sandbox: SANDBOX };
    const hidden = await claude("hidden", { provider: "hidden", workspace });
    await stalls(place, mock, hidden, "in a sandbox");
    await place.kill(daemon);
    mock.release();
    await nextDaemon();
    await place.rests(hidden, 1);
    expect((await place.shown(hidden)).lastText).toBe("heard: stall: in a sandbox");
    expect(new Set(mock.keys.slice(-1))).toEqual(new Set([KEY]));
    for (const pid of place.ours().filter((one) => place.commandOf(one).includes("src/proxy/main.ts")))
      killIfThere(pid);
    await place.say(hidden, "and now?");
    await place.rests(hidden, 2);
    expect((await place.shown(hidden)).lastText).toBe("heard: and now?");
    const { pid } = await place.shown(hidden);
    killIfThere(Number(pid));
    await place.say(hidden, "still there?");
    await place.rests(hidden, 3);
    expect(JSON.stringify(mock.asked.at(-1)?.messages)).toContain("stall: in a sandbox");
    expect(await place.lastOf(hidden, "process.starting")).toMatchObject({ generation: 2, resume: true });
  },
);
