// Where a process runs, on Linux, read from /proc.
// OG1. Its own PATH counts, not ours: a shell's start-up files add to it. Only full paths in it do: `.` would find
//      whatever lies in a directory.
import { accessSync, constants, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { resolvedPath } from "../../base/path.ts";
import type { ProcessOrigin } from "../process.ts";
import { attempt, unless } from "./attempt.ts";

const NAMESPACES = ["mnt", "pid", "user", "net"];
const NOT_READABLE = ["ENOENT", "ESRCH", "EACCES", "EPERM", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "EINVAL"];
const DELETED = / \(deleted\)$/;

export function origin(pid: number): ProcessOrigin | undefined {
  const at = `/proc/${pid}`;
  const [executable, cwd, root] = [`${at}/exe`, `${at}/cwd`, `${at}/root`].map(linkOf);
  if (executable === undefined || cwd === undefined || root === undefined) return undefined;
  const isSame = (name: string) => linkOf(`${at}/ns/${name}`) === linkOf(`/proc/self/ns/${name}`);
  const path = variableOf(at, "PATH") ?? "";
  return {
    elsewhere: root !== linkOf("/proc/self/root") || !NAMESPACES.every(isSame),
    executable: executable.replace(DELETED, ""),
    find: (name) => found(path, name),
    real: (file) => realOf(resolvedPath(cwd, file)),
  };
}

function linkOf(path: string): string | undefined {
  return unless(NOT_READABLE, undefined, () => attempt("origin", path, () => readlinkSync(path)));
}

function variableOf(at: string, name: string): string | undefined {
  const path = `${at}/environ`;
  const text = unless(NOT_READABLE, "", () => attempt("origin", path, () => readFileSync(path, "utf8")));
  const entry = text.split("\0").find((one) => one.startsWith(`${name}=`));
  return entry?.slice(name.length + 1);
}

/** OG1 */
function found(path: string, name: string): string | undefined {
  for (const directory of path.split(":")) {
    const real = directory.startsWith("/") ? realOf(resolvedPath(directory, name)) : undefined;
    if (real !== undefined && isProgram(real)) return real;
  }
  return undefined;
}

function realOf(path: string): string | undefined {
  return unless(NOT_READABLE, undefined, () => attempt("origin", path, () => realpathSync(path)));
}

function isProgram(path: string): boolean {
  return unless(NOT_READABLE, false, () =>
    attempt("origin", path, () => {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    }),
  );
}
