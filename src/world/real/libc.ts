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

type Ffi = Pick<typeof import("bun:ffi"), "dlopen" | "ptr" | "read">;

/**
 * What bun:ffi itself is made of, without its wrappers: a pointer must be one, not an array. Loading bun:ffi takes a
 * fifth of an empty script. Not documented; if a later Bun has none, bun:ffi has the same.
 */
export function bareFfi(): Ffi {
  const { FFI }: { readonly FFI?: Ffi } = Bun as object;
  return FFI ?? require("bun:ffi");
}

export function bareLibc<Names extends Record<string, FFIFunction>>(names: Names) {
  return bareFfi().dlopen("libc.so.6", names).symbols;
}
