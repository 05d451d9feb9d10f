// The calls of the C library behind light-fs.ts. Each returns a negative number if it was refused, or if the path
// cannot be one for the C library.
// LC1. An address keeps nothing from being collected: what we give to a call stays, or the caller still uses it.
import { bareFfi, bareLibc } from "./libc.ts";

const CLOSE_ON_EXEC = 0o2000000;
const [HERE, EMPTY_PATH, ALL_STATS] = [-100, 0x1000, 0x7ff];
const REFUSED = -1;
/** The system accepts no longer path. */
const NAME = new Uint8Array(4096); // LC1
/** `struct statx`. */
const STATS = new Uint8Array(256); // LC1

export const NO_FOLLOW = 0x100;
export const NOTHING_THERE = 2;

/** Whether the C library was asked at all: if not, its last error is of another call. */
let wasAsked = false;
let library: ReturnType<typeof load> | undefined;
let isMissing = false;

/** Undefined if the C library lacks one of the calls: glibc has all of them since 2.30. Then nothing is asked. */
function c() {
  if (library !== undefined || isMissing) return library;
  try {
    library = load();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    isMissing = true;
  }
  return library;
}

function load() {
  return bareLibc({
    open: { args: ["ptr", "i32", "i32"], returns: "i32" },
    close: { args: ["i32"], returns: "i32" },
    statx: { args: ["i32", "ptr", "i32", "u32", "ptr"], returns: "i32" },
    pread: { args: ["i32", "ptr", "u64", "i64"], returns: "i64" },
    read: { args: ["i32", "ptr", "u64"], returns: "i64" },
    write: { args: ["i32", "ptr", "u64"], returns: "i64" },
    readlink: { args: ["ptr", "ptr", "u64"], returns: "i64" },
    getdents64: { args: ["i32", "ptr", "u64"], returns: "i64" },
    __errno_location: { args: [], returns: "ptr" },
  });
}

function at(bytes: Uint8Array) {
  return bareFfi().ptr(bytes);
}

/** Puts it where the next call finds it; false if it cannot be a path. */
function isNamed(path: string): boolean {
  const { read, written } = new TextEncoder().encodeInto(path, NAME);
  wasAsked = c() !== undefined && path !== "" && !path.includes("\0") && read === path.length && written < NAME.length;
  NAME[written] = 0;
  return wasAsked;
}

export function openFile(path: string, flags: number): number {
  return (isNamed(path) ? c()?.open(at(NAME), flags | CLOSE_ON_EXEC, 0) : undefined) ?? REFUSED;
}

export function closeFile(fd: number): number {
  return c()?.close(fd) ?? REFUSED;
}

/** `struct statx`, until the next call of these two; undefined if it was refused. */
export function statOf(path: string, flags: number): Uint8Array<ArrayBuffer> | undefined {
  return isNamed(path) && c()?.statx(HERE, at(NAME), flags, ALL_STATS, at(STATS)) === 0 ? STATS : undefined;
}

export function statOfOpen(fd: number): Uint8Array<ArrayBuffer> | undefined {
  NAME[0] = 0;
  return c()?.statx(fd, at(NAME), EMPTY_PATH, ALL_STATS, at(STATS)) === 0 ? STATS : undefined;
}

export function readAt(fd: number, into: Uint8Array, offset: number): number {
  return into.length === 0 ? REFUSED : Number(c()?.pread(fd, at(into), into.length, offset) ?? REFUSED);
}

export function readNext(fd: number, into: Uint8Array): number {
  return Number(c()?.read(fd, at(into), into.length) ?? REFUSED);
}

export function writeNext(fd: number, bytes: Uint8Array): number {
  return bytes.length === 0 ? REFUSED : Number(c()?.write(fd, at(bytes), bytes.length) ?? REFUSED);
}

export function readLink(path: string, into: Uint8Array): number {
  return Number((isNamed(path) ? c()?.readlink(at(NAME), at(into), into.length) : undefined) ?? REFUSED);
}

export function readDirectory(fd: number, into: Uint8Array): number {
  return Number(c()?.getdents64(fd, at(into), into.length) ?? REFUSED);
}

/** Why the call before was refused; 0 if the C library did not refuse it. */
export function lastError(): number {
  const place = wasAsked ? c()?.__errno_location() : undefined;
  return place === undefined || place === null ? 0 : bareFfi().read.i32(place, 0);
}
