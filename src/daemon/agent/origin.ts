// The repository that an agent's clone is made from, and what git reads to make it.
// OR1. A `.git` file is believed only if what it points to points back: otherwise, anyone who can write that file
//      could choose which directory is shown. A worktree's directory names the file in `gitdir`, a submodule's in its
//      config.
// OR2. No symbolic link is followed on the way.

import { baseName, joinPath, parentOf } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { readWhole } from "../../log/file/file.ts";
import type { Disk } from "../../world/disk.ts";

/** Longer ones are not git's. */
const MAX_BYTES = 1 << 16;

/** The directory beside `repository` that git needs; `repository` itself if there is none. */
export function gitBeside(disk: Disk, repository: string): Result<string> {
  const at = joinPath(repository, ".git");
  const kind = disk.lstat(at)?.kind;
  if (kind === "directory") return ok(repository);
  const named = kind === "file" ? /^gitdir: (.+)$/m.exec(textOf(disk, at))?.[1] : undefined;
  if (named === undefined) return doubtful(`${at} is neither a directory nor a file of git's.`);
  const own = absolute(repository, named);
  const beside = baseName(parentOf(own)) === "worktrees" ? parentOf(parentOf(own)) : own;
  const back = [textOf(disk, joinPath(own, "gitdir")).trim(), ...worktreesIn(textOf(disk, joinPath(own, "config")))];
  const isOurs = back.some((path) => [at, repository].includes(absolute(own, path))); // OR1
  const isReal = disk.realPath(own) === own && disk.realPath(repository) === repository; // OR2
  return isOurs && isReal ? ok(beside) : doubtful(`${at} points to ${own}, which does not point back to it.`);
}

function doubtful(message: string): Result<never> {
  return refused("bad-repository", message, "Make the agent in the repository itself (--cwd), or with --no-sandbox.");
}

/** Empty if it is no file: opening a pipe would block. */
function textOf(disk: Disk, path: string): string {
  const bytes = disk.lstat(path)?.kind === "file" ? readWhole(disk, path, MAX_BYTES) : undefined;
  return new TextDecoder().decode(bytes);
}

/** `core.worktree` */
function worktreesIn(config: string): string[] {
  return [...config.matchAll(/^\s*worktree = (.+)$/gm)].map(([, path = ""]) => path);
}

/** As git understands a path in `directory`. */
function absolute(directory: string, path: string): string {
  const found: string[] = [];
  for (const name of (path.startsWith("/") ? path : joinPath(directory, path)).split("/")) {
    if (name === "..") found.pop();
    else if (name !== "" && name !== ".") found.push(name);
  }
  return `/${found.join("/")}`;
}
