// Commands that only look leave a home as it is: after `down`, and before its first start.
import { afterEach, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, Home } from "./terminal-home.ts";

afterEach(endAll, 180_000);

const MAP = [
  "name: numbers",
  "mode: mapreduce",
  "map:",
  "  input: numbers.json",
  "  on_item_failure: continue",
  "  agent_template:",
  "    - {id: say, shell: 'echo number ${item}; test ${item} = 1'}",
  "",
].join("\n");

/** What each command prints, up and down. */
const LOOKS: readonly (readonly [words: readonly string[], shows: string])[] = [
  [["workflows"], "done with 1 failed item"],
  [["workflows", "--json"], '"name":"numbers"'],
  [["logs", "numbers"], "number 2"],
  [["dlq", "ls", "numbers"], "exit code 1"],
  [["dlq", "show", "numbers", "1"], "value: 2"],
  [["checkpoints", "ls"], "numbers"],
  [["checkpoints", "verify"], ""],
  [["agent", "tree"], "quiet"],
  [["agent", "inspect", "quiet"], "scripted"],
  [["agent", "inbox", "quiet"], ""],
  [["agent", "log", "quiet"], "quiet"],
  [["rules", "ls"], "Bash"],
  [["prompts"], ""],
  [["prompts", "--json"], "[]"],
  [["ls"], "shell"],
  [["history", "shell"], ""],
  [["tail", "shell"], ""],
  [["status"], "down"],
  [["recovery", "status"], "LIVE"],
  [["recovery", "report"], ""],
  [["safe-mode", "status"], "off"],
  [["config", "show"], "terminal"],
  [["log", "show"], "terminal.created"],
];

async function isDown(home: Home): Promise<void> {
  const { watchdog, daemon } = await home.status();
  expect([watchdog.pid, daemon.pid]).toEqual([null, null]);
}

test("no command that only looks starts Holdfast after `down`; what it shows is read from disk", async () => {
  const home = new Home();
  writeFileSync(join(home.path, "numbers.yaml"), MAP);
  writeFileSync(join(home.path, "numbers.json"), "[1, 2]");
  await home.ok("new", "-d", "shell", "--", "cat");
  await home.ok("run", "numbers.yaml");
  await home.ok("agent", "new", "quiet", "--provider", "scripted", "--", "cat");
  await home.ok("rules", "add", "deny", "Bash");
  const before = new Map<string, string>();
  for (const [words, shows] of LOOKS.filter(([[first]]) => first !== "status")) {
    const out = await home.ok(...words);
    expect(out).toContain(shows);
    before.set(words.join(" "), out);
  }
  await home.ok("down");
  for (const [words, shows] of LOOKS) {
    const { code, out, err } = await home.run(...words);
    expect([words.join(" "), code, err.includes("internal")]).toEqual([words.join(" "), 0, false]);
    expect(out).toContain(shows);
    await isDown(home);
  }
  for (const words of ["workflows --json", "dlq ls numbers", "agent tree", "rules ls", "prompts --json"])
    expect((await home.run(...words.split(" "))).out).toBe(before.get(words) ?? "");
  expect((await home.run("workflows")).err).toContain("Holdfast is down; this is from disk. `holdfast up` starts it.");
  expect((await home.run("workflows", "--json")).err).toBe("");
});

test("what only the daemon knows is refused after `down`, with exit code 75 and the next command", async () => {
  const home = new Home();
  await home.ok("up");
  await home.ok("down");
  for (const words of [
    ["gc", "--dry-run"],
    ["recovery", "skip"],
  ]) {
    const { code, err } = await home.run(...words);
    expect([words.join(" "), code]).toEqual([words.join(" "), 75]);
    expect(err).toContain("Holdfast is down.\n  → `holdfast up` starts it.");
    await isDown(home);
  }
});

test("no command that only looks starts Holdfast on a home that was never started", async () => {
  const home = new Home();
  for (const words of [["workflows"], ["agent", "tree"], ["prompts"], ["rules", "ls"], ["ls"], ["adopt", "ls"]]) {
    expect(JSON.parse(await home.ok(...words, "--json"))).toEqual([]);
    expect(existsSync(join(home.path, "run"))).toBe(false);
  }
});
