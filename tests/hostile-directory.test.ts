// Every program of ours, started as Holdfast starts it, in a directory that tries to run inside it.
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { bundle } from "../scripts/build.ts";
import { ROOT } from "../scripts/files.ts";
import { BUN_FLAGS, BUN_VARIABLES } from "../src/base/bun.ts";
import { toolsOf } from "../src/daemon/agent/process-launch.ts";
import { holderStart, ordersStart } from "../src/wire/holder/start.ts";
import { type Built, PROGRAMS } from "../src/world/built.ts";
import { runInOurPlace } from "../src/world/real/in-our-place.ts";
import { realSelf } from "../src/world/self.ts";
import { BUN } from "./ours.ts";

const scratch = mkdtempSync(join(tmpdir(), "hfhostile-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const hostile = join(scratch, "repository");
const ran = join(scratch, "ran");
const seen = join(scratch, "seen");
const PACKAGES = ["yaml", "@stricli/core", "@xterm/headless"];

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const evil = join(hostile, "evil.js");
write(evil, `require("node:fs").appendFileSync(${JSON.stringify(ran)}, process.argv.join(" ") + "\\n");`);
write(join(hostile, "bunfig.toml"), 'preload = ["./evil.js"]\n[run]\npreload = ["./evil.js"]\n');
write(join(hostile, ".env"), "EVIL=from-the-repository\n");
write(join(hostile, "tsconfig.json"), '{"compilerOptions":{"baseUrl":".","paths":{"*":["./evil.js"]}}}');
for (const name of PACKAGES) {
  write(join(hostile, "node_modules", name, "package.json"), `{"name":"${name}","main":"index.js"}`);
  write(join(hostile, "node_modules", name, "index.js"), `require(${JSON.stringify(evil)});`);
}
/** Loaded by ourselves: says whether the program's environment is its own. */
const observer = join(scratch, "observer.ts");
write(
  observer,
  `require("node:fs").appendFileSync(${JSON.stringify(seen)}, "EVIL=" + (process.env.EVIL ?? "") + "\\n");`,
);

const self = realSelf();
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    ["watchdog", "daemon", "web", "screen", "database", "search", "shim", "drill", "relay"].map((name) => [
      name,
      self.command(`src/${name}/main.ts`),
    ]),
  ),
  cli: self.command("src/cli/main.ts", "--version"),
  "cli, with a command": self.command("src/cli/main.ts", "config", "show"),
  holder: holderStart(BUN, join(ROOT, PROGRAMS.holder), join(scratch, "no terminal")).argv,
  orders: ordersStart(BUN, join(ROOT, PROGRAMS.orders), scratch, {}).argv,
};

/** Its exit code, once it ended by itself: each has nothing to do. */
async function start(words: readonly string[]): Promise<number> {
  const [runtime = "", ...rest] = words;
  const env = { PATH: "/usr/bin:/bin", HOME: scratch };
  const argv = [runtime, "--preload", observer, ...rest];
  const child = Bun.spawn(argv, { cwd: hostile, env, stdio: ["ignore", "ignore", "ignore"] });
  return child.exited;
}

async function isUntouched(words: readonly string[]): Promise<void> {
  rmSync(seen, { force: true });
  const code = await start(words);
  const what = { code, ran: existsSync(ran) ? readFileSync(ran, "utf8") : "", seen: readFileSync(seen, "utf8") };
  expect(what).toEqual({ code: expect.any(Number), ran: "", seen: "EVIL=\n" });
}

test("the directory is hostile: a Bun that lacks one of our flags runs or follows what lies in it", async () => {
  write(join(scratch, "plain.ts"), 'import "yaml";');
  for (const flag of ["--config", "--tsconfig-override"]) {
    rmSync(ran, { force: true });
    await start([BUN, ...BUN_FLAGS.filter((one) => !one.startsWith(flag)), join(scratch, "plain.ts")]);
    expect([flag, existsSync(ran)]).toEqual([flag, true]);
  }
  rmSync(ran);
  rmSync(seen, { force: true });
  await start([BUN, ...BUN_FLAGS.filter((one) => one !== "--no-env-file"), join(scratch, "plain.ts")]);
  expect(readFileSync(seen, "utf8")).toBe("EVIL=from-the-repository\n");
});

test.each(Object.keys(SOURCES))("%s from its sources runs and follows nothing of the directory", async (name) => {
  await isUntouched(SOURCES[name] ?? []);
});

test("each program in one file runs and follows nothing of the directory", async () => {
  for (const name of Object.keys(PROGRAMS) as Built[]) {
    const directory = join(hostile, "built", name); // Below the hostile directory, as a home may be.
    await bundle(ROOT, name, directory);
    const words = SOURCES[name] ?? self.command("src/cli/main.ts", "ls");
    const file = join(directory, "main.js");
    const own = words.findIndex((word) => word.startsWith(`${ROOT}/src/`));
    await isUntouched(words.toSpliced(own, 1, file));
  }
});

test("the tools of an agent that passes the repository's variables on run nothing of it", async () => {
  const { command } = toolsOf({ self, home: scratch }, "a1") ?? { command: [] };
  const env = { PATH: "/usr/bin:/bin", BUN_OPTIONS: `--preload ${evil}`, BUN_INSPECT_PRELOAD: evil };
  const child = Bun.spawn([...command], { cwd: hostile, env, stdio: ["ignore", "ignore", "ignore"] });
  const usage = 2;
  expect([await child.exited, existsSync(ran)]).toEqual([usage, false]);
});

test("the launcher has the same flags, and removes the same variables", () => {
  const text = readFileSync(join(ROOT, "holdfast"), "utf8");
  for (const flag of BUN_FLAGS) expect(text).toContain(flag.replace("override=/dev/null", 'override="$tsconfig"'));
  expect([...text.matchAll(/\btsconfig=(\S+)/g)].map(([, path]) => path)).toEqual(["$root/tsconfig.json", "/dev/null"]);
  for (const name of BUN_VARIABLES) expect(text).toMatch(new RegExp(`^unset .*\\b${name}\\b`, "m"));
});

test("a program that runs in our place gets none of Bun's own variables", async () => {
  const out = join(scratch, "env");
  const env = { OUT: out, KEPT: "yes", ...Object.fromEntries(BUN_VARIABLES.map((name) => [name, "x"])) };
  await runInOurPlace({ argv: ["/bin/sh", "-c", 'env >"$OUT"'], cwd: "/", env }).ended;
  expect(readFileSync(out, "utf8")).toContain("KEPT=yes");
  expect(readFileSync(out, "utf8")).not.toContain("BUN_");
});
