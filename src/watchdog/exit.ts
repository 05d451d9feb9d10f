// How a watched process ended, and whether that was a crash (WD-3, WD-5).
// X1. Exit 0 is always graceful. SIGTERM is graceful only if the end was asked for.
// X2. Who leaves because another one runs already has not crashed: it lost a race that only one can win.
// X3. A program of ours that is gone without having announced an exit was ended by a signal; which one, nobody saw.
import { CrashReason } from "../home/last-crash.ts";
import { ANOTHER_RUNS } from "../wire/heartbeat.ts";
import type { Ending } from "../world/children.ts";

export type ExitVerdict =
  | { readonly kind: "graceful" }
  /** X2 */
  | { readonly kind: "another runs" }
  | { readonly kind: "crash"; readonly reason: CrashReason };

/**
 * `vanished`: it was not our child, so the system reported its ending to another process. `killed`: a program of ours
 * that vanished, and had not announced its exit as it does whenever it exits by itself (X3).
 */
export type SeenEnding = Ending | { readonly kind: "vanished" } | { readonly kind: "killed" };

export function classifyExit(ending: SeenEnding, asked: boolean): ExitVerdict {
  if (ending.kind === "vanished" || ending.kind === "killed") {
    const reason = ending.kind === "killed" ? CrashReason.SIGNAL : CrashReason.HEARTBEAT_TIMEOUT; // X3
    return asked ? { kind: "graceful" } : { kind: "crash", reason };
  }
  if (ending.kind === "signalled") {
    const graceful = ending.signal === "SIGTERM" && asked; // X1
    return graceful ? { kind: "graceful" } : { kind: "crash", reason: CrashReason.SIGNAL };
  }
  if (ending.code === 0) return { kind: "graceful" }; // X1
  if (ending.code === ANOTHER_RUNS) return { kind: "another runs" }; // X2
  return { kind: "crash", reason: CrashReason.EXIT_CODE };
}
