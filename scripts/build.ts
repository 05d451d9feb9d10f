// Bundles each of our programs into one file, with its bytecode unless it is a holder: `.built/now/PROGRAM/main.js`.
// Large packages that few starts need are files beside it. If that fails, the sources are used.
// BC1. An existing name is complete: each build has its own directory, and the link `now` is replaced in one step, once
//      everything is durable. Otherwise a power cut could leave an empty file as a program, which does nothing and
//      exits successfully.
// BC2. One build at a time; programs started meanwhile run the sources. Earlier builds are removed, except for the last
//      one, which may just be starting, or runs and reads a package beside it later. The link to it may be gone already
//      (BU3 of src/world/built.ts). A failed build leaves nothing.
// BC3. If a source changed while it was read, the bundle does not match it: then there is none.
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import {
  type Built,
  type BuiltFrom,
  HOLDER_BUNDLE,
  isQuick,
  NEWEST,
  PROGRAMS,
  type Quick,
  withoutPrivateNames,
} from "../src/world/built.ts";
import { BUILT_FILE, BUILT_FROM, looksNow, OUTDATED, type QuickFrom } from "../src/world/quick.ts";
import { tryFlock } from "../src/world/real/flock.ts";
import { type BuiltPage, buildPage } from "../src/world/real/page-build.ts";
import { PARTS } from "./quick-parts.ts";

const LOCK = "lock";
const LIGHT_FS = "src/world/real/light-fs.ts";

export function programs(): Built[] {
  return Object.keys(PROGRAMS) as Built[];
}

export async function buildPrograms(root: string, isWanted = () => true): Promise<void> {
  const folder = dirname(join(root, NEWEST));
  mkdirSync(folder, { recursive: true });
  const lock = openSync(join(folder, LOCK), "a");
  try {
    if (tryFlock(lock, folder) && isWanted()) await buildAlone(root, folder); // BC2
  } finally {
    closeSync(lock);
  }
}

