// A home that was there before Holdfast was: made its owner's alone, as those are that Holdfast makes itself.
// CH1. Only a directory of our own with nothing in it but what is Holdfast's: what others keep or find there is not locked away from them.
//      Where there is more, it is said what is open, and nothing is changed.
import type { Disk } from "../../world/disk.ts";
import type { Machine } from "../../world/machine.ts";
import { DIRECTORY, OURS } from "../doctor/rights.ts";

/** People may keep it there, with HOLDFAST_CONFIG. */
const CONFIG = "config.toml";

/** What was done, or is to be done, in words; undefined where all is as it should be, or is not ours to change. */
export function closeHome(machine: Machine, disk: Disk, home: string): string | undefined {
  const found = machine.look(home);
  const mode = (found?.mode ?? 0) & 0o777;
  if (found?.kind !== "directory" || found.uid !== machine.uid || mode === DIRECTORY) return undefined;
  const others = disk.list(home).filter((name) => !OURS.includes(name) && name !== CONFIG);
  const was = mode.toString(8);
  if (others.length > 0) {
    const [first = ""] = others;
    return `others may get into ${home} (${was}), and it has more in it than Holdfast's own (${first}): chmod 700 it, or take another home`;
  }
  machine.protect(home, DIRECTORY); // CH1
  return `made ${home} its owner's alone (700); it was ${was}`;
}
