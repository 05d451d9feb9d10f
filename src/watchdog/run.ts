// The watchdog as a program: one on each home. It keeps the given programs
// alive, until the operator wants them down or it is asked to leave.
// G1. One watchdog at a time, by its lock; a second one exits at once, which is not a failure.
// G2. If asked to leave (SIGTERM) while `up` is wanted, it leaves the processes alone: a service manager or the daemon
//     starts the next watchdog, which adopts them. With `down` everything is stopped in reverse order, and nothing is
//     restarted.
// G3. No failure of the disk ends it once it runs.
// G4. If all of run/ was removed, we take our lock and our socket again (lock-keeper.ts). Another watchdog may have
//     them before we notice; then we leave: two would count every crash twice.

import { isFault } from "../base/fault.ts";
import { LockKeeper } from "./lock-keeper.ts";
import type { WatchdogOptions, WatchdogWorld } from "./owner.ts";
import { WatchdogService } from "./service.ts";
import type { WatchSpec } from "./specs.ts";

/** Resolves when it has left: `another` if one was already running. */
export async function runWatchdog(
  world: WatchdogWorld,
  home: string,
  specs: readonly WatchSpec[],
  options: WatchdogOptions,
): Promise<"ended" | "another"> {
  const lock = new LockKeeper(world, home);
  if (!lock.take()) return "another"; // G1
  const keeper = new WatchdogService(world, home, specs, options);
  try {
    const trouble = await keeper.open();
    if (isFault(trouble, "EADDRINUSE")) return "another"; // Its lock file was removed, but it answers.
    lock.keep(keeper); // G4
    keeper.begin();
    const why = await Promise.race([options.told.then(() => "leave"), keeper.told]);
    if (why === "displaced")
      await keeper.stopUnlocked(); // G4
    else if (why === "down" || !keeper.wantsUp()) await keeper.stop(); // G2
    return why === "displaced" ? "another" : "ended";
  } finally {
    keeper.close();
    lock.release();
  }
}
