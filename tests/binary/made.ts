// Our binary for tests, built once from what the sources are now: 3 s of processor time for each variant.
// MB1. A build is kept by the content of what it was made of, so that several test files and runs share it.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT, readAll, readText } from "../../scripts/files.ts";
import { sha256 } from "../../src/world/hash.ts";
import { Product } from "../golden/product.ts";
import { BUN } from "../ours.ts";

const KEPT = join(ROOT, "dist/tests");

/** Two versions, and one whose daemon cannot start. */
const VARIANTS = {
  one: ["--version-label", "9.0.1"],
  two: ["--version-label", "9.0.2"],
  broken: ["--version-label", "9.0.3", "--leave-out", "src/daemon/main.ts"],
} as const;
export type Variant = keyof typeof VARIANTS;
export const VERSION_OF: Readonly<Record<Variant, string>> = { one: "9.0.1", two: "9.0.2", broken: "9.0.3" };

/** The path of a binary, with its digest in a file beside it. */
export function binary(variant: Variant): string {
  const directory = join(KEPT, key());
  const path = join(directory, variant, "holdfast");
  if (existsSync(path)) return path;
  mkdirSync(directory, { recursive: true });
  for (const name of readdirSync(KEPT)) if (name !== key()) rmSync(join(KEPT, name), { recursive: true, force: true });
  const own = mkdtempSync(join(directory, "own-"));
  const words = ["scripts/binary.ts", "--out", join(own, "holdfast"), ...VARIANTS[variant]];
  const { exitCode, stderr } = Bun.spawnSync([BUN, ...words], { cwd: ROOT, stdout: "ignore", stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`the binary cannot be built: ${stderr}`);
  keep(own, join(directory, variant));
  return path;
}

/** Another test may have built the same one meanwhile, and use it already. */
function keep(own: string, kept: string): void {
  try {
    renameSync(own, kept);
  } catch (error) {
    if (!existsSync(kept)) throw error;
    rmSync(own, { recursive: true });
  }
}

let known: string | undefined;

/** MB1 */
function key(): string {
  known ??= sha256(
    [...readAll("src/**/*"), ...readAll("scripts/{binary,binary-runtime,build}.ts")]
      .map(({ path, text }) => `${path} ${sha256(text)}`)
      .join("\n") + readText("package-lock.json"),
  ).slice(0, 16);
  return known;
}

const places: Product[] = [];

/** An installation of its own, on a home that nothing has run on. */
export function installed(variant: Variant, env: Readonly<Record<string, string>> = {}): Product {
  const root = mkdtempSync("/tmp/hfb-"); // Short: the path of a socket is limited.
  for (const name of ["bin", "user"]) mkdirSync(join(root, name));
  copyFileSync(binary(variant), programOf(root));
  const place = new Product({ words: [programOf(root)], root, env });
  places.push(place);
  return place;
}

export function programOf(root: string): string {
  return join(root, "bin/holdfast");
}

export async function removeAll(): Promise<void> {
  for (const place of places.splice(0)) {
    await place.powerCut();
    rmSync(place.root, { recursive: true, force: true });
  }
}
