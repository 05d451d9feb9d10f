// The last checkpoint before a crash, kept under its own name: a failed restoration must not destroy the good state.
// CP1. It is a second link to the same file, which checkpoints replace but never modify: pinned in one step or not at
//      all.
// CP2. The newest few are kept.
import { joinPath } from "../../base/path.ts";
import { removeIfThere } from "../../log/file/file.ts";
import type { Disk } from "../../world/disk.ts";

const DIRECTORY = "recovery";
const CHECKPOINT = "checkpoint.json";
const PINNED = /^checkpoint\.before-.*\.json$/;
const MAX_PINNED = 5;

export async function pinCheckpoint(disk: Disk, home: string, at: string): Promise<void> {
  const directory = joinPath(home, DIRECTORY);
  const path = joinPath(directory, CHECKPOINT);
  if (disk.stat(path) === undefined) return;
  const pinned = joinPath(directory, `checkpoint.before-${at.replaceAll(/[:.]/g, "-")}.json`);
  if (disk.stat(pinned) === undefined) disk.link(path, pinned); // CP1
  const names = disk
    .list(directory)
    .filter((name) => PINNED.test(name))
    .sort();
  for (const old of names.slice(0, -MAX_PINNED)) removeIfThere(disk, joinPath(directory, old)); // CP2
  await disk.syncDirectory(directory);
}
