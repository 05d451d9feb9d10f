// Agent steps as a user sees them: `run`, `workflows`, `answer`, `resume`, `logs --step`.
import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, Home } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { ACTOR } from "./agent-home.ts";

afterAll(endAll);

test("a run whose agent asks something exits with 3 and says what to type, and the agent's output is the step's log", async () => {
  const home = new Home();
  const file = (name: string) => join(home.path, name);
  writeFileSync(file("config.toml"), `[provider.actor]\nkind = "scripted"\ncommand = ${JSON.stringify(ACTOR)}\n`);
  const prompt = JSON.stringify(`>> ask Bash ls\n>> say on my way\n>> wait ${file("go")}\n>> say it is done`);
  writeFileSync(file("flow.yml"), `steps:\n  - id: work\n    agent: { provider: actor, prompt: ${prompt} }\n`);
  const run = await home.run("run", "flow.yml");
  expect([run.code, run.err]).toEqual([
    3,
    expect.stringContaining("flow waits for you: step 1 (work): it asks for Bash."),
  ]);
  const [{ id, needs }] = await home.json("workflows");
  const next = `holdfast answer ${needs[0].prompt} allow|deny`;
  expect(run.err).toContain(`  → ${next}\n`);
  expect(await home.ok("workflows")).toContain(next);
  expect(await home.run("resume")).toMatchObject({ code: 3, err: expect.stringContaining(next) });
  expect((await home.run("resume", "--rerun")).err).toContain("Nothing of flow is uncertain");
  await home.ok("answer", needs[0].prompt, "allow");
  const watching = home.window(["resume", id]);
  await watching.shows("  work: on my way");
  const window = home.window(["logs", "--step", "work", "--follow"]);
  await window.shows("turn 1 begins");
  writeFileSync(file("go"), "");
  await window.shows("turn 1 is complete");
  expect(await window.exited).toBe(0);
  await watching.shows("flow is done");
  expect(await watching.exited).toBe(0);
  await until(
    "its agent has left",
    async () => (await home.json("agent", "tree")).length === 0,
    async () => (await home.json("agent", "tree")).length,
  );
  const log = await home.ok("logs", "--step", "work");
  for (const told of ["asks for Bash", "allow, by user", "> it is done\n", "terminated by workflow: Its step is over."])
    expect(log).toContain(told);
  expect(await home.json("logs", "--step", "work")).toMatchObject([{ agent: needs[0].agent, output: "it is done" }]);
});
