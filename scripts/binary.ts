// Builds one executable with all our programs, the page and Bun inside:
//   npm run binary -- [--target linux-x64|linux-arm64] [--out FILE] [--version-label TEXT] [--leave-out ENTRY]
// It is written to dist/holdfast-TARGET unless FILE is given, with its digest in FILE.sha256. The last two are for
// tests of upgrades: another version, and one in which a program is missing.
// BI1. An existing name is complete, and has the digest beside it: both are written under other names first.
// BI2. Inside is every program that `Self` can start: each `main.ts` of src, by its path.
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { PROGRAMS } from "../src/world/built.ts";
import { buildPage } from "../src/world/real/page-build.ts";
import { PLATFORM } from "../src/world/real/runtime.ts";
import { runtimeFor, TARGETS, type Target } from "./binary-runtime.ts";
import { carryingPage, replacing } from "./build.ts";
import { ROOT } from "./files.ts";

export type BinaryOptions = {
  readonly target: Target;
  readonly out: string;
  readonly label?: string | undefined;
  readonly leaveOut?: string | undefined;
};

/** A command runs for milliseconds (S5 of src/world/self.ts). */
const LATE_COMPILERS = 100;
const ENTRY = "src/world/real/inside.ts";

export async function buildBinary({ target, out, label, leaveOut }: BinaryOptions): Promise<void> {
  mkdirSync(dirname(out), { recursive: true });
  const scratch = mkdtempSync(join(dirname(out), ".binary-"));
  try {
    const made = join(scratch, "holdfast");
    const versions = label === undefined ? [] : [labelled(label)];
    const page = await buildPage(ROOT, versions);
    await Bun.build({
      entrypoints: [join(ROOT, ENTRY)],
      ...{ target: "bun", format: "esm", splitting: true, bytecode: true, minify: { whitespace: true, syntax: true } },
      compile: {
        ...{ target: TARGETS[target].bun, executablePath: runtimeFor(target, ROOT, scratch), outfile: made },
        ...{ autoloadDotenv: false, autoloadBunfig: false, jitPolicy: LATE_COMPILERS },
      },
      plugins: [carryingPrograms(leaveOut), carryingPage(page), ...versions],
    });
    publish(made, out);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** BI1 */
function publish(made: string, out: string): void {
  const digest = createHash("sha256").update(readFileSync(made)).digest("hex");
  writeFileSync(`${made}.sha256`, `${digest}  ${basename(out)}\n`);
  rmSync(out, { force: true });
  renameSync(`${made}.sha256`, `${out}.sha256`);
  renameSync(made, out);
}

/** BI2. Each is loaded only when it is chosen; what several of them import is inside once. */
function carryingPrograms(leaveOut: string | undefined): Bun.BunPlugin {
  const inside = entries().filter(([path]) => path !== leaveOut);
  const programs = inside.map(([path, file]) => `${JSON.stringify(path)}: () => import(${JSON.stringify(file)})`);
  return replacing(/\/src\/world\/real\/inside-programs\.ts$/, `export const programs = { ${programs.join(", ")} };`);
}

/** Every program of it gives this as its version, and so does the page. */
function labelled(label: string): Bun.BunPlugin {
  return replacing(/\/src\/wire\/version\.ts$/, `export const VERSION = ${JSON.stringify(label)};`);
}

/** A `main.ts` that looks for a built program, of the table, would find none inside. */
export function entries(): (readonly [entry: string, file: string])[] {
  const found = [...new Bun.Glob("src/*/{main,*-main}.ts").scanSync(ROOT)].toSorted();
  const built = new Set<string>(Object.values(PROGRAMS));
  return found
    .filter((path) => !path.startsWith("src/page/"))
    .map((path) => {
      const program = path.replace(/main\.ts$/, "program.ts");
      return [path, join(ROOT, built.has(program) ? program : path)];
    });
}

export function isTarget(text: string): text is Target {
  return Object.hasOwn(TARGETS, text);
}

if (import.meta.main) {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    options: { target: { ...text, default: PLATFORM }, out: text, "version-label": text, "leave-out": text },
  });
  const { target, out } = values;
  if (!isTarget(target)) throw new Error(`--target is one of ${Object.keys(TARGETS).join(", ")}`);
  const path = resolve(out ?? join(ROOT, `dist/holdfast-${target}`));
  await buildBinary({ target, out: path, label: values["version-label"], leaveOut: values["leave-out"] });
  console.log(path);
}
