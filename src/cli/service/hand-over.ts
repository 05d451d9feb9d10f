// A watchdog that runs already makes room for the service's own, unnoticed by everything else: that one adopts what it
// watched.
import { ok, type Result, refused } from "../../base/result.ts";
import { runningOn } from "../../home/running.ts";
import { Pauses } from "../../world/wait.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";

/** A watchdog that is asked to leave does so at once; systemd starts one in some hundred milliseconds. */
export const HAND_OVER = { firstMs: 5, mostMs: 100, allMs: 15_000 };

/** `served`: the process of the service, which may stay. Returns the one that left, if there was one. */
export async function makeRoom(
  world: DaemonCommandWorld,
  home: string,
  served: number | null,
): Promise<Result<number | undefined>> {
  const { watchdog } = runningOn(world, home);
  if (watchdog === undefined || watchdog.pid === served) return ok(undefined);
  world.processes.kill(watchdog, "SIGTERM");
  const pauses = new Pauses(world.clock, HAND_OVER);
  while (world.processes.alive(watchdog)) {
    if (!(await pauses.next()))
      return refused("still-running", `The watchdog (${watchdog.pid}) does not leave.`, "See `holdfast logs`.");
  }
  return ok(watchdog.pid);
}
