// What the C library knows of a terminal and Bun does not say, or only after tens of milliseconds: whether a descriptor is one, how large
// it is, and raw mode. Bun's own raw mode leaves the output processed, and a bare line feed, which programs send to go straight down,
// would come out as a new line.
// TM1. What was set before is put back bit by bit, whatever it was.
import { dlopen, ptr } from "bun:ffi";
import { Fault } from "../../base/fault.ts";
import type { Size } from "../children.ts";

const NOW = 0;
/** `struct termios` has 60 bytes with glibc; room for another library's. */
const ROOM = 256;
/** Linux: how large is the window? Rows first, then columns, then two that nobody fills. */
const WINDOW_SIZE = 0x5413;

let library: ReturnType<typeof load> | undefined;

function calls() {
  library ??= load();
  return library;
}

function load() {
  return dlopen("libc.so.6", {
    isatty: { args: ["i32"], returns: "i32" },
    ioctl: { args: ["i32", "u64", "ptr"], returns: "i32" },
    tcgetattr: { args: ["i32", "ptr"], returns: "i32" },
    tcsetattr: { args: ["i32", "i32", "ptr"], returns: "i32" },
    cfmakeraw: { args: ["ptr"], returns: "void" },
  }).symbols;
}

export function isTerminal(fd: number): boolean {
  return calls().isatty(fd) === 1;
}

/** Undefined where it does not say. */
export function sizeOf(fd: number): Size | undefined {
  const size = new Uint16Array(4);
  if (calls().ioctl(fd, WINDOW_SIZE, ptr(size)) !== 0) return undefined;
  const [rows = 0, cols = 0] = size;
  return rows > 0 && cols > 0 ? { rows, cols } : undefined;
}

/** Returns how to put it back. */
export function makeRaw(fd: number): () => void {
  const { tcgetattr, tcsetattr, cfmakeraw } = calls();
  const before = new Uint8Array(ROOM);
  if (tcgetattr(fd, ptr(before)) !== 0) throw new Fault({ code: "ENOTTY", operation: "make raw", path: `fd ${fd}` });
  const raw = new Uint8Array(before);
  cfmakeraw(ptr(raw));
  tcsetattr(fd, NOW, ptr(raw));
  return () => void tcsetattr(fd, NOW, ptr(before)); // TM1
}
