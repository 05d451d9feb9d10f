// Calls of the C library (glibc) that Bun does not offer. bun:ffi is loaded with the first of them: programs that need
// none do not carry it, and it needs the engine's JIT, though not its compilers (wire/holder/start.ts).
import type { FFIFunction } from "bun:ffi";

export function fromLibc<Names extends Record<string, FFIFunction>>(names: Names) {
  const { dlopen }: typeof import("bun:ffi") = require("bun:ffi");
  return dlopen("libc.so.6", names).symbols;
}

/** Reads the error number of the last call that failed. */
export function errnoReader(): () => number {
  const { read }: typeof import("bun:ffi") = require("bun:ffi");
  const { __errno_location: locate } = fromLibc({ __errno_location: { args: [], returns: "ptr" } });
  return () => {
    const at = locate();
    return at === null ? 0 : read.i32(at, 0);
  };
}
