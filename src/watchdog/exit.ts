// How a watched process ended, and whether that was a crash (WD-3, WD-5).
// X1. Exit 0 is always graceful. SIGTERM is graceful only if it was asked for.
// X2. A program that exits because another one already runs has not crashed: it lost a race that only one can win.
import { ANOTHER_RUNS } from "../wire/heartbeat.ts";
import type { Ending } from "../world/children.ts";

export const CrashReason = Object.freeze({
  /**
   * It is gone without a known ending: its heartbeat stopped, or
   * the connection of a process that is not our child closed.
   */
  HEARTBEAT_TIMEOUT: "HEARTBEAT_TIMEOUT",
  /** It is there, but silent. */
  UNRESPONSIVE: "UNRESPONSIVE",
  EXIT_CODE: "EXIT_CODE",
  SIGNAL: "SIGNAL",
} as const);

export type CrashReason = (typeof CrashReason)[keyof typeof CrashReason];

export type ExitVerdict =
  | { readonly kind: "graceful" }
  /** X2 */
  | { readonly kind: "another runs" }
  | { readonly kind: "crash"; readonly reason: CrashReason };

/** `vanished`: it was not our child, so the system reported its ending to another process. */
export type SeenEnding = Ending | { readonly kind: "vanished" };

export function classifyExit(ending: SeenEnding, asked: boolean): ExitVerdict {
  if (ending.kind === "vanished") {
    return asked ? { kind: "graceful" } : { kind: "crash", reason: CrashReason.HEARTBEAT_TIMEOUT };
  }
  if (ending.kind === "signalled") {
    const graceful = ending.signal === "SIGTERM" && asked; // X1
    return graceful ? { kind: "graceful" } : { kind: "crash", reason: CrashReason.SIGNAL };
  }
  if (ending.code === 0) return { kind: "graceful" }; // X1
  if (ending.code === ANOTHER_RUNS) return { kind: "another runs" }; // X2
  return { kind: "crash", reason: CrashReason.EXIT_CODE };
}
