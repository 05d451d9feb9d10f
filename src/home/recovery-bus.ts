// Notifications for listeners, if there are any. The watchdog has no bus of its own: what it publishes goes to the
// daemon's (watchdog/news.ts), which may be what has just died.
// U1. Publishing never fails for the caller: later processes rely on files, the bus is only for current listeners.
import { type Fault, isFault } from "../base/fault.ts";
import type { Json } from "../base/json.ts";

export interface RecoveryBus {
  publish(topic: string, data: Readonly<Record<string, Json>>): void;
}

/** Reports a failure that was tolerated, in the log that people read. */
export type Complain = (fault: Fault) => void;

/** Without a bus nothing happens; if the bus is gone, this is reported (U1). */
export function tell(
  bus: RecoveryBus | undefined,
  complain: Complain,
  message: Parameters<RecoveryBus["publish"]>,
): void {
  try {
    bus?.publish(...message);
  } catch (error) {
    if (!isFault(error)) throw error;
    complain(error);
  }
}

/** Returns whether the work succeeded; a Fault is reported, every other error is a bug and is thrown. */
export async function tolerating(complain: Complain, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!isFault(error)) throw error;
    complain(error);
    return false;
  }
}
