// Real agent CLIs, typed into a shell by a person: seen, shown, and back in the same conversation after a crash of the
// machine. Their APIs are mocks on loopback.
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { powerCut, Rebooting } from "../../cli/power-cut.ts";
import { endAll, type Window } from "../../cli/terminal-home.ts";
import { ours } from "../../ours.ts";
import { until } from "../../until.ts";
import { AGENT_PATIENCE_MS } from "../agent-home.ts";
import { AnthropicMock } from "../anthropic-mock.ts";
import { claudeProgram } from "./programs.ts";

const KEY = "sk-ant-api03-planted-planted-planted";
/** Between two presses of Enter. */
const ENTER_MS = 500;
const mocks: { stop(): Promise<void> }[] = [];

afterAll(async () => {
  await Promise.all(mocks.map((mock) => mock.stop()));
  await endAll();
}, 180_000);

/** A machine on which a person has used Claude Code before, in the directory `work`. */
class Desk extends Rebooting {
  readonly mock = new AnthropicMock();

  constructor(program: string) {
    super();
    mocks.push(this.mock);
    for (const name of ["bin", "work"]) mkdirSync(join(this.path, name));
    symlinkSync(program, join(this.path, "bin/claude"));
    const projects = { [join(this.path, "work")]: { hasTrustDialogAccepted: true } };
    const customApiKeyResponses = { approved: [KEY.slice(-20)], rejected: [] };
    const settings = { hasCompletedOnboarding: true, theme: "dark", projects, customApiKeyResponses };
    writeFileSync(join(this.path, ".claude.json"), JSON.stringify(settings));
    const config = readFileSync(join(this.path, "config.toml"), "utf8");
    writeFileSync(join(this.path, "config.toml"), `${config}[terminal]\nenv_allow = ["ANTHROPIC_API_KEY"]\n`);
  }

  override get env() {
    const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" };
    return { ...super.env, ...quiet, ANTHROPIC_BASE_URL: this.mock.url, ANTHROPIC_API_KEY: KEY };
  }

  async agentIs(name: string, expected: object): Promise<string> {
    const now = async () => (await this.listed(name)).agent;
    const fits = async () => Bun.deepMatch(expected, (await now()) ?? {});
    await until(`${name} has ${JSON.stringify(expected)}`, fits, now, AGENT_PATIENCE_MS);
    return (await now())?.session ?? "";
  }

  /** Claude Code writes its transcript behind. */
  async hasWritten(session: string, words: string): Promise<void> {
    const projects = join(this.path, ".claude/projects");
    const file = join(projects, this.path.replaceAll("/", "-").concat("-work"), `${session}.jsonl`);
    const text = () => (existsSync(file) ? readFileSync(file, "utf8") : "");
    await until(`the transcript has ${words}`, () => text().includes(words), text, AGENT_PATIENCE_MS);
  }

  /** What the tool said that Claude Code has run. */
  async result(): Promise<string> {
    const found = () => this.mock.asked.find(({ last }) => last.startsWith("result of"))?.last;
    return until("the tool has run", found, () => this.mock.asked.map(({ last }) => last), AGENT_PATIENCE_MS);
  }

  /**
   * Says something to Claude Code, and returns what its model is asked. Enter comes after the words are drawn (one by
   * one), and again if it was taken for a part of a pasted text.
   */
  async say(window: Window, words: string) {
    window.type(words);
    await window.shows(words.split(" ").at(-1) ?? "");
    let pressed = 0;
    const found = () => {
      const asked = this.mock.asked.find(({ last }) => last.includes(words));
      if (asked !== undefined || performance.now() - pressed < ENTER_MS) return asked;
      pressed = performance.now();
      window.type("\r");
      return undefined;
    };
    return until(`it was asked ${words}`, found, () => Bun.stripANSI(window.seen), AGENT_PATIENCE_MS);
  }
}

test.skipIf(claudeProgram === undefined)(
  "a crash 3 s after typing claude into a shell and saying one sentence: the same conversation is back, also of two in one directory (needs Claude Code)",
  async () => {
    const home = new Desk(claudeProgram ?? "");
    const windows = new Map<string, Window>();
    for (const name of ["main", "other"]) {
      expect(await home.at("work", {}, "new", "-d", name, "--", "sh")).toMatchObject({ code: 0 });
      windows.set(name, home.window(["attach", name]));
      windows.get(name)?.type("claude\r");
    }
    const at = (name: string) => windows.get(name) ?? home.window(["attach", name]);
    for (const name of windows.keys()) await home.agentIs(name, { name: "claude", state: "idle" });

    await home.say(at("other"), `run: ${ours("src/cli/main.ts").join(" ")} rename main taken`);
    await home.agentIs("other", { state: "waiting" });
    expect(await home.ok("ls")).toMatch(/^other .* claude waiting [0-9a-f]{8}$/m);
    at("other").type("\r"); // Yes.
    expect(await home.result()).toContain("belongs to claude, which runs in a terminal: it may look, but not change");
    const sessions = { other: await home.agentIs("other", { state: "idle" }), main: "" };
    await home.say(at("main"), "remember the number 4711");
    const began = performance.now();
    sessions.main = await home.agentIs("main", { state: "idle" });
    await home.hasWritten(sessions.main, "4711");
    console.log("written and known after", performance.now() - began);

    await powerCut(home);
    home.boot = 2;
    windows.clear();
    expect(await home.ok("up")).toContain("LIVE");
    for (const name of ["main", "other"] as const) {
      expect(await home.ok("recovery", "report")).toContain(`continues with: claude --resume ${sessions[name]}`);
      expect(await home.agentIs(name, { name: "claude", state: "idle" })).toBe(sessions[name]);
    }
    expect(JSON.stringify((await home.say(at("main"), "which number?")).messages)).toContain("number 4711");
  },
  180_000,
);
