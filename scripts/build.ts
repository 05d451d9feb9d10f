// Puts each of our programs into one file with its bytecode: `.built/now/PROGRAM/main.js`. Nothing is lost where that fails.
// BC1. A name that is there is whole: each build has a directory of its own, and the link `now` is put in place at
//      once, when all is durable. A power cut would else leave a program that is an empty file: it does nothing, and
//      says that all is well.
// BC2. One at a time; whoever comes meanwhile runs the sources. What earlier builds left is removed, but for the last
//      one before this: somebody may be starting it. One that fails leaves nothing.
// BC3. A source that was changed while it was read is not what the file was made of: then there is none.
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { BUILT_FILE, BUILT_FROM, type Built, NEWEST, PROGRAMS } from "../src/world/built.ts";
import { tryFlock } from "../src/world/real/flock.ts";

const LOCK = "lock";

export async function buildPrograms(root: string): Promise<void> {
  const folder = dirname(join(root, NEWEST));
  mkdirSync(folder, { recursive: true });
  const lock = openSync(join(folder, LOCK), "a");
  try {
    if (tryFlock(lock, folder)) await buildAlone(root, folder); // BC2
  } finally {
    closeSync(lock);
  }
}

async function buildAlone(root: string, folder: string): Promise<void> {
  const directory = mkdtempSync(join(folder, "build-"));
  try {
    chmodSync(directory, 0o755); // As the sources: whoever may run those may run this.
    const begunMs = statSync(directory).ctimeMs; // Before anything is read.
    await Promise.all(PROGRAMS.map((program) => build(root, program, join(directory, program), begunMs)));
    sync(directory);
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
  const link = join(root, NEWEST);
  const before = linkedFrom(link);
  if (before === undefined) rmSync(link, { recursive: true, force: true }); // Whoever copied it may have made a directory of it.
  symlinkSync(basename(directory), `${directory}.link`);
  renameSync(`${directory}.link`, link); // BC1
  for (const name of readdirSync(folder)) {
    if (![LOCK, basename(link), before, basename(directory)].includes(name))
      rmSync(join(folder, name), { recursive: true, force: true }); // BC2
  }
}

async function build(root: string, program: string, outdir: string, begunMs: number): Promise<void> {
  const inputs = (await bundle(root, program, outdir)).map((path) => relative(root, resolve(path)));
  const nowMs = statSync(outdir).ctimeMs;
  const sources = [...inputs, "package.json", "tsconfig.json"].map((path): [string, number] => {
    const { ctimeMs } = statSync(join(root, path));
    if (ctimeMs >= begunMs && ctimeMs <= nowMs) throw new Error(`${path} was changed meanwhile`); // BC3
    return [path, ctimeMs];
  });
  const facts: Built = { root, sources };
  writeFileSync(join(outdir, BUILT_FROM), JSON.stringify(facts));
  for (const name of [...readdirSync(outdir), "."]) sync(join(outdir, name)); // BC1
}

/** What it was made of. */
export async function bundle(
  root: string,
  program: string,
  outdir: string,
  plugins: Bun.BunPlugin[] = [],
): Promise<string[]> {
  const built = await Bun.build({
    entrypoints: [join(root, "src", program, "program.ts")],
    ...{ target: "bun", format: "cjs", bytecode: true, metafile: true, outdir, plugins },
    minify: { whitespace: true, syntax: true }, // Names stay: they are what an error's trace is read by.
    naming: BUILT_FILE,
  });
  return Object.keys(built.metafile?.inputs ?? {});
}

function sync(path: string): void {
  const file = openSync(path, "r");
  fsyncSync(file);
  closeSync(file);
}

/** The build it leads to; undefined where there is none, or it is no link. */
function linkedFrom(link: string): string | undefined {
  return lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(link) : undefined;
}

if (import.meta.main) {
  const root = resolve(import.meta.dir, "..");
  const there = statSync(join(root, NEWEST, PROGRAMS[0], BUILT_FILE), { throwIfNoEntry: false });
  if ((there?.size ?? 0) === 0) await buildPrograms(root); // Somebody may have made it since the launcher looked.
}
