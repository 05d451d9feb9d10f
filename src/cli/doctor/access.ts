// Whether the home can be entered at all. If not, nothing in it can be checked, and this is the finding.

import { type Fault, isFault } from "../../base/fault.ts";
import { joinPath, levelsOf } from "../../base/path.ts";
import { RUN } from "../../home/layout.ts";
import type { Disk } from "../../world/disk.ts";
import type { Machine } from "../../world/machine.ts";
import { type Finding, problem } from "./check.ts";

/** Returns undefined if it can be read and searched, or is not there. */
export function closedHome(disk: Disk, machine: Machine, home: string): Finding | undefined {
  try {
    if (disk.stat(home)?.kind !== "directory") return undefined;
    disk.list(home);
    disk.stat(joinPath(home, RUN));
    return undefined;
  } catch (error) {
    if (!isFault(error)) throw error;
    return findingOf(machine, home, error);
  }
}

function findingOf(machine: Machine, home: string, fault: Fault): Finding {
  const what = `${home} cannot be accessed`;
  const { code, message, hint } = fault;
  if (code !== "EACCES" && code !== "EPERM") return problem("home", { what, why: message, next: hint });
  const { path, uid, mode } = doorOf(machine, home);
  const bits = (mode & 0o777).toString(8).padStart(3, "0");
  const isOurs = uid === machine.uid;
  const why = `${path} belongs to ${isOurs ? "you" : `user ${uid}`} and has mode ${bits}; you are ${machine.user}`;
  return problem("home", { what, why, next: nextOf(path === home, isOurs, home) });
}

function nextOf(isHome: boolean, isOurs: boolean, home: string): string {
  if (!isHome) return "Ask its owner for access, or choose another home with --home DIR or HOLDFAST_HOME.";
  return isOurs ? `chmod 700 ${home}` : `sudo chown -R "$(id -un)" ${home}; or choose another with --home DIR`;
}

/** The deepest directory on the way that can be seen: it lets nobody further. */
function doorOf(machine: Machine, home: string): { path: string; uid: number; mode: number } {
  let door = { path: "/", uid: 0, mode: 0o755 };
  for (const path of levelsOf(home)) {
    try {
      const looked = machine.look(path);
      if (looked === undefined) return door;
      door = { path, uid: looked.uid, mode: looked.mode };
    } catch (error) {
      if (isFault(error)) return door;
      throw error;
    }
  }
  return door;
}
