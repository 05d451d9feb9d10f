// A small text file below the home: replaced as a whole, with its directories made and synced.
import { joinPath } from "../base/path.ts";
import { writeAtomic } from "../log/file/atomic-file.ts";
import { makeDirectories, readWhole } from "../log/file/file.ts";
import type { Disk } from "../world/disk.ts";

export async function writeSmall(disk: Disk, home: string, path: string, text: string): Promise<void> {
  const directory = path.slice(0, path.lastIndexOf("/"));
  for (const parent of makeDirectories(disk, joinPath(home, directory), home)) await disk.syncDirectory(parent);
  await writeAtomic(disk, joinPath(home, path), Buffer.from(`${text}\n`));
}

/** Without blanks at either end; empty if there is no such file. */
export function readSmall(disk: Disk, home: string, path: string): string {
  return new TextDecoder().decode(readWhole(disk, joinPath(home, path)) ?? new Uint8Array(0)).trim();
}
