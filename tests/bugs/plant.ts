// Puts a deliberate bug into the sources as they are loaded; no file is touched.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/files.ts";
import type { Change } from "./bugs.ts";

/** From now on, importing one of these files gives it with the bug in it. */
export function plant(changes: readonly Change[]): void {
  const texts = new Map(changes.map(({ file }) => [join(ROOT, file), withBug(file, changes)]));
  Bun.plugin({
    name: "a deliberate bug",
    setup(build) {
      for (const [path, contents] of texts) {
        const filter = new RegExp(`^${RegExp.escape(path)}$`);
        build.onLoad({ filter }, () => ({ contents, loader: "ts" }));
      }
    },
  });
}

/** What a file is with its changes. B1: fails loudly where a text does not stand there exactly once. */
export function withBug(file: string, changes: readonly Change[]): string {
  const before = readFileSync(join(ROOT, file), "utf8");
  return changes.filter((change) => change.file === file).reduce(changed, before);
}

function changed(text: string, { file, from, to }: Change): string {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times, not once: ${from}`);
  return parts.join(to);
}
