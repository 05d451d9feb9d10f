// Commands and daemons of different versions understand each other, or refuse each other in words that say what to do.
import { afterEach, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import about from "../../package.json" with { type: "json" };
import { ROOT } from "../../scripts/files.ts";
import { VERSION } from "../../src/wire/version.ts";
import { endAll, Home } from "./terminal-home.ts";

const roots: string[] = [];

afterEach(async () => {
  await endAll();
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

/** An installation of another version. */
function installation(changes: Readonly<Record<string, readonly [from: string, to: string]>>): string {
  const root = mkdtempSync(join(tmpdir(), "hfv-"));
  roots.push(root);
  cpSync(join(ROOT, "src"), join(root, "src"), { recursive: true });
  cpSync(join(ROOT, "package.json"), join(root, "package.json"));
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  for (const [path, [from, to]] of Object.entries(changes)) {
    const text = readFileSync(join(root, path), "utf8");
    if (!text.includes(from)) throw new Error(`${path} has no ${from}`);
    writeFileSync(join(root, path), text.replace(from, to));
  }
  return root;
}

const NEWER = { "src/wire/version.ts": [VERSION, "9.9.9"], "package.json": [`"${VERSION}"`, '"9.9.9"'] } as const;
const OTHER_PROTOCOL = { ...NEWER, "src/wire/rpc.ts": ["RPC_PROTOCOL = 1", "RPC_PROTOCOL = 2"] } as const;

test("the version that the processes tell each other is the package's", () => {
  expect(VERSION).toBe(about.version);
});

test("a daemon of a newer version and the same protocol is understood, and status says that they differ", async () => {
  const home = new Home();
  await home.from(installation(NEWER), "up");
  await home.ok("new", "one", "--", "sleep", "1000");
  expect((await home.listed("one")).state).toBe("running");
  expect(await home.json("status")).toMatchObject({ version: "9.9.9", recovery: { stage: "LIVE" } });
  const said = await home.ok("status");
  expect(said).toContain(`holdfast 9.9.9`);
  expect(said).toContain(`this command is ${VERSION}`);
});

test.each(["older", "newer"])(
  "a daemon of another protocol refuses a command that is %s, by its version",
  async (command) => {
    const home = new Home();
    const other = installation(OTHER_PROTOCOL);
    if (command === "older") await home.from(other, "up");
    else await home.ok("up");
    const daemons = command === "older" ? "9.9.9" : VERSION;
    const run = (...args: readonly string[]) => (command === "older" ? home.run(...args) : home.from(other, ...args));
    for (const args of [["ls"], ["new", "one"], ["status"], ["recovery", "retry"], ["safe-mode", "exit"]]) {
      const { code, out, err } = await run(...args);
      expect({ args, code, out }).toEqual({ args, code: 1, out: "" });
      expect(err).toContain(`The daemon is version ${daemons} and speaks another protocol.`);
      expect(err).toContain("holdfast down && holdfast up");
    }
    expect((await run("down")).code).toBe(0); // What the hint says works.
    expect((await run("up")).code).toBe(0);
  },
);
