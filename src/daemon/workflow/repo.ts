// The repository a directory belongs to: the first part of the path of its runs, `state/<repo>/sessions/<id>`.
import { joinPath, parentOf } from "../../base/path.ts";
import type { Disk } from "../../world/disk.ts";

const LONGEST = 64;

/** The nearest directory upwards that contains a `.git`; undefined if there is none. */
export function repositoryOf(disk: Disk, cwd: string): string | undefined {
  let at = cwd;
  while (at !== parentOf(at) && disk.stat(joinPath(at, ".git")) === undefined) at = parentOf(at);
  return at === parentOf(at) ? undefined : at;
}

/** The name of the nearest directory upwards that contains a `.git`, otherwise the directory's own name. */
export function repoOf(disk: Disk, cwd: string): string {
  const root = repositoryOf(disk, cwd) ?? cwd;
  const name = root.slice(root.lastIndexOf("/") + 1).replace(/[^A-Za-z0-9._-]/g, "_");
  const safe = name.replace(/^[^A-Za-z0-9]+/, "").slice(0, LONGEST);
  return safe === "" ? "root" : safe;
}
