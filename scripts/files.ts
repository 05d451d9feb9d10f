// What the scripts and the tidy test read: the repository's own files, by paths relative to its root.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

export const ROOT = resolve(import.meta.dir, "..");

export type SourceFile = { readonly path: string; readonly text: string };

/** Generated. They are not even looked into: a test run may be removing files there. */
const MADE = [".git", ".built", ".fuzz", "coverage", "dist", "node_modules"];

export function isTest(path: string): boolean {
  return path.endsWith(".test.ts");
}

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** The text of a file that may not be there yet. */
export function readIfThere(path: string): string | undefined {
  const found = [...new Bun.Glob(path).scanSync({ cwd: ROOT, dot: true })];
  return found.length === 0 ? undefined : readText(path);
}

/** The files that match, with their text, sorted by path: every machine sees them in the same order. */
export function readAll(pattern: string): SourceFile[] {
  const all = [...new Bun.Glob(pattern).scanSync({ cwd: ROOT, dot: true })];
  const paths = all.filter((path) => !path.includes("/node_modules/")); // Those of real agents, below tests/.
  return paths.sort().map((path) => ({ path, text: readText(path) }));
}

/** Every file that is not generated. */
export function readRepository(): SourceFile[] {
  const entries = readdirSync(ROOT, { withFileTypes: true }).filter(({ name }) => !MADE.includes(name));
  return entries.flatMap((entry) => readAll(entry.isDirectory() ? `${entry.name}/**/*` : entry.name));
}

/** Writes a generated page, or with `--check` says whether the one in the repository is the one we would write. */
export function publish(page: SourceFile, args: readonly string[]): boolean {
  if (!args.includes("--check")) {
    mkdirSync(dirname(join(ROOT, page.path)), { recursive: true });
    writeFileSync(join(ROOT, page.path), page.text);
    console.log(`${page.path}: written`);
    return true;
  }
  const same = readIfThere(page.path) === page.text;
  console.log(
    same ? `${page.path}: up to date` : `${page.path}: differs from what would be generated; run: npm run docs`,
  );
  return same;
}
