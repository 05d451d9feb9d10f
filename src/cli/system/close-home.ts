// Restricts a home that existed before Holdfast to its owner, like the homes that Holdfast creates.
// CH1. Only if the directory is ours and contains nothing but Holdfast's files: other users may need the rest.
//      Otherwise the open permissions are reported, and nothing is changed.
import type { Disk } from "../../world/disk.ts";
import type { Machine } from "../../world/machine.ts";
import { DIRECTORY, OURS } from "../doctor/rights.ts";

/** Users may keep it there, with HOLDFAST_CONFIG. */
const CONFIG = "config.toml";

/** What was done, or should be done; undefined if the permissions are right, or not ours to change. */
export function closeHome(machine: Machine, disk: Disk, home: string): string | undefined {
  const found = machine.look(home);
  const mode = (found?.mode ?? 0) & 0o777;
  if (found?.kind !== "directory" || found.uid !== machine.uid || mode === DIRECTORY) return undefined;
  const others = disk.list(home).filter((name) => !OURS.includes(name) && name !== CONFIG);
  const was = mode.toString(8);
  if (others.length > 0) {
    const [first = ""] = others;
    return [
      `other users can access ${home} (${was}), and it contains more than Holdfast's own files (${first}):`,
      "chmod 700 it, or use another home",
    ].join(" ");
  }
  machine.protect(home, DIRECTORY); // CH1
  return `restricted ${home} to its owner (700); it was ${was}`;
}
