// The machine as the system reports it.
// RM1. A path is opened without following links before its mode changes: what replaced it meanwhile is not touched.
import {
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  type Stats,
  statfsSync,
} from "node:fs";
import { hostname, userInfo } from "node:os";
import type { FileSystem, Looked, Machine } from "../machine.ts";
import { attempt, unless } from "./attempt.ts";
import { fileSystemIn } from "./mounts.ts";

const NOTHING_THERE = ["ENOENT", "ENOTDIR"];

export function realMachine(): Machine {
  const { platform } = process;
  return {
    platform: platform === "linux" || platform === "darwin" ? platform : "other",
    runtime: Bun.version,
    uid: process.getuid?.() ?? 0,
    get user() {
      return attempt("user", "", () => userInfo().username);
    },
    get hostName() {
      return hostname();
    },
    look,
    protect,
    freeInodes,
    fileSystem,
    memory,
  };
}

function look(path: string): Looked | undefined {
  const found = unless(NOTHING_THERE, undefined, () => attempt("stat", path, () => lstatSync(path)));
  if (found === undefined) return undefined;
  return { kind: kindOf(found), mode: found.mode & 0o7777, uid: found.uid, changedAt: found.mtimeMs };
}

function kindOf(found: Stats): Looked["kind"] {
  if (found.isFile()) return "file";
  if (found.isDirectory()) return "directory";
  if (found.isSocket()) return "socket";
  return found.isSymbolicLink() ? "link" : "other";
}

/** RM1 */
function protect(path: string, mode: number): void {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const fd = attempt("protect", path, () => openSync(path, flags));
  try {
    attempt("protect", path, () => fchmodSync(fd, mode));
  } finally {
    closeSync(fd);
  }
}

function freeInodes(path: string): number | undefined {
  const { files, ffree } = attempt("freeInodes", path, () => statfsSync(path));
  return files === 0 ? undefined : ffree;
}

function fileSystem(path: string): FileSystem | undefined {
  return unless(NOTHING_THERE, undefined, () => {
    const table = attempt("fileSystem", path, () => readFileSync("/proc/self/mountinfo", "utf8"));
    return fileSystemIn(
      table,
      attempt("fileSystem", path, () => realpathSync(path)),
    );
  });
}

/** ESRCH: it ended while the file was open. */
const NOT_TOLD = [...NOTHING_THERE, "ESRCH", "EACCES", "EPERM"];

function memory(pid: number): number | undefined {
  const path = `/proc/${pid}/smaps_rollup`;
  const text = unless(NOT_TOLD, "", () => attempt("memory", path, () => readFileSync(path, "latin1")));
  const kib = /^Pss: +(\d+) kB$/m.exec(text)?.[1];
  return kib === undefined ? undefined : Number(kib) * 1024;
}
