// ./holdfast, run for real: in a copy of the tree's layout with a stub CLI, and with a fake npm for installations.
import { afterAll, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { ROOT } from "../scripts/files.ts";
import { PROGRAMS } from "../src/world/built.ts";
import { LATE_COMPILERS } from "../src/world/self.ts";

const scratch = mkdtempSync(join(tmpdir(), "holdfast launcher ")); // the space is on purpose
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const STUB = `import { greeting } from "dep";
console.log(JSON.stringify({
  greeting, ran: new Error().stack.split("\\n")[1].includes("/.built/") ? "one file" : "sources", here: import.meta.dir, cwd: process.cwd(), args: process.argv.slice(2),
  env: { EVIL: process.env.EVIL, BUN_OPTIONS: process.env.BUN_OPTIONS, DO_NOT_TRACK: process.env.DO_NOT_TRACK },
  engine: Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("BUN_JSC_"))),
}));
process.exit(0); // As the real one does: what starts it waits for that.`;

/** Installs as npm does: removes node_modules, is slow enough to be met half-way, and writes its marker last. */
const FAKE_NPM = `#!/bin/sh
if [ "$1" = config ]; then echo /the/npm/cache; exit; fi
echo "npm $* in $(pwd)" >>"$NPM_CALLS"
[ -z "\${NPM_FAILS:-}" ] || { echo "npm error: no network" >&2; exit 1; }
rm -rf node_modules
sleep 0.3
mkdir -p node_modules/bun/bin
ln -s "$REAL_BUN" node_modules/bun/bin/bun.exe
cp -R dep-source node_modules/dep
echo "npm says added 1 package"
echo '{}' >node_modules/.package-lock.json
`;

type Tree = { readonly root: string; readonly calls: string; readonly env: Record<string, string> };
type Ended = { readonly code: number; readonly out: string; readonly err: string };

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function program(path: string, text: string): void {
  write(path, text);
  chmodSync(path, 0o755);
}

function copy(path: string, root: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  copyFileSync(join(ROOT, path), join(root, path));
}

function newTree(): Tree {
  const top = mkdtempSync(join(scratch, "tree "));
  const root = join(top, "app");
  write(join(root, "src/cli/program.ts"), STUB);
  write(join(root, "dep-source/package.json"), '{"name":"dep","main":"index.js"}');
  write(join(root, "dep-source/index.js"), 'export const greeting = "ours";');
  write(join(root, "package-lock.json"), "{}");
  const ours = ["src/cli/main.ts", "src/world/built.ts", "src/world/quick.ts", "src/world/root.ts"];
  for (const path of ["holdfast", "tsconfig.json", ...ours]) copy(path, root);
  program(join(top, "bin/npm"), FAKE_NPM);
  program(join(top, "bin/node"), "#!/bin/sh\n");
  const calls = join(top, "npm-calls");
  return { root, calls, env: { PATH: `${top}/bin:/usr/bin:/bin`, NPM_CALLS: calls, REAL_BUN: process.execPath } };
}

async function run(
  tree: Tree,
  options: { file?: string; cwd?: string; env?: Record<string, string>; args?: string[] },
): Promise<Ended> {
  const command = [options.file ?? join(tree.root, "holdfast"), ...(options.args ?? [])];
  const env = { ...tree.env, ...options.env };
  const child = Bun.spawn(command, { cwd: options.cwd ?? scratch, env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, out, err };
}

const npmCalls = (tree: Tree): string[] =>
  existsSync(tree.calls) ? readFileSync(tree.calls, "utf8").trim().split("\n") : [];

async function installed(): Promise<Tree> {
  const tree = newTree();
  expect((await run(tree, {})).code).toBe(0);
  return tree;
}

/** The id of a process that has exited. */
async function deadPid(): Promise<number> {
  const child = Bun.spawn(["true"]);
  await child.exited;
  return child.pid;
}

test("H1 the first use installs and reports it on stderr only; the second does not install", async () => {
  const tree = newTree();
  const first = await run(tree, { args: ["ls"] });
  expect(first.err).toContain("holdfast: installing what it needs (npm ci --omit=dev");
  expect(JSON.parse(first.out).args).toEqual(["ls"]);
  const second = await run(tree, { args: ["ls"] });
  expect([second.code, second.err, second.out]).toEqual([0, "", first.out]);
  expect(npmCalls(tree)).toHaveLength(1);
  expect(readdirSync(tree.root).filter((name) => name.startsWith(".install"))).toEqual([]);
});

test("H1 a newer package-lock.json installs again, and a developer's tools stay", async () => {
  const tree = await installed();
  mkdirSync(join(tree.root, "node_modules/typescript"));
  const later = new Date(Date.now() + 60_000);
  utimesSync(join(tree.root, "package-lock.json"), later, later);
  await run(tree, {});
  expect(npmCalls(tree).at(1)).toStartWith("npm ci --no-audit");
});

test("H1 an interrupted installation is repeated", async () => {
  const tree = await installed();
  rmSync(join(tree.root, "node_modules/.package-lock.json"));
  expect((await run(tree, {})).code).toBe(0);
  expect(npmCalls(tree)).toHaveLength(2);
});

test("H2 five first uses at once install once, and all of them run", async () => {
  const tree = newTree();
  const all = await Promise.all(Array.from({ length: 5 }, () => run(tree, {})));
  expect(all.map((ended) => ended.code)).toEqual([0, 0, 0, 0, 0]);
  expect(npmCalls(tree)).toHaveLength(1);
});

test("H2 the lock of a process that died is taken over, also by five at once", async () => {
  const tree = newTree();
  symlinkSync(String(await deadPid()), join(tree.root, ".install-lock"));
  const all = await Promise.all(Array.from({ length: 5 }, () => run(tree, {})));
  expect(all.map((ended) => ended.code)).toEqual([0, 0, 0, 0, 0]);
  expect(npmCalls(tree)).toHaveLength(1);
});

test("a failed installation names npm's log, releases the lock, and the next use tries again", async () => {
  const tree = newTree();
  const failed = await run(tree, { env: { NPM_FAILS: "1" } });
  expect([failed.code, failed.out]).toEqual([1, ""]);
  expect(failed.err).toContain("npm error: no network");
  expect(failed.err).toContain("npm's log is in /the/npm/cache/_logs");
  expect((await run(tree, {})).code).toBe(0);
});

test("without node or npm it says what to install", async () => {
  const tree = newTree();
  const bin = join(dirname(tree.root), "few");
  mkdirSync(bin);
  for (const tool of ["sh", "readlink"]) symlinkSync(`/usr/bin/${tool}`, join(bin, tool));
  const withoutNode = await run(tree, { env: { PATH: bin } });
  expect([withoutNode.code, withoutNode.err.includes("`node` is not on the PATH")]).toEqual([1, true]);
  program(join(bin, "node"), "#!/bin/sh\n");
  const withoutNpm = await run(tree, { env: { PATH: bin } });
  expect([withoutNpm.code, withoutNpm.err.includes("`npm` is not on the PATH")]).toEqual([1, true]);
});

test("it works through a chain of links, from any directory, and passes every argument on unchanged", async () => {
  const tree = await installed();
  const bin = join(dirname(tree.root), "elsewhere");
  mkdirSync(bin);
  symlinkSync("../app/holdfast", join(bin, "one"));
  symlinkSync(join(bin, "one"), join(bin, "two"));
  const args = ["--help", "-e", "a b", "", "$HOME", "--", "--version"];
  const ended = await run(tree, { file: join(bin, "two"), cwd: bin, args, env: { CDPATH: "/" } });
  expect(JSON.parse(ended.out)).toMatchObject({ cwd: bin, args, greeting: "ours" });
});

test("H3 nothing in the caller's directory or in BUN_OPTIONS runs inside Holdfast", async () => {
  const tree = await installed();
  const hostile = join(dirname(tree.root), "hostile");
  write(join(hostile, "evil.ts"), 'console.log("evil ran"); export const greeting = "evil";');
  write(join(hostile, "bunfig.toml"), 'preload = ["./evil.ts"]');
  write(join(hostile, ".env"), "EVIL=1");
  write(join(hostile, "tsconfig.json"), '{"compilerOptions":{"baseUrl":".","paths":{"*":["./evil.ts"]}}}');
  write(join(hostile, "node_modules/dep/index.js"), 'export const greeting = "evil";');
  const preload = join(hostile, "evil.ts");
  const env = { BUN_OPTIONS: `--preload ${preload}`, BUN_BE_BUN: "1", BUN_INSPECT_PRELOAD: preload };
  const ended = await run(tree, { cwd: hostile, env, args: ["ls"] });
  const { ran, here, ...said } = JSON.parse(ended.out);
  expect([ran, here]).toEqual(["sources", join(tree.root, "src/cli")]);
  const ours = { env: { DO_NOT_TRACK: "1" }, engine: LATE_COMPILERS };
  expect(said).toEqual({ greeting: "ours", cwd: hostile, args: ["ls"], ...ours });
});

/** A tree that can bundle its programs, and has run once. */
async function building(): Promise<Tree> {
  const tree = newTree();
  const doors = ["flock", "libc", "page-build"].map((name) => `src/world/real/${name}.ts`);
  const start = ["quick", "frequent", "left-out"].map((name) => `src/cli/${name}.ts`);
  const others = ["world/real/program", "world/page-files", "world/hash", "base/fault", "wire/version"];
  const sources = [...doors, ...start, ...others.map((name) => `src/${name}.ts`)];
  for (const path of ["scripts/build.ts", "scripts/quick-parts.ts", ...sources]) copy(path, tree.root);
  for (const path of Object.values(PROGRAMS))
    if (!path.startsWith("src/cli/")) write(join(tree.root, path), 'console.log("hello");');
  for (const name of ["main.tsx", "index.html", "worker/worker.ts", "still/icon.svg"])
    write(join(tree.root, "src/page", name), "");
  write(join(tree.root, "package.json"), "{}");
  await run(tree, {});
  return tree;
}

async function whatRan(tree: Tree): Promise<string> {
  const { out, err } = await run(tree, {});
  expect(err).toBe("");
  return JSON.parse(out).ran;
}

test("H4 the first use bundles each program, and the bundle is what runs", async () => {
  const tree = await building();
  expect(await whatRan(tree)).toBe("one file");
  expect(
    readdirSync(join(tree.root, ".built"))
      .filter((name) => !name.startsWith("build-"))
      .sort(),
  ).toEqual(["lock", "now"]);
  expect(readdirSync(join(tree.root, ".built/now")).sort()).toEqual(Object.keys(PROGRAMS).sort());
});

test("H4 a changed source runs at once, is in the next bundle, and only the last earlier bundle is kept", async () => {
  const tree = await building();
  for (const word of ["one", "two", "three"]) {
    write(join(tree.root, "src/cli/program.ts"), STUB.replace("greeting,", `greeting: "${word}",`));
    const old = new Date(0);
    utimesSync(join(tree.root, "src/cli/program.ts"), old, old); // As an archive that keeps modification times does.
    const said = [await run(tree, {}), await run(tree, {})].map(({ out }) => JSON.parse(out));
    expect(said.map(({ greeting }) => greeting)).toEqual([word, word]);
    expect(said.map(({ ran }) => ran)).toEqual(["sources", "one file"]);
  }
  expect(readdirSync(join(tree.root, ".built")).filter((name) => name.startsWith("build-"))).toHaveLength(2);
});

test("H4 an installation that was moved runs from its new place", async () => {
  const tree = await building();
  const root = join(dirname(tree.root), "moved");
  renameSync(tree.root, root);
  const moved = { ...tree, root };
  const said = [await run(moved, {}), await run(moved, {})].map(({ out }) => JSON.parse(out).here);
  expect(said).toEqual([join(root, "src/cli"), join(root, "src/cli")]);
});

test("H4 if no bundle can be made, or bundling was interrupted, the sources run without a message", async () => {
  const tree = await building();
  rmSync(join(tree.root, ".built"), { recursive: true });
  write(join(tree.root, ".built"), "in the way");
  expect(await whatRan(tree)).toBe("sources");
  rmSync(join(tree.root, ".built"));
  write(join(tree.root, ".built/build-broken-off/cli/main.js"), "throw 1");
  expect(await whatRan(tree)).toBe("one file");
  write(join(tree.root, ".built/now/quick/main.js"), ""); // As a power cut leaves an unsynced file.
  expect(await whatRan(tree)).toBe("one file");
  expect(readdirSync(join(tree.root, ".built"))).not.toContain("build-broken-off");
});

test("H4 a bundle that was damaged, or copied without its link, is rebuilt; a missing source is noticed", async () => {
  const tree = await building();
  const now = join(tree.root, ".built/now");
  write(join(now, "cli/sources.json"), "{");
  expect([await whatRan(tree), await whatRan(tree)]).toEqual(["sources", "one file"]);
  for (const without of [undefined, "cli", "quick"]) {
    const real = realpathSync(now);
    rmSync(now);
    cpSync(real, now, { recursive: true });
    if (without !== undefined) rmSync(join(now, without), { recursive: true });
    write(join(tree.root, "package.json"), `{"name":"${without}"}`);
    expect([await whatRan(tree), await whatRan(tree)].at(-1)).toBe("one file");
    expect(lstatSync(now).isSymbolicLink()).toBe(true);
  }
  rmSync(join(tree.root, "node_modules/dep"), { recursive: true });
  const ended = await run(tree, {});
  expect([ended.code, ended.err.includes("dep")]).toEqual([1, true]);
});

test("H4 several first uses at once: each works, one builds, and its bundle is there", async () => {
  const tree = await building();
  rmSync(join(tree.root, ".built"), { recursive: true });
  const all = await Promise.all(Array.from({ length: 4 }, () => run(tree, { args: ["ls"] })));
  expect(all.map(({ code, err }) => [code, err])).toEqual(all.map(() => [0, ""]));
  expect(await whatRan(tree)).toBe("one file");
  const builds = readdirSync(join(tree.root, ".built")).filter((name) => name.startsWith("build-"));
  expect(builds).toEqual([basename(realpathSync(join(tree.root, ".built/now")))]);
});

test("H4 a program that cannot be built leaves nothing behind, and the others run from their sources", async () => {
  const tree = await building();
  write(join(tree.root, "src/web/program.ts"), "this is no program");
  rmSync(join(tree.root, ".built"), { recursive: true });
  expect(await whatRan(tree)).toBe("sources");
  expect(readdirSync(join(tree.root, ".built"))).toEqual(["lock"]);
});

test("H6 a package from npm finds Bun inside of it or beside it, also if no script was run, and installs nothing", async () => {
  const tree = newTree();
  const root = join(dirname(tree.root), "modules/holdfast");
  copy("holdfast", root);
  write(join(root, "dist/programs/built/now/quick/main.js"), "console.log(Bun.main);");
  const file = join(root, "holdfast");
  const missing = await run(tree, { file });
  expect([missing.code, missing.err.includes("Install Holdfast again")]).toEqual([1, true]);
  for (const modules of [dirname(root), join(root, "node_modules")]) {
    for (const path of ["bun/bin/bun.exe", "@oven/bun-linux-x64/bin/bun"]) {
      const bun = join(modules, path);
      mkdirSync(join(modules, "bun"), { recursive: true });
      mkdirSync(dirname(bun), { recursive: true });
      symlinkSync(process.execPath, bun);
      expect(await run(tree, { file })).toEqual({
        code: 0,
        out: `${root}/dist/programs/built/now/quick/main.js\n`,
        err: "",
      });
      rmSync(bun);
    }
  }
  expect(npmCalls(tree)).toEqual([]);
});
