// Names on the command line: prefixes, the newest run, suggestions, several at once, and names that are free again.
import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../until.ts";
import { type Ended, endAll, Home } from "./terminal-home.ts";

afterEach(endAll, 180_000);

function rejects({ code, out, err }: Ended, exit: number, ...parts: readonly string[]): void {
  expect({ code, out }).toEqual({ code: exit, out: "" });
  for (const part of parts) expect(err).toContain(part);
}

/** Its id. */
async function opened(home: Home, name: string, ...command: readonly string[]): Promise<string> {
  return JSON.parse(await home.ok("new", "--json", name, "--", ...command)).id;
}

test("FD1 a unique prefix of a terminal's name is enough, an ambiguous one is refused, a wrong one gets a hint", async () => {
  const home = new Home();
  for (const name of ["build", "bundle", "bun", "web"]) await home.ok("new", "-d", name, "--", "cat");
  await home.ok("send", "bui", "hello", "-e");
  await home.says("build", "hello");
  expect(await home.ok("history", "we")).toBe("");
  await home.ok("rename", "w", "page");
  await home.ok("send", "bun", "x"); // A whole name wins over a longer one.
  rejects(await home.run("send", "bu", "x"), 4, '"bu" matches 3: build, bundle, bun.');
  rejects(await home.run("tail", "biuld"), 4, 'There is no terminal "biuld".', "Did you mean build?");
});

test("kill and rm take several terminals; if one is unknown, nothing is done to the others", async () => {
  const home = new Home();
  const ids: Record<string, string> = {};
  for (const name of ["one", "two", "three"]) ids[name] = await opened(home, name, "cat");
  rejects(await home.run("kill", "one", "tow"), 4, 'There is no terminal "tow".', "Did you mean two?");
  rejects(await home.run("rm", "-f", "one", "nothing"), 4);
  expect((await home.listed("one")).state).toBe("running");
  const killed = await home.json("kill", "one", "two", "one");
  const end = { exitCode: null, signal: "SIGTERM" };
  expect(killed).toEqual(["one", "two"].map((name) => ({ id: ids[name], name, ...end })));
  expect(await home.json("kill", "three")).toEqual({ id: ids["three"], name: "three", ...end });
  await until(
    "the ends are known",
    async () => (await home.json("ls")).every(({ state }: { state: string }) => state === "ended"),
    () => home.run("ls"),
  );
  await home.ok("new", "-d", "four", "--", "cat");
  const { code, out, err } = await home.run("rm", "one", "four", "two", "--json");
  expect([code, JSON.parse(out)]).toEqual([1, ["one", "two"].map((name) => ({ id: ids[name], name }))]);
  expect(err).toContain("four is still running.");
  expect((await home.json("ls")).map(({ name }: { name: string }) => name)).toEqual(["three", "four"]);
});

test("an ended terminal gives its name back: `new` says so and replaces it; one that runs keeps it", async () => {
  const home = new Home();
  const old = await opened(home, "build", "sh", "-c", "exit 3");
  await home.run("wait", "build");
  const { code, out, err } = await home.run("new", "-d", "build", "--", "cat");
  expect([code, out]).toEqual([0, "build\n"]);
  expect(err).toContain("build ended with exit code 3; it is replaced.");
  const rows = await home.json("ls");
  expect(rows.map(({ name, state }: { name: string; state: string }) => [name, state])).toEqual([["build", "running"]]);
  expect(rows[0].id).not.toBe(old);
  rejects(await home.run("new", "-d", "build"), 1, "There is already a terminal named build.");
  await home.ok("down");
  expect((await home.json("ls")).length).toBe(1); // Also on disk.
});

test("`new sleep 100` says where a command goes", async () => {
  const home = new Home();
  rejects(await home.run("new", "sleep", "100"), 2, "A command comes after --: holdfast new -- sleep 100.");
  rejects(await home.run("agent", "new", "a", "b"), 2, "A command comes after --: holdfast agent new -- a b.");
  expect((await home.run("rename", "a", "b", "c")).err).not.toContain("after --");
});

test("what cannot be a name, a parameter or a host is wrong usage: exit 2, whoever checked it", async () => {
  const home = new Home();
  await home.ok("new", "-d", "only", "--", "cat");
  const scripted = ["agent", "new", "--provider", "scripted"];
  for (const [part, ...args] of [
    ['"bad name" is not a valid name.', "new", "-d", "bad name"],
    ["The name is empty.", "new", "-d", ""],
    ['"a/b" is not a valid name.', "new", "-d", "x", "--lane", "a/b"],
    ['"a/b" is not a valid name.', "rename", "only", "a/b"],
    ['"a/b" is not a valid name.', "move", "only", "a/b"],
    ["There is no command to run.", "new", "-d", "x", "--", ""],
    ['"bad name" is not a valid name for an agent.', ...scripted, "bad name", "--", "cat"],
    ["The provider scripted needs a command.", ...scripted, "a"],
    ['"a b" is not a host.', ...scripted, "a", "--egress", "a b", "--", "cat"],
  ] as const)
    rejects(await home.run(...args), 2, part, "\n  → ");
  writeFileSync(join(home.path, "greet.yml"), GREET);
  for (const [part, ...params] of [
    ["The parameter who is missing."],
    ["The workflow has no parameter whom.", "--param", "whom=x"],
    ['The parameter times is "many".', "--param", "who=x", "--param", "times=many"],
    ["A --param has no name.", "--param", "who"],
  ] as const)
    rejects(await home.run("run", "greet.yml", ...params), 2, part, "\n  → ");
  expect(await home.json("workflows")).toEqual([]);
  expect((await home.json("ls")).length).toBe(1);
});

const GREET = [
  "parameters:",
  "  who: { type: string, required: true }",
  "  times: { type: number }",
  "steps:",
  "  - shell: echo ${who} ${times}",
  "",
].join("\n");

test("commands that only look take the newest run of a name; those that change something ask which", async () => {
  const home = new Home();
  const text = (word: string) => `name: greet\nsteps:\n  - {id: say, shell: 'echo ${word}; exit 1'}\n`;
  for (const word of ["first", "second"]) {
    writeFileSync(join(home.path, "greet.yaml"), text(word));
    expect((await home.run("run", "greet.yaml")).code).toBe(1);
  }
  expect(await home.ok("logs", "greet")).toBe("second\n");
  expect(await home.ok("logs", "greet.yaml", "--step", "say")).toBe("second\n");
  const [{ id: older }, { id }] = await home.json("workflows");
  expect(await home.ok("checkpoints", "show", "greet")).toContain(id);
  rejects(await home.run("resume", "greet"), 4, "There are 2 runs of greet");
  rejects(await home.run("cancel", "greet"), 4, "There are 2 runs of greet");
  const rows = `\n  ${older.slice(0, 8)}  greet  failed\n  ${id.slice(0, 8)}  greet  failed, the newest\n`;
  expect((await home.run("resume")).err).toBe(
    `holdfast: There are 2 runs to resume:${rows}  → Give the id of the one you mean.\n`,
  );
  rejects(await home.run("logs", "gret"), 4, 'There is no run "gret".', "Did you mean greet?");
});

test("an unknown agent gets a suggestion", async () => {
  const home = new Home();
  await home.ok("agent", "new", "worker", "--provider", "scripted", "--", "cat");
  rejects(await home.run("agent", "inspect", "woker"), 4, 'There is no agent "woker".', "Did you mean worker?");
});
