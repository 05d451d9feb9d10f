// Turns system errors into `Fault`s (D3). Any other error is a bug of ours and passes through unchanged.
import { Fault } from "../../base/fault.ts";

/** The system's error code; undefined if it is not a system error. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || !("syscall" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

export function asFault(error: unknown, operation: string, path: string): unknown {
  const code = systemCode(error);
  return code === undefined ? error : new Fault({ code, operation, path }, error);
}

export function attempt<T>(operation: string, path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw asFault(error, operation, path);
  }
}

/** Some failures are an expected answer: returns `otherwise` for one of these codes. */
export function unless<T>(codes: readonly string[], otherwise: T, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof Fault && codes.includes(error.code)) return otherwise;
    throw error;
  }
}
