// The checkpoints before the current one: a single backup, or a bounded history.
// K1. The current one stays in place while it is kept: it gets a second name (a hard link, so no bytes are written). If
//     the file system has no links, it is copied.
// K2. Names in a history rise with every save, even if the clock is set back, so that names sort in the order of saves.
// K3. The oldest ones are removed only after the new one is durable.
import { Fault, isFault } from "../../base/fault.ts";
import { joinPath, parentOf } from "../../base/path.ts";
import type { Disk } from "../../world/disk.ts";
import { NO_LINKS, writeAtomic } from "../file/atomic-file.ts";
import { readWhole, removeIfThere, TEMP_ENDING } from "../file/file.ts";

export type Keep = { readonly backup: string } | { readonly history: string; readonly limit: number };

/** Attempts at a free name. A second one is needed only if other writers save the same checkpoint. */
const MAX_TRIES = 1000;

/** The directory of the older ones. */
export function keepDirectory(keep: Keep): string {
  return "backup" in keep ? parentOf(keep.backup) : keep.history;
}

/** The older ones, newest first. */
export function olderOnes(disk: Disk, keep: Keep): string[] {
  if ("history" in keep) return filesOfHistory(disk, keep.history);
  return disk.stat(keep.backup) === undefined ? [] : [keep.backup];
}

/** The files of a history, newest first. */
export function filesOfHistory(disk: Disk, directory: string): string[] {
  const places = disk.list(directory).flatMap((name) => placeOf(name) ?? []);
  return places.sort((a, b) => compare(b, a)).map((place) => joinPath(directory, place.name));
}

/** Keeps the current one, saved at `time`, as the newest of the older ones. */
export async function keepPresent(disk: Disk, primary: string, keep: Keep, time: string): Promise<void> {
  if ("history" in keep) return keepInHistory(disk, primary, keep.history, time);
  for (let number = 0; number < MAX_TRIES; number += 1) {
    const temp = `${primary}.keep-${number}${TEMP_ENDING}`;
    const linked = tryLink(disk, primary, temp);
    if (linked === "again") continue;
    if (linked === "impossible") return copy(disk, primary, keep.backup); // K1
    if (renameIfThere(disk, temp, keep.backup)) return;
  }
  mustBeGone(disk, primary);
}

async function keepInHistory(disk: Disk, primary: string, directory: string, time: string): Promise<void> {
  const newest = placeOf(filesOfHistory(disk, directory)[0]?.slice(directory.length + 1) ?? "");
  const stamp = time.replaceAll(":", "-");
  const first =
    newest !== undefined && newest.stamp >= stamp
      ? { stamp: newest.stamp, number: newest.number + 1 }
      : { stamp, number: 1 }; // K2
  for (let number = first.number; number < first.number + MAX_TRIES; number += 1) {
    const path = joinPath(directory, nameOf(first.stamp, number));
    const linked = tryLink(disk, primary, path);
    if (linked === "impossible" && disk.stat(path) === undefined) return copy(disk, primary, path); // K1
    if (linked === "linked") return;
  }
  mustBeGone(disk, primary);
}

/** Nothing could be kept: fine if the file was removed by hand. */
function mustBeGone(disk: Disk, primary: string): void {
  if (disk.stat(primary) !== undefined) throw new Fault({ code: "EBUSY", operation: "keep", path: primary });
}

function tryLink(disk: Disk, from: string, to: string): "linked" | "again" | "impossible" {
  try {
    disk.link(from, to);
    return "linked";
  } catch (error) {
    // Linux also reports ENOENT if another process replaced `from` between finding and linking it.
    if (isFault(error, "EEXIST", "ENOENT")) return "again";
    if (isFault(error, ...NO_LINKS)) return "impossible";
    throw error;
  }
}

async function copy(disk: Disk, from: string, to: string): Promise<void> {
  const bytes = readWhole(disk, from);
  if (bytes !== undefined) await writeAtomic(disk, to, bytes);
}

/** Returns false if another writer removed the link as a leftover. */
function renameIfThere(disk: Disk, from: string, to: string): boolean {
  try {
    disk.rename(from, to);
    return true;
  } catch (error) {
    if (isFault(error, "ENOENT")) return false;
    throw error;
  }
}

/** K3. The save has already succeeded, so a failure only leaves one too many until the next save. */
export function trimHistory(disk: Disk, keep: Keep): void {
  if ("backup" in keep) return;
  try {
    for (const path of olderOnes(disk, keep).slice(keep.limit)) removeIfThere(disk, path);
  } catch (error) {
    if (!isFault(error)) throw error;
  }
}

type CheckpointPaths = { readonly name: string; readonly stamp: string; readonly number: number };

/** `checkpoint-<time>.json`, or `checkpoint-<time>-2.json` if that name is taken. */
function nameOf(stamp: string, number: number): string {
  return `checkpoint-${stamp}${number === 1 ? "" : `-${number}`}.json`;
}

function placeOf(name: string): CheckpointPaths | undefined {
  const match = /^checkpoint-(.+?)(?:-(\d{1,9}))?\.json$/.exec(name);
  return match?.[1] === undefined ? undefined : { name, stamp: match[1], number: Number(match[2] ?? 1) };
}

function compare(a: CheckpointPaths, b: CheckpointPaths): number {
  if (a.stamp !== b.stamp) return a.stamp < b.stamp ? -1 : 1;
  return a.number - b.number;
}
