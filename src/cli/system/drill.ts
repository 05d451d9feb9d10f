// `holdfast drill`: runs the drill as a separate program with our standard streams, and returns its exit code.
import { exitCodeOf } from "../../base/exit-code.ts";
import { ok } from "../../base/result.ts";
import { type DrillFlags, encodeDrillFlags } from "../../wire/drill.ts";
import { runInOurPlace } from "../../world/real/in-our-place.ts";
import type { Exit, HomeFlag } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";

async function drill({ console, self }: DaemonCommandWorld, flags: DrillFlags): Promise<Exit> {
  const told = console.told(); // A signal ends the drill, which cleans up after itself; only then do we exit.
  const argv = self.command("src/drill/main.ts", encodeDrillFlags(flags));
  const child = runInOurPlace({ argv, cwd: console.absolute("."), env: self.environment() });
  void told.then((signal) => child.signal(signal));
  const ending = await child.ended;
  return ok(ending.kind === "exited" ? ending.code : exitCodeOf({ code: null, signal: ending.signal }));
}

/** Commands may name a home; the drill creates its own. */
export const drillCommand = withDaemonWorld<DrillFlags & HomeFlag, []>(drill);