async function buildAlone(root: string, folder: string): Promise<void> {
  const directory = mkdtempSync(join(folder, "build-"));
  try {
    chmodSync(directory, 0o755); // Like the sources: a user who may run those may run this.
    const begunMs = statSync(directory).ctimeMs; // Before anything is read.
    const begin = (program: Built, also: readonly string[]) =>
      build(root, program, { outdir: join(directory, program), begunMs, also });
    const starter = await begin("quick", []);
    const builds = programs().map((program) => (program === "quick" ? starter : begin(program, starter)));
    const ended = await Promise.allSettled(builds); // All of them: one that still runs would leave its files behind.
    for (const one of ended) if (one.status === "rejected") throw one.reason;
    sync(directory);
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
  const link = join(root, NEWEST);
  const before = linkedFrom(link);
  // A copy of the tree may have turned the link into a directory.
  if (before === undefined) rmSync(link, { recursive: true, force: true });
  symlinkSync(basename(directory), `${directory}.link`);
  renameSync(`${directory}.link`, link); // BC1
  rmSync(join(root, OUTDATED), { force: true });
  const last = before ?? newestIn(folder, basename(directory));
  for (const name of readdirSync(folder)) {
    if (![LOCK, basename(link), last, basename(directory)].includes(name))
      rmSync(join(folder, name), { recursive: true, force: true }); // BC2
  }
}

/** BC2 */
function newestIn(folder: string, except: string): string | undefined {
  const builds = readdirSync(folder).filter((name) => name.startsWith("build-") && name !== except);
  const madeAt = (name: string) => statSync(join(folder, name)).mtimeMs;
  return builds.sort((one, other) => madeAt(other) - madeAt(one))[0];
}

/** `also`: the sources of what starts a frequent command: whoever checks this bundle checks them too (QU1). */
type Building = { readonly outdir: string; readonly begunMs: number; readonly also: readonly string[] };

/** Returns its sources. */
async function build(root: string, program: Built, { outdir, begunMs, also }: Building): Promise<string[]> {
  const inputs = await bundle(root, program, outdir);
  const own = inputs.filter((path) => !path.startsWith(`${LEFT_OUT}:`)).map((path) => relative(root, resolve(path)));
  const paths = isQuick(program) ? [...new Set([...own, ...also])] : own;
  const nowMs = statSync(outdir).ctimeMs;
  const sources = [...paths, "package.json", "tsconfig.json"].map((path): [string, number] => {
    const { ctimeMs } = statSync(join(root, path));
    if (ctimeMs >= begunMs && ctimeMs <= nowMs) throw new Error(`${path} was changed meanwhile`); // BC3
    return [path, ctimeMs];
  });
  const looksAfterItself = program === "quick" || isQuick(program);
  const facts: BuiltFrom | QuickFrom = looksAfterItself ? looked(root, paths) : { root, sources };
  writeFileSync(join(outdir, BUILT_FROM), JSON.stringify(facts));
  for (const name of [...readdirSync(outdir), "."]) sync(join(outdir, name)); // BC1
  return own;
}

/** QU1 of src/world/quick.ts */
function looked(root: string, sources: readonly string[]): QuickFrom {
  const seen = ["package.json", "tsconfig.json", ...sources];
  return { root, sources: seen.map((path) => [path, ...looksNow(join(root, path))]) };
}

/** Names stay: error traces need them. */
const WITH_BYTECODE = {
  target: "bun",
  format: "cjs",
  bytecode: true,
  minify: { whitespace: true, syntax: true },
} as const;

/** A module, because it waits (QK1 of src/cli/quick.ts); too small for bytecode to matter. */
const QUICK_BUNDLE = { target: "bun", format: "esm", minify: true } as const;

/** `entry`: below the root. */
function optionsOf(entry: string) {
  if (entry === PROGRAMS.quick) return QUICK_BUNDLE;
  return entry.startsWith("src/holder/") ? HOLDER_BUNDLE : WITH_BYTECODE;
}

/** What it was made of. */
export async function bundle(
  root: string,
  program: Built,
  outdir: string,
  plugins: Bun.BunPlugin[] = [],
): Promise<string[]> {
  const all = isQuick(program) ? [partOnly(root, program), ...plugins, withLightFs(root)] : plugins;
  return bundleEntry({ root, entry: PROGRAMS[program], outdir, name: BUILT_FILE }, all);
}

/** `entry`: below the root. `name`: of the bundle in `outdir`. */
export type Wanted = {
  readonly root: string;
  readonly entry: string;
  readonly outdir: string;
  readonly name: string;
};

/** What it was made of. */
export async function bundleEntry(
  { root, entry, outdir, name }: Wanted,
  plugins: readonly Bun.BunPlugin[],
): Promise<string[]> {
  const [, room = ""] = entry.split("/");
  const page = CARRIERS.includes(room) ? await buildPage(root) : NO_PAGE;
  const packages = new Map<string, string>();
  const ours = [...plugins, carryingPage(page), ...(room === "screen" ? [] : [besides(packages)])];
  const built = await Bun.build({
    entrypoints: [join(root, entry)],
    ...optionsOf(entry),
    ...{ metafile: true, outdir, plugins: ours, naming: name },
  });
  if (room === "holder") {
    const file = join(outdir, name);
    writeFileSync(file, withoutPrivateNames(readFileSync(file, "utf8")));
  }
  const beside = [...packages].map(([path, file]) =>
    Bun.build({ entrypoints: [path], ...WITH_BYTECODE, metafile: true, outdir, naming: file }),
  );
  const inputs = [built, ...(await Promise.all(beside))].flatMap(({ metafile }) => Object.keys(metafile?.inputs ?? {}));
  return [...inputs, ...page.inputs.map((path) => join(root, path))];
}

/** Each start would read up to a megabyte of them, and few need it. The screen program needs its own at once. */
const BESIDE = /^(?:@peculiar\/x509|@xterm\/headless|reflect-metadata|uqr|yaml)$/;

/** Notes where the packages are that were left out, and the names of their files. */
function besides(packages: Map<string, string>): Bun.BunPlugin {
  const setup = (build: Bun.PluginBuilder) => {
    build.onResolve({ filter: BESIDE }, ({ path, importer }) => {
      if (importer.includes("/node_modules/")) return undefined;
      const name = `${basename(path)}.js`;
      packages.set(Bun.resolveSync(path, dirname(importer)), name);
      return { path: `./${name}`, external: true };
    });
  };
  return { name: "packages", setup };
}

/** Stands before the path of what was left out. */
const LEFT_OUT = "left-out";

/** Leaves out of the command line what a frequent command does not need (quick-parts.ts). */
function partOnly(root: string, program: Quick): Bun.BunPlugin {
  const folder = join(root, "src/cli");
  const { has, lacks } = PARTS[program];
  const isLeftOut = (path: string, importer: string) =>
    /(?:routes|\/app|\/plain)\.ts$/.test(importer) ? !has.includes(path) : lacks.includes(path);
  const contents = `import { LeftOut } from "${folder}/left-out.ts"; throw new LeftOut();`;
  const setup = (build: Bun.PluginBuilder) => {
    build.onResolve({ filter: /^\./ }, ({ path, importer, kind }) => {
      const wanted = resolve(dirname(importer), path);
      const leaves = kind === "dynamic-import" && isLeftOut(relative(folder, wanted), importer);
      return leaves ? { path: wanted, namespace: LEFT_OUT } : undefined;
    });
    build.onLoad({ filter: /^/, namespace: LEFT_OUT }, () => ({ loader: "js", contents }));
  };
  return { name: "part", setup };
}

/**
 * Frequent commands do without node:fs until they need what only that can do. Plugins are not asked where it is. The
 * last one: for each file, only the first plugin that wants it is asked.
 */
function withLightFs(root: string): Bun.BunPlugin {
  const [from, instead] = ['from "node:fs"', `from "${join(root, LIGHT_FS)}"`];
  const setup = (build: Bun.PluginBuilder) => {
    build.onLoad({ filter: /\/src\/world\/(?!real\/light-fs).*\.ts$/ }, async ({ path }) => {
      return { loader: "ts", contents: (await Bun.file(path).text()).replaceAll(from, instead) };
    });
  };
  return { name: "light fs", setup };
}

/** The programs that serve the page. */
const CARRIERS: readonly string[] = ["web", "relay"];
const NO_PAGE: BuiltPage = { files: [], inputs: [] };

/** They contain the page's files. Those are built before: Bun builds one thing at a time, and would wait. */
export function carryingPage({ files }: Pick<BuiltPage, "files">): Bun.BunPlugin {
  const contents = `export const packedPage = async () => ${JSON.stringify(files)};`;
  return replacing(/\/src\/world\/real\/page-source\.ts$/, contents);
}

/** Puts `contents` in the place of one module. */
export function replacing(filter: RegExp, contents: string): Bun.BunPlugin {
  const setup = (build: Bun.PluginBuilder) => {
    build.onLoad({ filter }, () => ({ loader: "js", contents }));
  };
  return { name: String(filter), setup };
}

function sync(path: string): void {
  const file = openSync(path, "r");
  fsyncSync(file);
  closeSync(file);
}

/** The build it links to; undefined if there is none, or it is not a link. */
function linkedFrom(link: string): string | undefined {
  return lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(link) : undefined;
}

if (import.meta.main) {
  const root = resolve(import.meta.dir, "..");
  const sizeOf = (path: string) => statSync(join(root, path), { throwIfNoEntry: false })?.size;
  const isWanted = () => !sizeOf(join(NEWEST, "quick", BUILT_FILE)) || sizeOf(OUTDATED) !== undefined;
  await buildPrograms(root, isWanted); // Another launcher may have built it since this one looked.
}
