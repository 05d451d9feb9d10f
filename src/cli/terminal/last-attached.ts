// The terminal that was attached last: a link in `run/`, which a person's next `attach` without a name starts from. It
// is a convenience: if it cannot be written, nothing else suffers.
import { isFault } from "../../base/fault.ts";
import { baseName, joinPath, parentOf } from "../../base/path.ts";
import { LAST_ATTACHED } from "../../home/layout.ts";
import { makeDirectories } from "../../log/file/file.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";

type Doors = Pick<DaemonCommandWorld, "disk" | "links">;

export function rememberAttached({ disk, links }: Doors, home: string, id: string): void {
  const link = joinPath(home, LAST_ATTACHED);
  try {
    makeDirectories(disk, parentOf(link));
    links.point(link, `../../terminals/${id}`);
  } catch (error) {
    if (!isFault(error)) throw error;
  }
}

/** Its id; undefined if it is not known. */
export function lastAttached({ links }: Pick<Doors, "links">, home: string): string | undefined {
  const target = links.read(joinPath(home, LAST_ATTACHED));
  return target === undefined ? undefined : baseName(target);
}
