// Raw mode of the terminal on standard input, by the C library: Bun's own leaves the output processed, and a bare line feed, which
// programs in raw mode send to go straight down, would come out as a new line.
// TM1. What was set before is put back bit by bit, whatever it was.
import { dlopen, ptr } from "bun:ffi";
import { Fault } from "../base/fault.ts";

const IN = 0;
const NOW = 0;
/** `struct termios` has 60 bytes with glibc; room for another library's. */
const ROOM = 256;

let library: ReturnType<typeof load> | undefined;

/** Returns how to put it back. */
export function makeRaw(): () => void {
  library ??= load();
  const { tcgetattr, tcsetattr, cfmakeraw } = library;
  const before = new Uint8Array(ROOM);
  if (tcgetattr(IN, ptr(before)) !== 0) throw new Fault({ code: "ENOTTY", operation: "make raw", path: "stdin" });
  const raw = new Uint8Array(before);
  cfmakeraw(ptr(raw));
  tcsetattr(IN, NOW, ptr(raw));
  return () => void tcsetattr(IN, NOW, ptr(before)); // TM1
}

function load() {
  return dlopen("libc.so.6", {
    tcgetattr: { args: ["i32", "ptr"], returns: "i32" },
    tcsetattr: { args: ["i32", "i32", "ptr"], returns: "i32" },
    cfmakeraw: { args: ["ptr"], returns: "void" },
  }).symbols;
}
