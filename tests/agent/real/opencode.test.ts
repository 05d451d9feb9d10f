// A real ACP agent (opencode) in a real daemon, against a loopback mock of an OpenAI-compatible API.
// One home and one agent for all tests, run in order: starting this program costs eight seconds of CPU time.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { killIfThere, type Running } from "../../daemon/home.ts";
import { isInSample } from "../../sim/fuzz/profile.ts";
import { until } from "../../until.ts";
import { AGENT_PATIENCE_MS, AgentHome } from "../agent-home.ts";
import { OpenAiMock } from "../openai-mock.ts";
import { LITTLE_COMPILED, opencodeProgram } from "./programs.ts";

const isMissing = opencodeProgram === undefined;
const [place, mock] = [new AgentHome(), new OpenAiMock()];
let daemon: Running;
let id = "";

/** The model runs this when asked to, and then answers with a word. */
function willRun(words: string, file: string): void {
  const args = { command: `echo ran >> ${place.file(file)}`, description: "as asked" };
  mock.when(words, { kind: "call", id: `call-${file}`, tool: "bash", args });
}

beforeAll(async () => {
  if (isMissing) return;
  for (const directory of ["work", ".config/opencode"]) mkdirSync(place.file(directory), { recursive: true });
  const options = { baseURL: mock.url, apiKey: "none" };
  const provider = {
    mock: { npm: "@ai-sdk/openai-compatible", name: "mock", options, models: { m1: { name: "m1" } } },
  };
  const rest = { autoupdate: false, share: "disabled", permission: { bash: "ask", edit: "ask" } };
  const config = { ...rest, provider, model: "mock/m1", small_model: "mock/m1" };
  writeFileSync(place.file(".config/opencode/opencode.json"), JSON.stringify(config));
  daemon = await place.live();
  const env = { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1", ...LITTLE_COMPILED };
  const command = [opencodeProgram ?? "", "acp"];
  id = await place.agent("opencode", { provider: "acp", command, cwd: place.file("work"), env });
});

afterAll(async () => {
  mock.close();
  await place.close();
});

async function nextDaemon(): Promise<void> {
  daemon = await place.live();
}

test.skipIf(isMissing)(
  "PR-3(a,d) the daemon is killed at a permission request over ACP: same id, answered, and the tool ran once (needs opencode)",
  async () => {
    willRun("run it", "first");
    await place.say(id, "run it");
    const before = await place.prompt();
    const { pid } = await place.shown(id);
    await place.kill(daemon);
    await nextDaemon();
    expect(await place.prompt()).toEqual(before);
    expect((await place.shown(id)).pid).toBe(pid);
    expect(await place.answer(before.id)).toMatchObject({ ok: true });
    await place.rests(id, 1);
    expect(place.text("first")).toBe("ran\n");
  },
);

test.skipIf(isMissing)(
  "PR-3(d) the daemon is killed between the answer and its delivery over ACP: the tool ran once (needs opencode)",
  async () => {
    willRun("run another", "second");
    await place.say(id, "run another");
    const { id: prompt } = await place.prompt();
    const holder = Number((await place.lastOf(id, "process.running"))["holder"]);
    killIfThere(holder, "SIGSTOP");
    await place.answer(prompt);
    await place.kill(daemon);
    killIfThere(holder, "SIGCONT");
    await nextDaemon();
    await place.rests(id, 2);
    expect([place.text("first"), place.text("second")]).toEqual(["ran\n", "ran\n"]);
  },
);

// Starts the program once more.
if (isInSample(2, 1))
  test.skipIf(isMissing)(
    "AG-4(b) AG-6(a) the daemon is killed in mid-stream, and the session is loaded again after its process was killed (needs opencode)",
    async () => {
      mock.when("first word", { kind: "stall" });
      await place.say(id, "first word");
      await until(
        "it was asked",
        () => mock.has("first word"),
        () => mock.asked,
      );
      await place.kill(daemon);
      mock.release();
      await nextDaemon();
      await place.rests(id, 3);
      expect((await place.shown(id)).lastText).toBe("and so on");
      killIfThere(Number((await place.shown(id)).pid));
      mock.when("second word", { kind: "text", text: "the second" });
      await place.say(id, "second word");
      const over = async () => (await place.shown(id)).lastText === "the second";
      await until("its next turn is over", over, () => place.shown(id), AGENT_PATIENCE_MS);
      expect(JSON.stringify(mock.asked.at(-1)?.messages)).toContain("first word");
      await place.logged(id, "process.starting", 2);
    },
  );
