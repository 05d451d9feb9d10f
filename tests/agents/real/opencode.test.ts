// A real ACP agent (opencode) in a real daemon, against a loopback mock of an OpenAI-compatible API.
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { killIfThere, until } from "../../daemon/home.ts";
import { type AgentHome, agentHomes } from "../agent-home.ts";
import { OpenAiMock } from "../openai-mock.ts";
import { opencodeProgram } from "./programs.ts";

const home = agentHomes();
const mocks: OpenAiMock[] = [];
afterEach(() => {
  for (const mock of mocks.splice(0)) mock.close();
});

const isMissing = opencodeProgram === undefined;

function prepare(): { readonly place: AgentHome; readonly mock: OpenAiMock } {
  const [place, mock] = [home(), new OpenAiMock()];
  mocks.push(mock);
  for (const directory of ["work", ".config", ".config/opencode"]) mkdirSync(place.file(directory));
  const options = { baseURL: mock.url, apiKey: "none" };
  const provider = {
    mock: { npm: "@ai-sdk/openai-compatible", name: "mock", options, models: { m1: { name: "m1" } } },
  };
  const rest = { autoupdate: false, share: "disabled", permission: { bash: "ask", edit: "ask" } };
  const config = { ...rest, provider, model: "mock/m1", small_model: "mock/m1" };
  writeFileSync(place.file(".config/opencode/opencode.json"), JSON.stringify(config));
  return { place, mock };
}

function opencode(place: AgentHome): Promise<string> {
  const env = { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" };
  const command = [opencodeProgram ?? "", "acp"];
  return place.agent("opencode", { provider: "acp", command, cwd: place.file("work"), env });
}

/** What the model says: run this once, then a word. */
function willRun(mock: OpenAiMock, command: string): void {
  mock.when("run it", { kind: "call", id: "call_1", tool: "bash", args: { command, description: "as asked" } });
}

test.skipIf(isMissing)(
  "PR-3 the daemon is killed at a permission request over ACP: same id, answered, and the tool ran once (needs opencode)",
  async () => {
    const { place, mock } = prepare();
    const first = await place.live();
    const id = await opencode(place);
    willRun(mock, `echo ran >> ${place.file("done")}`);
    await place.say(id, "run it");
    const before = await place.prompt();
    const { pid } = await place.shown(id);
    await place.kill(first);
    await place.live();
    expect(await place.prompt()).toEqual(before);
    expect((await place.shown(id)).pid).toBe(pid);
    expect(await place.answer(before.id)).toMatchObject({ ok: true });
    await place.rests(id, 1);
    expect(place.text("done")).toBe("ran\n");
  },
);

test.skipIf(isMissing)(
  "PR-3 the daemon is killed between the answer and its delivery over ACP (needs opencode)",
  async () => {
    const { place, mock } = prepare();
    const first = await place.live();
    const id = await opencode(place);
    willRun(mock, `echo ran >> ${place.file("done")}`);
    await place.say(id, "run it");
    const { id: prompt } = await place.prompt();
    const holder = Number((await place.lastOf(id, "process.running"))["holder"]);
    killIfThere(holder, "SIGSTOP");
    await place.answer(prompt);
    await place.kill(first);
    killIfThere(holder, "SIGCONT");
    await place.live();
    await place.rests(id, 1);
    expect(place.text("done")).toBe("ran\n");
  },
);

test.skipIf(isMissing)(
  "AG-4 the daemon is killed in mid-stream, and the session is loaded again after its process was killed (needs opencode)",
  async () => {
    const { place, mock } = prepare();
    const first = await place.live();
    const id = await opencode(place);
    mock.when("first word", { kind: "stall" });
    await place.say(id, "first word");
    await until("it was asked", () => mock.has("first word"));
    await place.kill(first);
    mock.release();
    await place.live();
    await place.rests(id, 1);
    expect((await place.shown(id)).lastText).toBe("and so on");
    killIfThere(Number((await place.shown(id)).pid));
    mock.when("second word", { kind: "text", text: "the second" });
    await place.say(id, "second word");
    await until("its second turn is over", async () => (await place.shown(id)).lastText === "the second");
    expect(JSON.stringify(mock.asked.at(-1)?.messages)).toContain("first word");
  },
);
