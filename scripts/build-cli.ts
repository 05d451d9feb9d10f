// Puts the command line into one file with its bytecode, for the launcher: `.built/cli/main.js`. Nothing is lost where that fails.
// BC1. A name that is there is whole: each build has a directory of its own, and the link `cli` is put in place at once, when all is durable. A power
//      cut would else leave a command that is an empty file: it does nothing, and says that all is well.
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
import { basename, join, relative, resolve } from "node:path";
import { BUILT_FROM, type Built } from "../src/world/built.ts";

const FOLDER = ".built";
const LINK = "cli";

export async function buildCli(root: string): Promise<void> {
  const folder = join(root, FOLDER);
  mkdirSync(folder, { recursive: true });
  const directory = mkdtempSync(join(folder, "cli-"));
  chmodSync(directory, 0o755); // As the sources: whoever may run those may run this.
  const builtMs = statSync(directory).ctimeMs; // Before anything is read.
  const built = await Bun.build({
    entrypoints: [join(root, "src/cli/built.ts")],
    ...{ target: "bun", format: "cjs", bytecode: true, metafile: true, outdir: directory },
    minify: { whitespace: true, syntax: true }, // Names stay: they are what an error's trace is read by.
    naming: "main.js",
  });
  const inputs = Object.keys(built.metafile?.inputs ?? {}).map((path) => relative(root, resolve(path)));
  const facts: Built = { root, builtMs, sources: [...inputs, "package.json", "tsconfig.json"] };
  writeFileSync(join(directory, BUILT_FROM), JSON.stringify(facts));
  for (const name of [...readdirSync(directory), "."]) sync(join(directory, name)); // BC1
  const before = linkedFrom(folder);
  symlinkSync(basename(directory), `${directory}.link`);
  renameSync(`${directory}.link`, join(folder, LINK)); // BC1
  for (const name of readdirSync(folder)) {
    if (![LINK, before, basename(directory)].includes(name))
      rmSync(join(folder, name), { recursive: true, force: true }); // BC2
  }
}

function sync(path: string): void {
  const file = openSync(path, "r");
  fsyncSync(file);
  closeSync(file);
}

function linkedFrom(folder: string): string | undefined {
  return readdirSync(folder).includes(LINK) ? readlinkSync(join(folder, LINK)) : undefined;
}

if (import.meta.main) await buildCli(resolve(import.meta.dir, ".."));
