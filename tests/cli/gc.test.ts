// `holdfast gc` as a user sees it.
import { afterAll, expect, test } from "bun:test";
import { appendFileSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ACTOR } from "../agent/agent-home.ts";
import { until } from "../until.ts";
import { endAll, Home } from "./terminal-home.ts";

afterAll(endAll, 180_000);

test("gc reports what it would free, frees it, and leaves everything that runs and every log", async () => {
  const home = new Home();
  writeFileSync(join(home.path, "config.toml"), "[retention]\nremoved_days = 0\n");
  await home.ok("new", "-d", "stays", "--", "sh", "-c", "echo here; exec sleep 1000");
  await home.says("stays", "here\n");
  await home.ok("new", "-d", "goes", "--", "sh", "-c", "echo gone");
  await home.run("wait", "goes");
  const { id } = await home.listed("goes");
  const stays = (await home.listed("stays")).id;
  await home.ok("rm", "goes");
  const dry = await home.json("gc", "--dry-run");
  expect(dry).toMatchObject({ dryRun: true, failed: [] });
  expect(dry.items).toMatchObject([{ what: "files of a removed terminal", reason: "older than 0 days" }]);
  expect(existsSync(join(home.path, "terminals", id, "tape"))).toBe(true);
  const { out, err } = await home.run("gc");
  expect(out).toContain("files of a removed terminal");
  expect(err).toMatch(/freed .*KB|freed .* B/);
  const left = () => readdirSync(join(home.path, "terminals", id));
  await until("its log is drained", () => left().length > 0, left); // A moment after it falls quiet.
  expect(left()).toEqual(["events.jsonl"]);
  expect(readdirSync(join(home.path, "terminals", stays))).toContain("tape");
  expect((await home.run("gc")).err).toContain("nothing to remove.");
  expect(await home.ok("history", "stays")).toBe("here\n");
  await home.ok("down"); // The next daemon finds nothing missing.
  await home.ok("up");
  const { items } = await home.json("recovery", "report");
  expect(items).toMatchObject([{ name: "stays", fate: "back as it was" }]);
  await home.ok("log", "verify");
  expect(await home.ok("history", "stays")).toBe("here\n");
});

const EVERYTHING = `name: everything
parameters: { long: { default: "some text" } }
steps:
  - id: prints
    shell: echo out; echo err >&2; cat \${file(long)}
    capture: words
  - id: asks
    agent: { provider: scripted, prompt: ">> say hello", command: [${ACTOR.map((word) => JSON.stringify(word)).join(", ")}] }
  - id: again
    shell: test -e tried || { touch tried; echo failing >&2; exit 1; }
    retry: 2
`;

test("with nothing to be kept, gc leaves of a terminal, a run and an agent only what the docs name", async () => {
  const home = new Home();
  const days = ["removed", "ended", "run", "agent"].map((kind) => `${kind}_days = 0`);
  appendFileSync(join(home.path, "config.toml"), `[retention]\n${days.join("\n")}\n`);
  await home.ok("new", "-d", "goes", "--", "sh", "-c", "read line; echo $line; sleep 1000");
  await home.ok("send", "goes", "word");
  await home.says("goes", "word");
  await home.ok("kill", "goes");
  await home.ok("restore", "goes"); // A second generation.
  await home.ok("kill", "goes");
  await home.ok("new", "-d", "silent", "--", "true");
  await home.run("wait", "silent");
  for (const name of ["goes", "silent"]) await home.ok("rm", name);
  const agent = (await home.ok("agent", "new", "alpha", "--provider", "scripted", "--", ...ACTOR)).trim();
  await home.ok("agent", "ask", "alpha", ">> say hello");
  await home.ok("agent", "terminate", "alpha");
  writeFileSync(join(home.path, "everything.yml"), EVERYTHING);
  await home.ok("run", "everything.yml");
  const left = () => filesBelow(home.path, "agents", "state", "terminals");
  expect(left()).toContainEqual(expect.stringMatching("/stderr-tape/"));
  const ended = await until(
    "all of it can be removed",
    async () => {
      const { failed } = await home.json("gc");
      const rest = left().filter((path) => !MAY_STAY.test(path));
      return failed.length === 0 && rest.length === 0 ? left() : undefined;
    },
    left,
  );
  expect(ended.filter((path) => path.includes(agent))).toEqual([]);
  await home.ok("down"); // The next daemon finds nothing missing.
  await home.ok("up");
  await home.ok("log", "verify");
});

/** Logs of terminals, runs and the agents' rules; checkpoints of runs. */
const MAY_STAY =
  /^(?:terminals\/\w+|agents\/rules|state\/[^/]+\/sessions\/\w+)\/events\.jsonl$|\/sessions\/\w+\/checkpoint\.json$/;

/** Also directories that are empty. */
function filesBelow(home: string, ...names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const found = readdirSync(join(home, name), { recursive: true, withFileTypes: true });
    const empty = (path: string) => readdirSync(path).length === 0;
    return found
      .map((entry) => ({ path: join(entry.parentPath, entry.name), isFile: !entry.isDirectory() }))
      .filter(({ path, isFile }) => isFile || empty(path))
      .map(({ path }) => path.slice(home.length + 1));
  });
}
