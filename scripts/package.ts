// Makes what npm publishes besides the launcher (`prepack`): each program in one file, in dist/programs, at the path
// where its entry is in the sources.
// PK1. Nothing is left to be built or installed at the first use: whoever uses it may not be allowed to write there.
// PK2. The programs work wherever npm puts them, and contain no path of the machine that built them.
// PK3. The directory has what was built now, and nothing else.
import { rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { type Built, isQuick } from "../src/world/built.ts";
import { entries } from "./binary.ts";
import { bundle, bundleEntry, programs, replacing } from "./build.ts";
import { ROOT } from "./files.ts";
import { licenses } from "./licenses.ts";

const PROGRAMS = join(ROOT, "dist/programs");

/** PK2. Takes the place of src/world/root.ts. */
const PACKAGE_ROOT = `
export const ROOT = Bun.main.replace(/\\/(?:src|built\\/now)\\/[^/]+\\/[^/]+$/, "");
export const IS_PACKAGE = true;`;

const ELSEWHERE = replacing(/\/src\/world\/root\.ts$/, PACKAGE_ROOT);

async function packEntry([entry, file]: readonly [entry: string, file: string]): Promise<void> {
  const outdir = join(PROGRAMS, dirname(entry));
  await bundleEntry({ root: ROOT, entry: relative(ROOT, file), outdir, name: basename(entry) }, [ELSEWHERE]);
}

/** What the launcher starts, and the frequent commands, lie as in a checkout (src/world/quick.ts). */
async function packQuick(program: Built): Promise<void> {
  await bundle(ROOT, program, join(PROGRAMS, "built/now", program), [ELSEWHERE]);
}

rmSync(PROGRAMS, { recursive: true, force: true }); // PK3
const quick = programs().filter((program) => program === "quick" || isQuick(program));
await Promise.all([...entries().map(packEntry), ...quick.map(packQuick)]);
writeFileSync(join(PROGRAMS, "LICENSES"), licenses());
