// Another installation of Holdfast beside the one under test, with the same or modified sources.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../scripts/files.ts";

type Changes = Readonly<Record<string, readonly [from: string, to: string]>>;

const roots: string[] = [];

/** Its root directory. */
export function installation(changes: Changes = {}): string {
  const root = mkdtempSync(join(tmpdir(), "hfv-"));
  roots.push(root);
  for (const path of ["src", "package.json", "tsconfig.json"]) {
    cpSync(join(ROOT, path), join(root, path), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  for (const [path, [from, to]] of Object.entries(changes)) change(join(root, path), from, to);
  return root;
}

/** `from` must occur in the file exactly once. */
export function change(path: string, from: string, to: string): void {
  const parts = readFileSync(path, "utf8").split(from);
  if (parts.length !== 2) throw new Error(`${path} has ${parts.length - 1} times, not once: ${from}`);
  writeFileSync(path, parts.join(to));
}

export function removeInstallations(): void {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
}
