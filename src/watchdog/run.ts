// The watchdog as a program: one on each home. It keeps the given programs
// alive, until the operator wants them down or it is asked to leave.
// G1. One watchdog at a time, by its lock; a second one exits at once, which is not a failure.
// G2. If asked to leave (SIGTERM) while `up` is wanted, it leaves the processes alone: a service manager or the daemon
//     starts the next watchdog, which adopts them. With `down` everything is stopped in reverse order, and nothing is
//     restarted.
// G3. No failure of the disk ends it once it runs.
// G4. If all of run/ was removed, another watchdog may take our lock's name and our socket before we notice. Then we
//     leave: two would count every crash twice.

import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { RUN, WATCHDOG_LOCK } from "../home/layout.ts";
import { makeDirectories } from "../log/file/file.ts";
import { type Held, takeLock } from "../log/file/lock.ts";
import { identify } from "../world/process.ts";
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
  const lock = lockHome(world, home);
  if (lock === undefined) return "another"; // G1
  const keeper = new WatchdogService(world, home, specs, options);
  try {
    const trouble = await keeper.open();
    if (isFault(trouble, "EADDRINUSE")) return "another"; // Its lock file was removed, but it answers.
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

function lockHome(world: WatchdogWorld, home: string): Held | undefined {
  makeDirectories(world.disk, joinPath(home, RUN));
  const { pid } = world.processes;
  const owner = identify(world.processes, pid) ?? { pid, startTime: 0, bootId: "" };
  const lock = takeLock(world, joinPath(home, WATCHDOG_LOCK), owner);
  return lock.ok ? lock.value : undefined;
}
