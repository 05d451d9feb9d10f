// docs/AGENTS.md shows what really happens.
import { afterAll, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateHelpTextForAllCommands } from "@stricli/core";
import { readText } from "../../scripts/files.ts";
import { appFor } from "../../src/cli/app.ts";
import { TOOLS } from "../../src/core/agent/tool-shapes.ts";
import { endAll, Home } from "../cli/terminal-home.ts";

afterAll(endAll);
const app = await appFor();
const page = readText("docs/AGENTS.md");

test("the first five minutes with agents work as documented, through a killed daemon", async () => {
  const home = new Home();
  const script = /```sh\n(#!\/bin\/sh\n.*?)```/s.exec(page)?.[1] ?? "";
  writeFileSync(join(home.path, "first.sh"), script);
  chmodSync(join(home.path, "first.sh"), 0o755);
  await home.ok("agent", "new", "first", "--provider", "scripted", "--", "./first.sh");
  expect(await home.ok("agent", "ask", "first", "hello")).toBe("Done.\n");
  expect((await home.run("agent", "ask", "first", "please rm the build")).code).toBe(3);
  process.kill((await home.status()).daemon.pid, "SIGKILL");
  const [prompt] = await home.json("prompts");
  await home.ok("answer", prompt.id.slice(0, 8), "allow");
  expect(await home.ok("agent", "ask", "first", "hello again")).toBe("Done.\n");
  const log = await home.ok("agent", "log", "first");
  const shown = [
    "asks for Bash",
    "suspended (recovery)",
    "found again, its process is still running",
    "allow, by user",
  ];
  for (const words of [...shown, "> Removed.", "turn 2 is complete"]) {
    expect(log).toContain(words);
    expect(page).toContain(words);
  }
  // Line by line, as it is printed; only times and ids differ.
  const plain = (text: string) =>
    text.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g, "TIME").replace(/\b[0-9a-f]{16}\b/g, "ID");
  const documented = /agent log first\n…\n(.*?)```/s.exec(page)?.[1] ?? "";
  expect(documented).toContain("turn 2 is complete");
  expect(plain(log)).toContain(plain(documented));
  const { out } = await home.run("prompts", prompt.id);
  expect(plain(out)).toMatch(/\nsince {3}TIME, /);
  expect(plain(page)).toMatch(/\nsince {3}TIME, /);
});

test("every command on agents takes --json, as the page says", () => {
  expect(page).toContain("All of these commands take `--json`");
  const helps = generateHelpTextForAllCommands(app).filter(([route]) =>
    /\b(?:agent|rules) [a-z]+$|\b(?:prompts|answer)$/.test(route),
  );
  expect(helps.length).toBeGreaterThan(15);
  for (const [route, text] of helps) expect({ route, json: text.includes("--json") }).toEqual({ route, json: true });
});

test("the page names every tool of agents and every command on them", () => {
  for (const { name } of TOOLS) expect(page).toContain(`\`${name}\``);
  const names = generateHelpTextForAllCommands(app).flatMap(([route]) => /\bagent ([a-z]+)$/.exec(route)?.[1] ?? []);
  expect(names.length).toBeGreaterThan(10);
  for (const name of names) expect(page).toMatch(new RegExp(`\`agent ${name}\\b`));
});
