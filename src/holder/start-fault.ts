// What a fault at the start of a child means.
// SF1. Only what is wrong with the program itself is its end, with the exit code that a shell returns: it does not
//      exist, or it cannot be executed.
// SF2. Any other fault (no process, no memory, no descriptor, a disk that fails) says nothing about the program, and
//      may pass: it is tried again, soon at first.
import { type BackoffPolicy, backoffMs } from "../base/backoff.ts";
import type { Fault } from "../base/fault.ts";

const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

const CODES: ReadonlyMap<string, number> = new Map([
  ...(["ENOENT", "ENOTDIR"] as const).map((code) => [code, NOT_FOUND] as const),
  ...(["EACCES", "EPERM", "ENOEXEC", "EISDIR", "ELOOP", "ENAMETOOLONG", "E2BIG", "EINVAL", "ELIBBAD"] as const).map(
    (code) => [code, NOT_EXECUTABLE] as const,
  ),
]);

/** Why a program cannot be started, as a shell says it. */
export const WHY_NOT: Readonly<Record<string, string>> = {
  ENOENT: "it was not found",
  EACCES: "it may not be executed",
  ENOEXEC: "it is not a program",
};

/** Short, because a try costs little, and the limit may have been lifted. */
const PAUSES: BackoffPolicy = { firstMs: 100, mostMs: 3_000, jitter: 0 };

/** SF1. Undefined if it may pass (SF2). */
export function exitCodeOf({ code }: Fault): number | undefined {
  return CODES.get(code);
}

/** SF2 */
export function pauseAfter(failures: number): number {
  return backoffMs(failures, 0, PAUSES);
}
