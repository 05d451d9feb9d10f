// An upgrade of our single binary that is under way: a record in the home, and up to four names beside each other.
//   recovery/upgrade.json   the record
//   NAME                    the installed version
//   NAME.next               the new one, whole and checked, before it has the name
//   NAME.replaced           the one before, as long as it is not known whether the new one works
//   NAME.previous           after that; `holdfast upgrade --rollback` returns to it
// UP1. The record is durable before a name changes, and is removed when nothing is left to do. Each change of names is
//      durable before the next one: if the power goes between any two, NAME is one whole version.
// UP2. A file is known by its identity, whatever its name: what NAME is tells how far an upgrade has come.
// UP3. The process that the record names decides, for as long as it lives. After that the watchdog has another one
//      decide (watchdog/upgrades.ts).
import { isFault } from "../base/fault.ts";
import { joinPath, parentOf } from "../base/path.ts";
import { readJson, writeJson } from "../log/file/json-file.ts";
import { fitting } from "../wire/check.ts";
import { count, flag, fullPath, type Infer, literal, number, object, text } from "../wire/shape.ts";
import type { Disk, OpenFile } from "../world/disk.ts";
import { UPGRADE } from "./layout.ts";

const RELEASE = object({ version: text, file: text });
const RECORD = object({
  v: literal(1),
  path: fullPath,
  from: RELEASE,
  to: RELEASE,
  by: object({ pid: count, startTime: number, bootId: text }),
  limitMs: count,
  /** What ran before on this home; without it nobody needs to wait for it. */
  page: flag,
  safeMode: flag,
});
export type UpgradeRecord = Infer<typeof RECORD>;

export const nextName = (path: string): string => `${path}.next`;
export const replacedName = (path: string): string => `${path}.replaced`;
export const previousName = (path: string): string => `${path}.previous`;

export function upgradePath(home: string): string {
  return joinPath(home, UPGRADE);
}

/** Undefined if none is under way. One that cannot be read was not written by us. */
export function readUpgrade(disk: Disk, home: string): UpgradeRecord | undefined {
  return fitting(RECORD, readJson(disk, upgradePath(home)));
}

export function writeUpgrade(disk: Disk, home: string, record: UpgradeRecord): Promise<void> {
  return writeJson(disk, upgradePath(home), record);
}

/** UP1 */
export async function endUpgrade(disk: Disk, home: string): Promise<void> {
  await remove(disk, upgradePath(home));
}

/** One upgrade at a time, whatever the home; undefined if another one has it. It is held until it is closed. */
export function upgradeLock(disk: Disk, path: string): Pick<OpenFile, "close"> | undefined {
  const directory = disk.open(parentOf(path), "read");
  if (directory.tryLock()) return directory;
  directory.close();
  return undefined;
}

/** UP2. Follows `/proc/PID/exe` to what the process runs, even if that has no name any more. */
export function fileAt(disk: Disk, path: string): string | undefined {
  return disk.stat(path)?.id;
}

/** UP1. `NAME.next` gets the name. */
export async function install(disk: Disk, path: string): Promise<void> {
  await remove(disk, replacedName(path));
  disk.link(path, replacedName(path));
  await disk.syncDirectory(parentOf(path));
  await rename(disk, nextName(path), path);
}

/** The version before gets the name back. It is `NAME.previous` if the power went before the record was removed. */
export async function reinstate(disk: Disk, { path, from }: UpgradeRecord): Promise<void> {
  const names = [replacedName(path), previousName(path)];
  const found = names.find((name) => fileAt(disk, name) === from.file);
  if (found !== undefined) await rename(disk, found, path);
}

export async function keepPrevious(disk: Disk, path: string): Promise<void> {
  const replaced = replacedName(path);
  if (disk.stat(replaced) !== undefined) await rename(disk, replaced, previousName(path));
}

/** What an upgrade leaves that did not come far. */
export async function removeLeftOvers(disk: Disk, path: string): Promise<void> {
  for (const name of [nextName(path), replacedName(path)]) await remove(disk, name);
}

async function rename(disk: Disk, from: string, to: string): Promise<void> {
  disk.rename(from, to);
  await disk.syncDirectory(parentOf(to));
}

async function remove(disk: Disk, path: string): Promise<void> {
  try {
    disk.unlink(path);
  } catch (error) {
    if (!isFault(error, "ENOENT")) throw error;
  }
  await disk.syncDirectory(parentOf(path));
}
