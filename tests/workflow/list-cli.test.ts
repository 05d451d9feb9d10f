// `holdfast workflows`: the list and its filters, one run in full, and runs that are forgotten.
import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, Home } from "../cli/terminal-home.ts";
import { until } from "../until.ts";

afterAll(endAll, 180_000);

const file = (home: Home, name: string, ...steps: readonly string[]) =>
  writeFileSync(
    join(home.path, `${name}.yaml`),
    [`name: ${name}`, "steps:", ...steps.map((step) => `  - ${step}`)].join("\n"),
  );

async function threeRuns(): Promise<Home> {
  const home = new Home();
  file(home, "good", "{id: say, shell: echo hello}", "{id: again, shell: 'true'}");
  file(home, "bad", "{id: first, shell: 'true'}", "{id: second, shell: exit 9}");
  await home.ok("run", "good.yaml");
  expect((await home.run("run", "bad.yaml")).code).toBe(9);
  await home.ok("run", "good.yaml");
  return home;
}

test("workflows filters by state, name and number; without filters nothing has changed", async () => {
  const home = await threeRuns();
  const names = async (...words: readonly string[]) =>
    (await home.json("workflows", ...words)).map(({ name, state }: Record<string, string>) => `${name} ${state}`);
  expect(await names()).toEqual(["good done", "bad failed", "good done"]);
  expect(await names("ls")).toEqual(["good done", "bad failed", "good done"]);
  expect(await names("--state", "failed")).toEqual(["bad failed"]);
  expect(await names("--state", "failed", "--state", "done", "-n", "2")).toEqual(["bad failed", "good done"]);
  expect(await names("--name", "good", "--last", "1")).toEqual(["good done"]);
  expect(await names("--last", "0")).toEqual([]);
  expect((await home.run("workflows", "--state", "running")).err).toContain("there are no such runs.");
  expect((await home.run("workflows", "--state", "nonsense")).code).toBe(2);
});

test("workflows show has the steps, the error and the next command, up and down", async () => {
  const home = await threeRuns();
  const [, { id }, newest] = await home.json("workflows");
  const text = await home.ok("workflows", "show", "bad");
  for (const part of [`bad (${id})`, "first: done", "second: FAILED", `holdfast resume ${id.slice(0, 8)}`])
    expect(text).toContain(part);
  const shown = await home.json("workflows", "show", "bad.yaml");
  expect(shown).toMatchObject({ id, state: "failed", error: { step: "second", exitCode: 9 } });
  expect(shown.records.map(({ step, outcome }: Record<string, string>) => [step, outcome])).toEqual([
    ["first", "succeeded"],
    ["second", "failed"],
  ]);
  expect((await home.json("workflows", "show", "good")).id).toBe(newest.id);
  await home.ok("down");
  expect(await home.json("workflows", "show", "bad")).toEqual(shown);
});

test("workflows show and checkpoints show count the steps of iterations that a long run has let go", async () => {
  const home = new Home();
  const lines = ["mode: iterative", "max_iterations: 120", "steps:", "  - {id: count, set: {n: '${iteration}'}}"];
  writeFileSync(join(home.path, "loop.yaml"), lines.join("\n"));
  await home.ok("run", "loop.yaml");
  const shown = await home.json("workflows", "show", "loop");
  expect([shown.from, shown.records.length, shown.records[0].iteration]).toEqual([50, 70, 51]);
  const text = await home.ok("workflows", "show", "loop");
  for (const part of ["50 earlier ones", "iteration 51", "iteration 120"]) expect(text).toContain(part);
  expect(text).not.toContain("iteration 50,");
  await until(
    "its last checkpoint is there",
    async () => (await home.ok("checkpoints", "show", "loop")).includes("count (120)"),
    () => home.run("checkpoints", "show", "loop"),
  );
  expect(await home.ok("checkpoints", "show", "loop")).toContain("50 steps before these");
  expect((await home.run("checkpoints", "verify", "loop")).code).toBe(0);
  await home.ok("down");
  expect(await home.json("workflows", "show", "loop")).toEqual(shown);
}, 180_000);

/** The checkpoint of a run and its older ones. */
function checkpointsOf({ path }: Home, id: string): string[] {
  const files = [...new Bun.Glob(`state/*/sessions/${id}/**/*.json`).scanSync(path)];
  return files.filter((file) => /\/checkpoint[^/]*\.json$/.test(file));
}

test("UC-6(e) workflows rm forgets runs that are over, with their checkpoints, and refuses those that are not", async () => {
  const home = await threeRuns();
  file(home, "slow", "{id: wait, shell: sleep 600}");
  const slow = (await home.ok("run", "-d", "slow.yaml")).trim();
  const [first, bad, last] = await home.json("workflows");
  expect((await home.run("workflows", "rm", "bad", "nothing")).code).toBe(4);
  expect((await home.run("workflows", "rm", "good")).err).toContain("There are 2 runs of good");
  expect(checkpointsOf(home, bad.id)).not.toEqual([]);
  expect(await home.json("workflows", "rm", "bad", first.id)).toEqual([
    { id: bad.id, name: "bad" },
    { id: first.id, name: "good" },
  ]);
  const refused = await home.run("workflows", "rm", "slow");
  expect(refused.code).toBe(1);
  expect(refused.err).toContain(`slow is not over.\n  → Cancel it first: holdfast cancel ${slow.slice(0, 8)}`);
  const left = async () => (await home.json("workflows")).map(({ id }: Record<string, string>) => id);
  expect(await left()).toEqual([last.id, slow]);
  await home.ok("cancel", "slow");
  await home.ok("down");
  await home.ok("up");
  expect(await left()).toEqual([last.id, slow]); // Forgotten for good.
  expect([bad.id, first.id].flatMap((id) => checkpointsOf(home, id))).toEqual([]);
  expect(checkpointsOf(home, last.id)).not.toEqual([]);
});
