// `holdfast drill` and `holdfast fleet demo`: runs them as a separate program with our standard streams, and returns
// its exit code.
import { exitCodeOf } from "../../base/exit-code.ts";
import { ok } from "../../base/result.ts";
import { type DrillFlags, encodeDrillFlags, encodeFleetDemoFlags, type FleetDemoFlags } from "../../wire/drill.ts";
import { runInOurPlace } from "../../world/real/in-our-place.ts";
import type { Exit, HomeFlag } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";

function drill(world: DaemonCommandWorld, flags: DrillFlags): Promise<Exit> {
  return runIt(world, encodeDrillFlags(flags));
}

function fleetDemo(world: DaemonCommandWorld, flags: FleetDemoFlags): Promise<Exit> {
  return runIt(world, encodeFleetDemoFlags(flags));
}

async function runIt({ console, self }: DaemonCommandWorld, flags: string): Promise<Exit> {
  const told = console.told(); // A signal ends it, and it cleans up after itself; only then do we exit.
  const argv = self.command("src/drill/main.ts", flags);
  const child = runInOurPlace({ argv, cwd: console.absolute("."), env: self.environment() });
  void told.then((signal) => child.signal(signal));
  const ending = await child.ended;
  return ok(ending.kind === "exited" ? ending.code : exitCodeOf({ code: null, signal: ending.signal }));
}

/** Commands may name a home; these create their own. */
export const drillCommand = withDaemonWorld<DrillFlags & HomeFlag, []>(drill);
export const fleetDemoCommand = withDaemonWorld<FleetDemoFlags & HomeFlag, []>(fleetDemo);
