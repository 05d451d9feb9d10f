// Finds a program by its name.
import { isFault } from "../base/fault.ts";
import type { Disk } from "../world/disk.ts";

/** The path of a program, as a shell would find it; undefined if it is not on the PATH. */
export function findProgram(disk: Disk, path: string, name: string): string | undefined {
  const places = path.split(":").filter((directory) => directory.startsWith("/"));
  return places.map((directory) => `${directory}/${name}`).find((full) => isProgram(disk, full));
}

export function isProgram(disk: Disk, path: string): boolean {
  try {
    const found = disk.stat(path);
    return found?.kind === "file" && (found.mode & 0o111) !== 0;
  } catch (error) {
    if (isFault(error)) return false; // A directory that we may not read.
    throw error;
  }
}
