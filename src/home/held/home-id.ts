// Which home a process belongs to. A home that was copied has the same terminals with the same ids: the id of a
// terminal alone does not tell whose program it is.
// HI1. The id of a home is that of its directory on this machine. A copy has another one; the same directory under
//      another path, moved or behind a link, keeps it. It is valid within one boot, like everything about processes.

import type { Disk } from "../../world/disk.ts";

/** The variable that holds it, in every program that a holder of this home runs. */
export const HOME_ID = "HOLDFAST_HOME_ID";

/** HI1. Undefined if there is no such directory. */
export function homeId(disk: Disk, home: string): string | undefined {
  return disk.stat(home)?.id;
}
