// The machine's disk: plain system calls with their failures turned into `Fault`s (D3), and nothing clever in between.
// RD1. Files are created 0600 and directories 0700, and no child inherits a descriptor (Bun opens with O_CLOEXEC).
// RD2. No call is repeated here: neither an interrupted one, nor above all a failed sync (D2).
import {
  closeSync,
  constants,
  fsync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  type Stats,
  statfsSync,
  statSync,
  unlinkSync,
} from "node:fs";
import type { Disk, OpenFile, OpenHow, Stat } from "../disk.ts";
import { asFault, attempt, systemCode, unless } from "./attempt.ts";
import { RealFile } from "./file.ts";

const FLAGS: Readonly<Record<OpenHow, number>> = {
  read: constants.O_RDONLY,
  write: constants.O_RDWR,
  create: constants.O_RDWR | constants.O_CREAT,
  exclusive: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
};
const NOTHING_THERE = ["ENOENT", "ENOTDIR"];
/** A missing file is an ordinary answer; an error with its stack costs ten times the call. */
const QUIET = { throwIfNoEntry: false } as const;

export function realDisk(): Disk {
  return {
    open,
    stat: (path) => statWith("stat", path, statSync),
    lstat: (path) => statWith("lstat", path, lstatSync),
    realPath: (path) => unless(NOTHING_THERE, undefined, () => attempt("realPath", path, () => realpathSync(path))),
    list,
    makeDirectory,
    rename: (from, to) => attempt("rename", from, () => renameSync(from, to)),
    link: (from, to) => attempt("link", to, () => linkSync(from, to)),
    unlink: (path) => attempt("unlink", path, () => unlinkSync(path)),
    removeDirectory: (path) => attempt("removeDirectory", path, () => rmdirSync(path)),
    syncDirectory,
    free,
  };
}

function open(path: string, how: OpenHow): OpenFile {
  const fd = attempt("open", path, () => openSync(path, FLAGS[how], 0o600)); // RD1
  return new RealFile(path, fd);
}

type Look = (path: string, how: typeof QUIET) => Stats | undefined;

function statWith(operation: "stat" | "lstat", path: string, look: Look): Stat | undefined {
  const found = unless(NOTHING_THERE, undefined, () => attempt(operation, path, () => look(path, QUIET)));
  if (found === undefined) return undefined;
  const { size, mode, mtimeMs, dev, ino } = found;
  return { kind: kindOf(found), size, mode: mode & 0o777, modifiedMs: mtimeMs, id: `${dev}:${ino}` };
}

function kindOf(found: Stats): Stat["kind"] {
  if (found.isFile()) return "file";
  return found.isDirectory() ? "directory" : "other";
}

function list(path: string): string[] {
  return unless(NOTHING_THERE, [], () => attempt("list", path, () => readdirSync(path)));
}

function makeDirectory(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 }); // RD1
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST" && statWith("stat", path, statSync)?.kind === "directory") return false;
    throw asFault(error, "makeDirectory", path);
  }
}

async function syncDirectory(path: string): Promise<void> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY;
  const fd = attempt("syncDirectory", path, () => openSync(path, flags));
  const error = await new Promise<Error | null>((done) => fsync(fd, done));
  attempt("syncDirectory", path, () => closeSync(fd));
  if (error) throw asFault(error, "syncDirectory", path); // RD2
}

function free(path: string): number {
  const { bavail, bsize } = attempt("free", path, () => statfsSync(path));
  return bavail * bsize;
}
