// Stands for `node:fs` in the bundles of frequent commands (scripts/build.ts): loading that takes as long as a third of
// an empty script. What such a command always does is asked of the C library.
// LF1. A call that the C library refuses has changed nothing. Except for what is often refused, node:fs repeats it: it
//      succeeds, or throws its own error.
// LF2. Everything else is node:fs, which is loaded when it is first called.
import type * as NodeFs from "node:fs";
import {
  closeFile,
  lastError,
  NO_FOLLOW,
  NOTHING_THERE,
  openFile,
  readAt,
  readDirectory,
  readLink,
  readNext,
  statOf,
  statOfOpen,
  writeNext,
} from "./light-calls.ts";
import { LightStats } from "./light-stats.ts";

type Fs = typeof NodeFs;
type Quiet = { readonly throwIfNoEntry: false };
type StatSync = (path: string, how?: Quiet) => LightStats | NodeFs.Stats | undefined;

const O_CREAT = 0o100;
/** Linux has these on every architecture, unlike others. */
const COMMON: Readonly<Record<string, number>> = { O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT, O_EXCL: 0o200 };
const BLOCK = 1 << 14;
/** What looking at other processes, and at files that are seldom there, often meets. */
const OFTEN: ReadonlyMap<number, string> = new Map([
  [NOTHING_THERE, "ENOENT"],
  [3, "ESRCH"],
  [13, "EACCES"],
  [22, "EINVAL"],
]);

const node = (): Fs => require("node:fs");

export function openSync(path: string, flags: number | string, mode?: number): number {
  if (typeof flags === "string" || (flags & O_CREAT) !== 0) return node().openSync(path, flags, mode);
  const fd = openFile(path, flags);
  return fd >= 0 ? fd : (orThrow("open", path) ?? node().openSync(path, flags, mode)); // LF1
}

export function closeSync(fd: number): void {
  if (closeFile(fd) !== 0) node().closeSync(fd); // It says so too: the descriptor is not open any more.
}

export function readSync(fd: number, into: Uint8Array, offset: number, length: number, position: number): number {
  const count = readAt(fd, into.subarray(offset, offset + length), position);
  return count >= 0 ? count : node().readSync(fd, into, offset, length, position); // LF1
}

/** With a position it is for a file that was created, which needs node:fs anyway. */
export function writeSync(fd: number, bytes: Uint8Array, offset = 0, length?: number, position?: number): number {
  const count = position === undefined && length === undefined ? writeNext(fd, bytes.subarray(offset)) : -1;
  return count >= 0 ? count : node().writeSync(fd, bytes, offset, length, position); // LF1
}

export function fstatSync(fd: number): LightStats | NodeFs.Stats {
  const found = statOfOpen(fd);
  return found === undefined ? node().fstatSync(fd) : new LightStats(found); // LF1
}

export const statSync: StatSync = (path, how) => looked(path, how, "statSync");
export const lstatSync: StatSync = (path, how) => looked(path, how, "lstatSync");

function looked(path: string, how: Quiet | undefined, call: "statSync" | "lstatSync") {
  const found = statOf(path, call === "lstatSync" ? NO_FOLLOW : 0);
  if (found !== undefined) return new LightStats(found);
  if (how === undefined) return node()[call](path); // LF1
  return lastError() === NOTHING_THERE ? undefined : node()[call](path, how);
}

export function readFileSync(path: string, encoding?: BufferEncoding): string | Buffer {
  const parts = partsOf(path, readNext);
  if (parts === undefined) return orThrow("open", path) ?? node().readFileSync(path, { encoding }); // LF1
  const all = Buffer.concat(parts);
  return encoding === undefined ? all : all.toString(encoding);
}

export function readdirSync(path: string): string[] {
  const parts = partsOf(path, readDirectory);
  return parts?.flatMap(namesIn) ?? orThrow("scandir", path) ?? node().readdirSync(path); // LF1
}

/** Throws the error of the call before as node:fs would, if it is one that occurs often. */
function orThrow(syscall: string, path: string): undefined {
  const errno = lastError();
  const code = OFTEN.get(errno);
  if (code !== undefined)
    throw Object.assign(new Error(`${code}: ${syscall} '${path}'`), { code, errno: -errno, syscall, path });
}

/** Undefined if a call was refused. */
function partsOf(path: string, read: (fd: number, into: Uint8Array) => number): Buffer[] | undefined {
  const fd = openFile(path, 0);
  if (fd < 0) return undefined;
  const parts: Buffer[] = [];
  for (;;) {
    const part = Buffer.allocUnsafe(BLOCK);
    const count = read(fd, part);
    if (count <= 0) closeFile(fd); // It was only read, and what was refused before is still the last error.
    if (count < 0) return undefined;
    if (count === 0) return parts;
    parts.push(part.subarray(0, count));
  }
}

/** `struct linux_dirent64`: its length is at 16, the name, which a NUL ends, at 19. */
function namesIn(part: Buffer): string[] {
  const names: string[] = [];
  for (let at = 0; at < part.length; at += part.readUInt16LE(at + 16)) {
    names.push(part.toString("utf8", at + 19, part.indexOf(0, at + 19)));
  }
  return names.filter((name) => name !== "." && name !== "..");
}

export function readlinkSync(path: string): string {
  const into = Buffer.allocUnsafe(BLOCK);
  const count = readLink(path, into);
  if (count < 0) return orThrow("readlink", path) ?? node().readlinkSync(path); // LF1
  return into.toString("utf8", 0, count);
}

export const constants: Readonly<Record<string, number>> = new Proxy(COMMON, {
  get: (known, name) => Reflect.get(known, name) ?? Reflect.get(node().constants, name),
});

/** LF2 */
function later<Name extends keyof Fs>(name: Name): Fs[Name] {
  const call = (...words: unknown[]) => Reflect.apply(node()[name] as () => unknown, undefined, words);
  return call as Fs[Name];
}

export const accessSync = later("accessSync");
export const fchmodSync = later("fchmodSync");
export const fdatasync = later("fdatasync");
export const fdatasyncSync = later("fdatasyncSync");
export const fsync = later("fsync");
export const ftruncateSync = later("ftruncateSync");
export const linkSync = later("linkSync");
export const lutimesSync = later("lutimesSync");
export const mkdirSync = later("mkdirSync");
export const realpathSync = later("realpathSync");
export const renameSync = later("renameSync");
export const rmdirSync = later("rmdirSync");
export const statfsSync = later("statfsSync");
export const symlinkSync = later("symlinkSync");
export const unlinkSync = later("unlinkSync");
export const watch = later("watch");
