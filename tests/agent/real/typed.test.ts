// Real agent CLIs, typed into a shell by a person: seen, shown, and back in the same conversation after a crash of the
// machine. Their APIs are mocks on loopback.
import { afterAll, expect, test } from "bun:test";
import { appendFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { powerCut, Rebooting } from "../../cli/power-cut.ts";
import { endAll, type Window } from "../../cli/terminal-home.ts";
import { ours } from "../../ours.ts";
import { PATIENCE_MS, until } from "../../until.ts";
import { AGENT_PATIENCE_MS } from "../agent-home.ts";
import { AnthropicMock } from "../anthropic-mock.ts";
import { OpenAiMock } from "../openai-mock.ts";
import { claudeProgram, opencodeProgram, runsAll } from "./programs.ts";

const KEY = "sk-ant-api03-planted-planted-planted";
/** Between two presses of Enter: a second one must not answer a question that the first has led to. */
const ENTER_MS = PATIENCE_MS / 15;
const closers: (() => Promise<void>)[] = [];

afterAll(async () => {
  await Promise.all(closers.map((close) => close()));
  await endAll();
}, 180_000);

/** A machine on which an agent CLI is installed, and was used before in the directory `work`. */
abstract class Desk extends Rebooting {
  readonly name: "claude" | "opencode";

  constructor(name: "claude" | "opencode", program: string) {
    super();
    this.name = name;
    for (const directory of ["bin", "work"]) mkdirSync(join(this.path, directory));
    symlinkSync(program, join(this.path, "bin", name));
  }

  /** What the model was asked with these words as the last ones of the person. */
  abstract asked(words: string): readonly unknown[] | undefined;

  /** Opens a terminal with a shell, and types the name of the program into it. */
  async start(name: string): Promise<Window> {
    expect(await this.at("work", {}, "new", "-d", name, "--", "sh")).toMatchObject({ code: 0 });
    const window = this.window(["attach", name]);
    window.type(`${this.name}\r`);
    return window;
  }

  async agentIs(name: string, expected: object): Promise<string> {
    const now = async () => (await this.listed(name)).agent;
    const fits = async () => Bun.deepMatch(expected, (await now()) ?? {});
    await until(`${name} has ${JSON.stringify(expected)}`, fits, now, AGENT_PATIENCE_MS);
    return (await now())?.session ?? "";
  }

  /**
   * Says something to the agent, and returns what its model is asked. Enter comes after the words are drawn (one by
   * one), and again if it was taken for a part of a pasted text.
   */
  async say(window: Window, words: string): Promise<string> {
    return JSON.stringify(await this.enter(window, words, () => this.asked(words)));
  }

  /** Types a line, and presses Enter until `found` is there. */
  async enter<T>(window: Window, words: string, found: () => T | undefined | Promise<T | undefined>): Promise<T> {
    window.type(words);
    await window.shows(words.split(" ").at(-1) ?? "");
    let pressed = 0;
    const look = async () => {
      const seen = await found();
      if (seen !== undefined || performance.now() - pressed < ENTER_MS) return seen;
      pressed = performance.now();
      window.type("\r");
      return undefined;
    };
    return until(`${words} has an effect`, look, () => Bun.stripANSI(window.seen), AGENT_PATIENCE_MS);
  }

  /** The machine crashes, and each terminal continues with the words that are expected for it. */
  async crashes(expected: Readonly<Record<string, string>>): Promise<void> {
    await powerCut(this);
    this.boot += 1;
    expect(await this.ok("up")).toContain("LIVE");
    const report = await this.ok("recovery", "report");
    for (const [name, words] of Object.entries(expected))
      expect(report).toMatch(new RegExp(`^restarted +terminal ${name} .*; continues with: ${words};`, "m"));
  }
}

class ClaudeDesk extends Desk {
  readonly mock = new AnthropicMock();

  constructor() {
    super("claude", claudeProgram ?? "");
    closers.push(() => this.mock.stop());
    const projects = { [join(this.path, "work")]: { hasTrustDialogAccepted: true } };
    const customApiKeyResponses = { approved: [KEY.slice(-20)], rejected: [] };
    const settings = { hasCompletedOnboarding: true, theme: "dark", projects, customApiKeyResponses };
    writeFileSync(join(this.path, ".claude.json"), JSON.stringify(settings));
    appendFileSync(join(this.path, "config.toml"), '[terminal]\nenv_allow = ["ANTHROPIC_API_KEY"]\n');
  }

  override get env() {
    const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" };
    return { ...super.env, ...quiet, ANTHROPIC_BASE_URL: this.mock.url, ANTHROPIC_API_KEY: KEY };
  }

  override asked(words: string) {
    return this.mock.asked.find(({ last }) => last.includes(words))?.messages;
  }

  /** Claude Code writes its transcript behind. */
  async hasWritten(session: string, words: string): Promise<void> {
    const project = this.path.replaceAll("/", "-").concat("-work");
    const file = join(this.path, ".claude/projects", project, `${session}.jsonl`);
    const text = () => (existsSync(file) ? readFileSync(file, "utf8") : "");
    await until(`the transcript has ${words}`, () => text().includes(words), text, AGENT_PATIENCE_MS);
  }

  /** What the tool said that Claude Code has run. */
  async result(): Promise<string> {
    const found = () => this.mock.asked.find(({ last }) => last.startsWith("result of"))?.last;
    return until("the tool has run", found, () => this.mock.asked.map(({ last }) => last), AGENT_PATIENCE_MS);
  }
}

class OpencodeDesk extends Desk {
  readonly mock = new OpenAiMock();

  constructor() {
    super("opencode", opencodeProgram ?? "");
    closers.push(async () => this.mock.close());
    mkdirSync(join(this.path, ".config/opencode"), { recursive: true });
    const options = { baseURL: this.mock.url, apiKey: "none" };
    const mock = { npm: "@ai-sdk/openai-compatible", name: "mock", options, models: { m1: { name: "m1" } } };
    const models = { provider: { mock }, model: "mock/m1", small_model: "mock/m1" };
    const config = { autoupdate: false, share: "disabled", ...models };
    writeFileSync(join(this.path, ".config/opencode/opencode.json"), JSON.stringify(config));
  }

  override get env() {
    return { ...super.env, OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" };
  }

  override asked(words: string) {
    return this.mock.has(words) ? this.mock.asked.map(({ messages }) => messages) : undefined;
  }
}

test.skipIf(claudeProgram === undefined)(
  "a crash 3 s after typing claude into a shell and saying one sentence: the same conversation is back, also after /clear (needs Claude Code)",
  async () => {
    const home = new ClaudeDesk();
    const window = await home.start("main");
    await home.agentIs("main", { name: "claude", state: "idle" });

    await home.say(window, `run: ${ours("src/cli/main.ts").join(" ")} send main no`);
    const old = await home.agentIs("main", { state: "waiting" });
    expect(await home.ok("ls")).toMatch(/^main .* claude waiting [0-9a-f]{8}$/m);
    window.type("\r"); // Yes.
    expect(await home.result()).toContain("belongs to claude, which runs in a terminal: it may look, but not change");
    expect((await home.run("prompts")).err).toContain("claude in a terminal  type into ");
    await home.agentIs("main", { state: "idle" });
    await home.hasWritten(old, "send main no"); // Its directory has two conversations from now on.
    const session = await home.enter(window, "/clear", async () => {
      const { agent } = await home.listed("main");
      return agent === null || agent.session === old ? undefined : (agent.session ?? undefined);
    });
    await home.say(window, "remember the number 4711");
    expect(await home.agentIs("main", { state: "idle" })).toBe(session);
    await home.hasWritten(session, "4711");

    await home.crashes({ main: `claude --resume ${session}` });
    expect(await home.agentIs("main", { name: "claude", state: "idle" })).toBe(session);
    expect(await home.say(home.window(["attach", "main"]), "which number?")).toContain("number 4711");
  },
  180_000,
);

/** opencode takes its time, and what is typed before that is lost. Only what comes after its restoration counts. */
async function isDrawn(window: Window): Promise<void> {
  const screen = () => Bun.stripANSI(window.seen.split("continues with: ").at(-1) ?? "");
  await until("opencode is drawn", () => screen().includes("ctrl+p"), screen, AGENT_PATIENCE_MS);
}

// Not in the gate: it takes ten seconds of processor time.
if (runsAll)
  test.skipIf(opencodeProgram === undefined)(
    "opencode, typed into a shell, is back in its conversation after a crash of the machine (needs opencode)",
    async () => {
      const home = new OpencodeDesk();
      home.mock.when("stay a while", { kind: "stall" });
      const window = await home.start("main");
      await isDrawn(window);
      await home.say(window, "remember the number 4711");
      const session = await home.agentIs("main", { name: "opencode", state: "idle" });
      expect(session).toStartWith("ses_");
      await home.say(window, "stay a while");
      expect(await home.agentIs("main", { state: "working" })).toBe(session);

      await home.crashes({ main: `opencode --session ${session}` });
      const back = home.window(["attach", "main"]);
      await isDrawn(back);
      expect(await home.say(back, "which number?")).toContain("number 4711");
      expect(await home.agentIs("main", { state: "idle" })).toBe(session);
    },
    180_000,
  );
