// `holdfast providers`, and an agent on a shipped recipe: real commands, and scripts that speak as the CLIs do.
import { afterEach, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rejects } from "./expect.ts";
import { endAll, Home } from "./terminal-home.ts";

afterEach(endAll);

function program(path: string, script: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

/** Says what codex 0.169 says in `exec --json`. */
const CODEX = `
[ "$1" = --version ] && { echo codex-cli 0.169.0; exit; }
echo "$*" >> "$(dirname "$0")/calls"
echo '{"type":"thread.started","thread_id":"thread-1"}'
echo "{\\"type\\":\\"item.completed\\",\\"item\\":{\\"type\\":\\"agent_message\\",\\"text\\":\\"call $(wc -l < "$(dirname "$0")/calls")\\"}}"
`;
const ACP = `[ "$1" = --version ] && { echo 1.18.0; exit; }
env > "$(dirname "$0")/given"; read -r line; echo starting; echo '{"jsonrpc":"2.0","id":"open","result":{"agentCapabilities":{"loadSession":true}}}'; exec sleep 600`;

test("providers ls and test say what is there, without running anything out of the current directory", async () => {
  const home = new Home();
  const bin = join(home.path, "bin");
  program(join(bin, "codex"), CODEX);
  program(join(bin, "opencode"), ACP);
  program(join(bin, "gemini"), "[ $1 = --version ] && echo 0.61.0; exit 7");
  program(join(home.path, "claude"), `touch '${home.path}/ran'; echo 1`); // As a repository could bring it.
  const env = { PATH: `.:${home.path}:${bin}:/usr/bin:/bin`, OPENAI_API_KEY: "s3cret", OPENROUTER_API_KEY: "" };
  writeFileSync(join(home.path, "config.toml"), '[provider.mine]\nkind = "scripted"\ncommand = ["./mine.sh"]\n');
  const all = await home.at("", env, "providers", "ls", "--json");
  const rows = JSON.parse(all.out).map(({ name, from, version, login, usable }: Record<string, unknown>) => {
    return [name, from, version, login, usable];
  });
  expect(rows).toEqual([
    ["mine", "configuration", null, null, true],
    ["claude", "built in", null, null, true],
    ["openai", "built in", null, null, false],
    ["codex", "shipped", "codex-cli 0.169.0", "OPENAI_API_KEY", true],
    ["gemini", "shipped", null, null, false],
    ["opencode", "shipped", "1.18.0", null, true],
    ["cursor-agent", "shipped", null, null, false],
  ]);
  expect(all.out).not.toContain("s3cret");
  expect((await home.at("", env, "providers", "ls")).out).toContain("cursor-agent was not found");
  const tested = await home.at("", env, "providers", "test", "opencode", "claude");
  expect(tested).toMatchObject({ code: 0, err: "" });
  expect(tested.out).toContain("resumes   yes");
  expect(tested.out).toContain("version not asked: it is in the current directory");
  expect(existsSync(join(home.path, "ran"))).toBe(false); // LK3
  expect(readFileSync(join(bin, "given"), "utf8")).not.toContain("s3cret"); // PG1
  expect((await home.at("", env, "providers", "test", "gemini")).code).toBe(1);
  rejects(await home.at("", env, "providers", "test", "codx"), 4, "There is no provider");
});

test("AG-6(a) an agent on the shipped recipe of codex answers, and resumes its conversation, without configuration", async () => {
  const home = new Home();
  const bin = join(home.path, "bin");
  program(join(bin, "codex"), CODEX);
  const env = { PATH: `${bin}:/usr/bin:/bin` };
  const said = async (...words: readonly string[]) => (await home.at("", env, "agent", ...words)).out;
  await said("new", "coder", "--provider", "codex");
  expect([await said("ask", "coder", "one"), await said("ask", "coder", "two")]).toEqual(["call 1\n", "call 2\n"]);
  const calls = readFileSync(join(bin, "calls"), "utf8");
  expect(calls).toMatch(/^exec --json --skip-git-repo-check [\s\S]*one/);
  expect(calls).toMatch(/^exec resume thread-1 --json --skip-git-repo-check [\s\S]*two/m);
});
