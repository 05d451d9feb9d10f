// Our single binary: all of Holdfast in one file, tried like the sources.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { entries } from "../../scripts/binary.ts";
import { readAll } from "../../scripts/files.ts";
import { postgresPrograms } from "../../scripts/postgres-server.ts";
import { BUN_VARIABLES, INSIDE } from "../../src/base/bun.ts";
import { SCRIPT } from "../golden/agents.ts";
import type { Product } from "../golden/product.ts";
import { until } from "../until.ts";
import { installed, programOf, removeAll, VERSION_OF } from "./made.ts";

/** All of it is a part of the proof; a sample is in the gate. */
const [TERMINALS, SECONDS] = process.env["HOLDFAST_FUZZ"] === "full" ? ["25", "120"] : ["3", "3"];

const FLOW = `name: hello
steps:
  - id: say
    shell: echo from the step
`;

let here: Product;
let hostile: string;
let ran: string;
let env: Readonly<Record<string, string>>;

/** Nothing of ours is near, and all that a Bun would follow is. */
beforeAll(() => {
  here = installed("one");
  hostile = join(here.root, "repository");
  ran = join(here.root, "ran");
  const evil = join(hostile, "evil.js");
  mkdirSync(join(hostile, "node_modules/yaml"), { recursive: true });
  writeFileSync(evil, `require("node:fs").appendFileSync(${JSON.stringify(ran)}, process.argv.join(" "));`);
  writeFileSync(join(hostile, "bunfig.toml"), 'preload = ["./evil.js"]\n[run]\npreload = ["./evil.js"]\n');
  writeFileSync(join(hostile, ".env"), "HOLDFAST_HOME=/from/the/repository\nEVIL=yes\n");
  writeFileSync(join(hostile, "tsconfig.json"), '{"compilerOptions":{"baseUrl":".","paths":{"*":["./evil.js"]}}}');
  writeFileSync(join(hostile, "node_modules/yaml/package.json"), '{"name":"yaml","main":"../../evil.js"}');
  writeFileSync(join(hostile, "hello.yaml"), FLOW);
  const preloads = Object.fromEntries(BUN_VARIABLES.map((name) => [name, evil]));
  env = { ...preloads, BUN_OPTIONS: `--preload ${evil}`, BUN_BE_BUN: "1", NODE_OPTIONS: `--require ${evil}` };
}, 300_000);
afterAll(removeAll, 180_000);

/** A command of the binary, typed in the hostile directory. */
function typed(): Product {
  return here.with(env).in(hostile);
}

/** An agent's tool, called as its MCP client does. */
async function said(agent: string, text: string): Promise<string> {
  const call = { name: "send_message", arguments: { to: "parent", text } };
  const child = Bun.spawn([programOf(here.root), `${INSIDE}src/shim/main.ts`], {
    cwd: hostile,
    env: { ...typed().env, HOLDFAST_AGENT: agent },
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call })}\n`);
  for await (const answer of child.stdout) {
    child.stdin.end();
    await child.exited;
    return Buffer.from(answer).toString();
  }
  return "";
}

test("every program that Self starts is inside", () => {
  const sources = readAll("src/**/*.ts").filter(({ path }) => !path.endsWith(".test.ts"));
  const named = sources.flatMap(({ text }) => [...text.matchAll(/"(src\/[\w/-]*main\.ts)"/g)].map(([, path]) => path));
  const inside = entries().map(([path]) => path);
  expect(new Set(named).difference(new Set(inside))).toEqual(new Set());
  expect(named.length).toBeGreaterThan(10);
});

test("each program inside starts, and neither a directory nor a variable makes it run anything else", async () => {
  const usual = { PATH: "/usr/bin:/bin", HOME: here.root };
  for (const [entry] of entries().filter(([path]) => path !== "src/cli/main.ts")) {
    const words = [programOf(here.root), `${INSIDE}${entry}`];
    const child = Bun.spawn(words, { cwd: hostile, env: { ...usual, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    const said = (await child.stdout.text()) + (await child.stderr.text());
    expect([entry, await child.exited, said.includes("holdfast --help"), existsSync(ran)]).toEqual([
      ...[entry, expect.any(Number), false, false],
    ]);
  }
  expect(await typed().ok(["--version"])).toBe(`${VERSION_OF.one}\n`);
  expect((await typed().run("from-the-user")).code).toBe(2); // Any other first word is a command.
});

test("terminals, the page, search, workflows and agents with their tools", async () => {
  const { url } = (await typed().json("up")).web;
  const page = await fetch(url);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("main.js")]);
  await typed().ok(["new", "work", "-d", "--", "sh", "-c", "echo a needle; exec cat"]);
  await typed().shows("a needle", "history", "work");
  await typed().shows("needle", "search", "needle");
  const { id } = await typed().json("run", "hello.yaml", "--detach");
  await typed().shows("from the step", "logs", id);
  await typed().ok(["agent", "new", "lead", "--provider", "scripted", ...SCRIPT]);
  await typed().ok(["agent", "ask", "lead", "SPAWN a kid"]);
  await typed().shows("the kid is well", "agent", "log", "lead");
  const kid = (await typed().json("agent", "inspect", "kid")).id;
  expect(await said(kid, "hi")).toContain('"isError":false');
  await typed().shows("hi", "agent", "log", "lead");
  expect(existsSync(ran)).toBe(false);
}, 120_000);

test("programs go on, and others are started, after the file was removed; it may come back", async () => {
  const path = programOf(here.root);
  const bytes = readFileSync(path);
  const before = (await here.json("status")).daemon.pid;
  const away = `${path}-elsewhere`;
  writeFileSync(away, bytes, { mode: 0o755 });
  const other = here.by([away]);
  await Bun.file(path).unlink();
  process.kill(before, "SIGKILL");
  await until(
    "the watchdog, whose file is gone, has started a daemon",
    async () => {
      const { daemon, recovery } = JSON.parse((await other.run("status", "--json")).out);
      return daemon.pid !== before && recovery.stage === "LIVE";
    },
    async () => other.run("status"),
  );
  await other.ok(["new", "later", "-d", "--", "sh", "-c", "echo a later one; exec cat"]);
  await other.shows("a later one", "history", "later");
  writeFileSync(path, bytes, { mode: 0o755 });
  expect((await here.json("status")).recovery.stage).toBe("LIVE");
}, 120_000);

/** The same programs as in tests/drill/fleet-demo.test.ts, started in another way. */
if (process.env["HOLDFAST_FUZZ"] === "full")
  test.skipIf(postgresPrograms() === undefined)(
    "the demonstration of a fleet runs on it (needs postgresql)",
    async () => {
      const shown = await typed().json("fleet", "demo");
      expect(shown).toMatchObject({ follows: true, lost: 0, doubled: 0, violations: [], kept: null });
      expect(existsSync(ran)).toBe(false);
    },
    600_000,
  );

test("the drill runs on it", async () => {
  const drill = await typed().json("drill", "--terminals", TERMINALS, "--seconds", SECONDS);
  expect(drill).toMatchObject({ lost: 0, doubled: 0, orphans: 0, violations: [] });
  expect(existsSync(ran)).toBe(false);
}, 600_000);
