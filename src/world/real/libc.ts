// Calls of the C library (glibc) that Bun does not offer. bun:ffi is loaded with the first of them: programs that need
// none do not carry it, and it needs the engine's JIT, though not its compilers (wire/holder/start.ts).
import type { FFIFunction } from "bun:ffi";

export function fromLibc<Names extends Record<string, FFIFunction>>(names: Names) {
  const { dlopen }: typeof import("bun:ffi") = require("bun:ffi");
  return dlopen("libc.so.6", names).symbols;
}
