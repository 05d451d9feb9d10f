// `holdfast replay`: a terminal's past. It reads the tape, its times and its key frames, and asks nobody: it works
// while the daemon is down and after the program has ended.
import { ok, refused } from "../../base/result.ts";
import type { Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { findTerminal } from "./find.ts";
import { offsetOf, recordingOf } from "./recording.ts";

export type ReplayFlags = DataFlags & { readonly at?: string };

async function replay(world: DaemonCommandWorld, flags: ReplayFlags, key: string): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const found = await findTerminal(world, home.value, key);
  if (!found.ok) return found;
  const recording = recordingOf(world.disk, home.value, found.value);
  if (flags.at === undefined) return refused("usage", "Which moment?", "holdfast replay NAME --at 10m");
  const offset = offsetOf(world.clock, recording, flags.at);
  if (!offset.ok) return offset;
  const { showAt } = await import("./replay-at.ts");
  return ok(await showAt(world, recording, offset.value, flags.json === true));
}

export const replayCommand = withDaemonWorld(replay);
