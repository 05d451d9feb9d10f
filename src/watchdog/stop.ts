// Asks a process to end, and kills it if it does not.
// E1. SIGTERM first; SIGKILL only after `stopMs`, and never while it waits for the disk.
import type { Clock } from "../world/clock.ts";
import type { Processes, ProcessIdentity } from "../world/process.ts";

/** How often a process that waits for the disk is checked again, once its time is over. */
const LOOK_AGAIN_MS = 250;

/** Returns a function that cancels it, for when the process has ended. */
export function stopLife(
  { clock, processes }: { clock: Clock; processes: Processes },
  who: ProcessIdentity,
  stopMs: number,
): () => void {
  processes.kill(who, "SIGTERM");
  let cancel = (): void => undefined;
  const force = (): void => {
    if (!processes.waitsForDisk(who.pid)) processes.kill(who, "SIGKILL"); // E1
    cancel = clock.after(LOOK_AGAIN_MS, force);
  };
  cancel = clock.after(stopMs, force);
  return () => cancel();
}
