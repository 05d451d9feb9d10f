// The recipes that come with Holdfast: by name, without configuration.
import { expect, test } from "bun:test";
import { SHIPPED } from "../../src/core/agent/shipped.ts";
import { agentConfigOf } from "../../src/daemon/agent/config.ts";
import { recipeFor } from "../../src/daemon/agent/recipes.ts";
import { loadConfig } from "../../src/wire/files/config.ts";
import { command } from "../../src/wire/provider/command.ts";
import { facts } from "./facts.ts";

function recipes(text: string) {
  const loaded = loadConfig({ env: () => "/c", absolute: (path) => path, read: () => Buffer.from(text) });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  return agentConfigOf(loaded.value.config);
}

const wish = (provider: string) => ({ provider, model: null, command: [], flags: [], permissionMode: null });

test("AG-6(a) the shipped recipes are there by name, and those with a process for each turn resume their session", () => {
  const config = recipes("");
  for (const [name, kind, argv] of [
    ["codex", "command", ["codex", "exec", "--json", "--skip-git-repo-check", "{prompt}"]],
    ["gemini", "acp", ["gemini", "--acp"]],
    ["opencode", "acp", ["opencode", "acp"]],
    ["cursor-agent", "command", ["cursor-agent", "--print", "--output-format", "stream-json", "{prompt}"]],
  ] as const)
    expect(recipeFor(config, wish(name))).toMatchObject({ ok: true, value: { provider: kind, name, command: argv } });
  const again = { resume: true, session: "s1", named: true };
  expect(command.launch(facts(again, SHIPPED["codex"]), "hi").argv).toEqual([
    ...["codex", "exec", "resume", "s1", "--json", "--skip-git-repo-check", "hi"],
  ]);
  expect(command.launch(facts(again, SHIPPED["cursor-agent"]), "hi").argv).toEqual([
    ...["cursor-agent", "--print", "--output-format", "stream-json", "--resume", "s1", "hi"],
  ]);
  const session = (name: string, line: object) =>
    command.decode(JSON.stringify(line), facts({}, SHIPPED[name])).events.find(({ kind }) => kind === "session");
  expect(session("codex", { type: "thread.started", thread_id: "t1" })).toEqual({ kind: "session", session: "t1" });
  const init = { type: "system", subtype: "init", session_id: "c1" };
  expect(session("cursor-agent", init)).toEqual({ kind: "session", session: "c1" });
});

test("SH1 a table of the configuration takes the place of a shipped recipe", () => {
  const config = recipes('[provider.codex]\nkind = "acp"\ncommand = ["codex-acp"]\n');
  expect(recipeFor(config, wish("codex"))).toMatchObject({
    ok: true,
    value: { provider: "acp", command: ["codex-acp"] },
  });
  expect(recipeFor(config, wish("gemini")).ok).toBe(true);
});
