// Whether a program of ours that was put into one file (scripts/build-cli.ts) still is what its sources say.
// BU1. By the sources' change times, which nobody can set back: a copied, unpacked or checked out source counts as changed.
// BU2. It is for the place where it was made, whose paths are in it: one that was moved along with its sources is out of date.
// BU3. One that is out of date is taken out of the launcher's way, who then makes it anew; what cannot be told is out of date.
import { readFileSync, statSync, unlinkSync } from "node:fs";
import { resolve } from "node:path";
import { attempt, unless } from "./attempt.ts";

/** `root`: of the installation. `builtMs`: a change time from before the first source was read. `sources`: paths below the root. */
export type Built = { readonly root: string; readonly builtMs: number; readonly sources: readonly string[] };

export const BUILT_FROM = "sources.json";

/** The entry `source` below the installation's root, where the file that we were started from is out of date; undefined where it is not. */
export function sourceInstead(source: string, file = Bun.main): string | undefined {
  const root = resolve(file, "../../..");
  if (isUpToDate(root, resolve(file, "..", BUILT_FROM))) return undefined;
  const link = resolve(root, ".built/cli");
  unless(["ENOENT", "EACCES", "EPERM", "EROFS"], undefined, () => attempt("unlink", link, () => unlinkSync(link))); // BU3
  return resolve(root, source);
}

function isUpToDate(root: string, path: string): boolean {
  try {
    const built: Built = JSON.parse(readFileSync(path, "utf8"));
    if (built.root !== root) return false; // BU2
    return built.sources.every((source) => statSync(`${root}/${source}`).ctimeMs < built.builtMs); // BU1
  } catch {
    return false; // BU3
  }
}
