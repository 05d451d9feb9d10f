// Puts each of our programs into one file with its bytecode: `.built/now/PROGRAM/main.js`. Nothing is lost where that fails.
// BC1. A name that is there is whole: each build has a directory of its own, and the link `now` is put in place at once, when all is durable. A power
//      cut would else leave a program that is an empty file: it does nothing, and says that all is well.
// BC2. What earlier builds left is removed, but for the last one before this: somebody may be starting it.
import {
  chmodSync,
  closeSync,
  fsyncSync,
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

export async function buildPrograms(root: string): Promise<void> {
  const link = join(root, NEWEST);
  const folder = dirname(link);
  mkdirSync(folder, { recursive: true });
  const directory = mkdtempSync(join(folder, "build-"));
  chmodSync(directory, 0o755); // As the sources: whoever may run those may run this.
  const builtMs = statSync(directory).ctimeMs; // Before anything is read.
  await Promise.all(PROGRAMS.map((program) => build(root, program, join(directory, program), builtMs)));
  sync(directory);
  const before = linkedFrom(link);
  symlinkSync(basename(directory), `${directory}.link`);
  renameSync(`${directory}.link`, link); // BC1
  for (const name of readdirSync(folder)) {
    if (![basename(link), before, basename(directory)].includes(name))
      rmSync(join(folder, name), { recursive: true, force: true }); // BC2
  }
}

async function build(root: string, program: string, outdir: string, builtMs: number): Promise<void> {
  const inputs = (await bundle(root, program, outdir)).map((path) => relative(root, resolve(path)));
  const facts: Built = { root, builtMs, sources: [...inputs, "package.json", "tsconfig.json"] };
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

function linkedFrom(link: string): string | undefined {
  return readdirSync(dirname(link)).includes(basename(link)) ? readlinkSync(link) : undefined;
}

if (import.meta.main) await buildPrograms(resolve(import.meta.dir, ".."));
