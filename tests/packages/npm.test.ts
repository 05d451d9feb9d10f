// The package that npm publishes, packed and installed for real: with a home directory, a prefix and, in CI, a cache of
// its own. Only the tarball is local. Outside of CI what npm has in its cache is used.
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import about from "../../package.json" with { type: "json" };
import { entries } from "../../scripts/binary.ts";
import { ROOT, readAll, readText } from "../../scripts/files.ts";
import { BUN_FLAGS } from "../../src/base/bun.ts";
import { FREQUENT } from "../../src/cli/frequent.ts";
import { filesOf, pathsOf, run, treeOf, use } from "./tried.ts";

const scratch = mkdtempSync(join(tmpdir(), "hfp-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const IN_CI = process.env["CI"] !== undefined;
const NPM = Bun.which("npm") ?? "npm";
const PREFIX = join(scratch, "prefix");
const INSTALLED = join(PREFIX, "lib/node_modules/holdfast");
const HOLDFAST = join(PREFIX, "bin/holdfast");
const CACHE = join(scratch, "cache");
const STATE = join(scratch, "home/.local/state/holdfast");

/** How this machine reaches the network. */
const NETWORK = /^(?:NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|npm_config_registry|(?:https?|no)_proxy)$/i;
const network = Object.fromEntries(Object.entries(process.env).filter(([name]) => NETWORK.test(name)));
const env: Record<string, string> = {
  ...Object(network),
  HOME: join(scratch, "home"),
  PATH: `${dirname(NPM)}:/usr/local/bin:/usr/bin:/bin`,
  npm_config_cache: CACHE,
  npm_config_update_notifier: "false",
  ...(!IN_CI && { npm_config_userconfig: join(homedir(), ".npmrc"), npm_config_prefer_offline: "true" }),
};

function packed(): string {
  const { code, out, err } = run(
    [NPM, "pack", "--json", "--pack-destination", scratch],
    { ...env, HOME: homedir() },
    ROOT,
  );
  if (code !== 0) throw new Error(err);
  const name = /holdfast-[\d.]+\.tgz/.exec(out)?.[0] ?? "";
  return join(scratch, name);
}

mkdirSync(join(scratch, "home"));
mkdirSync(CACHE);
if (!IN_CI)
  symlinkSync(join(process.env["npm_config_cache"] ?? join(homedir(), ".npm"), "_cacache"), join(CACHE, "_cacache"));
const tarball = packed();
run(["tar", "-xzf", tarball, "-C", scratch], env);
const UNPACKED = join(scratch, "package");
const installing = run([NPM, "install", "--global", "--prefix", PREFIX, tarball], env);
/** Elsewhere the registry may be out of reach. */
const IS_INSTALLED = IN_CI || installing.code === 0;

/** The entries that programs of ours start, by their paths in the sources. */
function started(): string[] {
  const sources = readAll("src/**/*.{ts,tsx}").filter(({ path }) => !path.endsWith(".test.ts"));
  const named = sources.flatMap(({ text }) => [...text.matchAll(/"(src\/\w+\/(?:\w+-)?main\.ts)"/g)]);
  return [...new Set(["src/cli/main.ts", ...named.map(([, path = ""]) => path)])];
}

/** Small files that are loaded without bytecode. */
const WITHOUT_BYTECODE = /\/holder\/|\/quick\/main\.js$/;

/** What a program loads: the packages beside it, and the bytecode of each file unless it is a small one. */
function loadedBy(path: string): string[] {
  const text = readFileSync(join(UNPACKED, path), "utf8");
  const beside = [...text.matchAll(/"\.\/([\w-]+\.js)"/g)].map(([, name = ""]) => join(dirname(path), name));
  const files = [path, ...beside];
  return WITHOUT_BYTECODE.test(path) ? files : [...files, ...files.map((file) => `${file}.jsc`)];
}

describe("the package", () => {
  test("has what the launcher and the programs load, what npm shows, and nothing else", () => {
    const quick = ["quick", ...FREQUENT.values()].map((name) => `built/now/${name}/main.js`);
    const programs = [...started(), ...quick].flatMap((path) => loadedBy(`dist/programs/${path}`));
    const words = ["package.json", "README.md", "LICENSE", "CHANGELOG.md", "docs/holdfast.1", "dist/programs/LICENSES"];
    const wanted = new Set(["holdfast", ...words, ...programs]);
    expect(filesOf(UNPACKED)).toEqual([...wanted].toSorted());
  });

  test("may be published, needs only Bun, runs nothing when it is installed, and names no path of this machine", () => {
    const { private: isPrivate, ...packageFile }: { private?: boolean; [name: string]: unknown } = JSON.parse(
      readFileSync(join(UNPACKED, "package.json"), "utf8"),
    );
    expect([isPrivate, packageFile["dependencies"]]).toEqual([undefined, { bun: about.dependencies.bun }]);
    expect(packageFile["publishConfig"]).toEqual({ access: "public", provenance: true });
    expect(Object.keys(Object(packageFile["scripts"])).filter((name) => /install|^prepare$/.test(name))).toEqual([]);
    expect(run(["grep", "-rlF", ROOT, UNPACKED], env)).toEqual({ code: 1, out: "", err: "" });
  });
});

describe.skipIf(!IS_INSTALLED)("npm install --global (needs the npm registry, or Bun in npm's cache)", () => {
  test("puts the command and its manual page in place", () => {
    expect([installing.code, installing.code === 0 ? "" : installing.err]).toEqual([0, ""]);
    expect(run([HOLDFAST, "--version"], env)).toEqual({ code: 0, out: `${about.version}\n`, err: "" });
    expect(readFileSync(join(PREFIX, "share/man/man1/holdfast.1"), "utf8")).toBe(readText("docs/holdfast.1"));
  });

  test("everything works from there, and its own directory stays as it is", async () => {
    const before = treeOf(PREFIX);
    expect(await use(HOLDFAST, env)).toEqual({
      ...{ states: ["a running", "b ended"], workflow: 0, printed: "printed", found: true, page: true },
      ...{ completed: ["a", "b"], runtime: "ok" },
    });
    expect(treeOf(PREFIX)).toEqual(before);
  });

  test("every program starts", () => {
    const bun = join(INSTALLED, "node_modules/bun/bin/bun.exe");
    for (const [entry] of entries()) {
      const { code, err } = run([bun, ...BUN_FLAGS, join(INSTALLED, "dist/programs", entry)], env);
      expect([entry, [0, 2].includes(code), /error:|cannot find/i.test(err)]).toEqual([entry, true, false]);
    }
  });

  test("a service's unit names programs of the installation", () => {
    const paths = pathsOf(run([HOLDFAST, "service", "install", "--print"], env).out).filter((path) =>
      path.includes("node_modules"),
    );
    expect(paths.map((path) => [path.startsWith(`${INSTALLED}/`), existsSync(path)])).toEqual(
      paths.map(() => [true, true]),
    );
    expect(paths.map((path) => basename(path))).toEqual(["bun.exe", "main.ts", "bun.exe", "main.ts"]);
  });

  test("npx runs the same, with Bun beside it and without scripts", () => {
    const npx = join(dirname(NPM), "npx");
    const { code, out } = run(
      [npx, "--yes", `./${basename(tarball)}`, "--version"],
      { ...env, npm_config_ignore_scripts: "true" },
      scratch,
    );
    expect([code, out]).toEqual([0, `${about.version}\n`]);
  });

  test("npm uninstall takes away what it brought, and leaves the home", () => {
    const home = treeOf(STATE);
    expect(run([NPM, "uninstall", "--global", "--prefix", PREFIX, "holdfast"], env).code).toBe(0);
    expect(treeOf(PREFIX).filter((path) => path.includes("holdfast"))).toEqual([]);
    expect([home.length > 10, treeOf(STATE)]).toEqual([true, home]);
  });
});
