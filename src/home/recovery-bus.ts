// Who is told, where somebody listens. The watchdog has no bus of its own: the daemon may have one, and may be what has just died.
// U1. Telling never fails the teller: files are what later lives rely on, the bus is for those who happen to be there.
import { type Fault, isFault } from "../base/fault.ts";

export interface RecoveryBus {
  publish(topic: string, data: unknown): void;
}

/** What went wrong and was lived with; for the log that people read. */
export type Complain = (fault: Fault) => void;

/** Without a bus nobody is told; a bus that is gone is a complaint (U1). */
export function tell(bus: RecoveryBus | undefined, complain: Complain, message: readonly [string, unknown]): void {
  try {
    bus?.publish(...message);
  } catch (error) {
    if (!isFault(error)) throw error;
    complain(error);
  }
}

/** Whether the disk did it; a Fault is a complaint and a no, everything else is a bug and goes on. */
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
