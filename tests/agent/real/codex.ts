// The provider `codex` as docs/AGENTS.md has it, with the real codex on the creator's PATH and a loopback model.
import { expect } from "bun:test";
import { appendFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readText } from "../../../scripts/files.ts";
import { endAll, Home } from "../../cli/terminal-home.ts";
import { LoopbackModel } from "./model.ts";
import { codexProgram } from "./programs.ts";
import { responses } from "./protocols.ts";

class CodexHome extends Home {
  override get env() {
    return { ...super.env, PATH: `${join(this.path, "bin")}:/usr/bin:/bin`, OPENAI_API_KEY: "planted" };
  }
}

function prepared(url: string): CodexHome {
  const home = new CodexHome();
  const documented = /\[provider\.codex\]\n.*?(?=\n```|\n\n)/s.exec(readText("docs/AGENTS.md"))?.[0] ?? "";
  appendFileSync(join(home.path, "config.toml"), `\n${documented}\n`);
  for (const name of ["bin", "work", ".codex"]) mkdirSync(join(home.path, name));
  symlinkSync(codexProgram ?? "/", join(home.path, "bin/codex"));
  const mock = ["[model_providers.mock]", 'name = "mock"', `base_url = "${url}/v1"`, 'wire_api = "responses"'];
  const lines = ['model = "m1"', 'model_provider = "mock"', ...mock, 'env_key = "OPENAI_API_KEY"'];
  writeFileSync(join(home.path, ".codex/config.toml"), lines.join("\n"));
  Bun.spawnSync(["git", "init", "-q"], { cwd: join(home.path, "work") }); // codex wants a repository.
  return home;
}

/** It answers, remembers, shows its standard error, and its answer is what a step captures. */
export async function tryDocumentedCodex(): Promise<void> {
  const model = new LoopbackModel(responses);
  const home = prepared(model.url);
  const cwd = join(home.path, "work");
  await home.ok("agent", "new", "coder", "--provider", "codex", "--cwd", cwd);
  expect(await home.ok("agent", "ask", "coder", "the word is turquoise")).toBe("answer 1\n");
  expect(await home.ok("agent", "ask", "coder", "which word?")).toBe("answer 2\n");
  expect(model.newest()).toContain("the word is turquoise");
  const log = await home.ok("agent", "log", "coder");
  expect(log).toContain("on standard error: ");
  expect(log).toContain("Reading additional input from stdin...");
  const step = `  - id: review\n    agent: { provider: codex, prompt: "Look." }\n    capture: said\n`;
  writeFileSync(join(cwd, "flow.yml"), `steps:\n${step}  - shell: printf '[%s]' \${said} > said.txt\n`);
  const done = await home.at("work", {}, "run", "flow.yml");
  expect([done.code, done.err]).toEqual([0, expect.stringContaining("is done")]);
  expect(await Bun.file(join(cwd, "said.txt")).text()).toBe("[answer 3]");
  await endAll();
  await model.stop();
}
