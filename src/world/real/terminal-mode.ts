// Terminal functions of the C library that Bun lacks, or needs tens of milliseconds for: whether a descriptor is a
// terminal, its size, and raw mode. Bun's own raw mode leaves output processing on, and would turn a bare line feed,
// which programs send to go straight down, into a new line.
// TM1. The previous settings are restored bit by bit.
import { Fault } from "../../base/fault.ts";
import type { Size } from "../children.ts";
import { bareFfi, bareLibc } from "./libc.ts";

const NOW = 0;
/** `struct termios` has 60 bytes in glibc; other libraries may need more. */
const ROOM = 256;
/** Linux: the ioctl for the window size. It returns rows, columns, and two unused numbers. */
const WINDOW_SIZE = 0x5413;

/** Loaded with the first call: a command whose output is no terminal needs none of it. */
let library: ReturnType<typeof load> | undefined;

function calls() {
  library ??= load();
  return library;
}

function load() {
  return bareLibc({
    isatty: { args: ["i32"], returns: "i32" },
    ioctl: { args: ["i32", "u64", "ptr"], returns: "i32" },
    tcgetattr: { args: ["i32", "ptr"], returns: "i32" },
    tcsetattr: { args: ["i32", "i32", "ptr"], returns: "i32" },
    cfmakeraw: { args: ["ptr"], returns: "void" },
  });
}

export function isTerminal(fd: number): boolean {
  return calls().isatty(fd) === 1;
}

/** Returns undefined if the terminal does not report it. */
export function sizeOf(fd: number): Size | undefined {
  const size = new Uint16Array(4);
  if (calls().ioctl(fd, WINDOW_SIZE, bareFfi().ptr(size)) !== 0) return undefined;
  const [rows = 0, cols = 0] = size;
  return rows > 0 && cols > 0 ? { rows, cols } : undefined;
}

/** Returns a function that restores the old mode. */
export function makeRaw(fd: number): () => void {
  const { tcgetattr, tcsetattr, cfmakeraw } = calls();
  const { ptr } = bareFfi();
  const before = new Uint8Array(ROOM);
  if (tcgetattr(fd, ptr(before)) !== 0) throw new Fault({ code: "ENOTTY", operation: "make raw", path: `fd ${fd}` });
  const raw = new Uint8Array(before);
  cfmakeraw(ptr(raw));
  tcsetattr(fd, NOW, ptr(raw));
  return () => void tcsetattr(fd, NOW, ptr(before)); // TM1
}
