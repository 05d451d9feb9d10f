// Makes a home of a backup.
// RS1. It is made beside its place, and takes its name in one step when all of it is durable: under that name there is
//      a whole home or none. What a killed process left beside it is removed by the next restoration to this place.
// RS2. Nothing that is there is replaced: the place has nothing, or an empty directory.
// RS3. Each file's hash is compared before the home has its name; the first damage ends the work, and leaves nothing.
// RS4. The home knows that it was restored: it is started as after a crash of the machine, and is a copy until somebody
//      says that it replaces the original (ID3 of identity.ts).

import { isFault } from "../../base/fault.ts";
import { baseName, joinPath, parentOf } from "../../base/path.ts";
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import { makeDirectories, openRetrying, removeTree, writeAll } from "../../log/file/file.ts";
import type { BackupEntry } from "../../wire/backup.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import type { Processes } from "../../world/process.ts";
import { markRestored } from "../identity.ts";
import { forgetBoot } from "../last-life.ts";
import { RESTORED } from "../layout.ts";
import { runningOn } from "../running.ts";
import type { BackupChain } from "./chain.ts";
import { orRefused } from "./stopped.ts";

export type RestoreWorld = {
  readonly disk: Disk;
  readonly clock: Pick<Clock, "now">;
  readonly processes: Processes;
};

export type Restored = { readonly home: string; readonly seq: number; readonly files: number; readonly bytes: number };

/** Locked by the process that makes it. */
const STAGING_LOCK = "restoring.lock";
/** Open files that are synced together: the disk shares the work. */
const AT_ONCE = 64;

/** `step` is called after each piece of work with its bytes; it throws to end the work. */
export function restore(
  world: RestoreWorld,
  chain: BackupChain,
  home: string,
  step: (bytes: number) => Promise<void>,
): Promise<Result<Restored>> {
  return orRefused(chain.newest.path, async () => {
    const refusal = whyNotThere(world, home);
    if (refusal !== undefined) return { ok: false, error: refusal };
    const staging = joinPath(parentOf(home), `${baseName(home)}.restoring`);
    const lock = await beginStaging(world.disk, staging);
    if (!lock.ok) return lock;
    try {
      const restored = await fill(world, chain, { staging, home }, step);
      await takeName(world.disk, staging, home);
      return ok(restored);
    } catch (error) {
      removeBestEffort(world.disk, staging);
      throw error;
    } finally {
      lock.value.close();
    }
  });
}

/** RS2 */
function whyNotThere({ disk, processes }: RestoreWorld, home: string): Refusal | undefined {
  const { watchdog, daemon } = runningOn({ disk, processes }, home);
  const found = disk.lstat(home);
  if (watchdog !== undefined || daemon !== undefined)
    return refused("running", `Holdfast is running on ${home}.`, OTHER_PLACE).error;
  if (disk.stat(parentOf(home))?.kind !== "directory")
    return refused("no-directory", `There is no directory ${parentOf(home)}.`, "Make it first.").error;
  if (found === undefined || (found.kind === "directory" && disk.list(home).length === 0)) return undefined;
  const what = found.kind === "directory" ? "is not empty" : "is no directory";
  return refused("not-empty", `${home} ${what}.`, OTHER_PLACE).error;
}

const OTHER_PLACE = "Name a directory that is empty, or does not exist yet. Nothing is replaced.";

/** RS1. The name of the lock is durable before there is anything else. */
async function beginStaging(disk: Disk, staging: string): Promise<Result<OpenFile>> {
  if (!disk.makeDirectory(staging) && disk.list(staging).length > 0) {
    if (!isLeftover(disk, staging))
      return refused(
        "backup.busy",
        `${staging} is in use, or not ours.`,
        "Wait for the other restoration, or move it.",
      );
    removeTree(disk, staging);
    disk.makeDirectory(staging);
  }
  const lock = openRetrying(disk, joinPath(staging, STAGING_LOCK), "create");
  if (!lock.tryLock()) {
    lock.close();
    return refused("backup.busy", `Another restoration to ${staging} has begun.`, "Wait until it has ended.");
  }
  await disk.syncDirectory(staging);
  return ok(lock);
}

/** Whether its lock is there and free, or it is whole and only waits for its name. */
function isLeftover(disk: Disk, staging: string): boolean {
  const path = joinPath(staging, STAGING_LOCK);
  if (disk.lstat(path)?.kind !== "file") return disk.lstat(joinPath(staging, RESTORED)) !== undefined;
  const left = openRetrying(disk, path, "read");
  const isFree = left.tryLock();
  left.close();
  return isFree;
}

type To = { readonly staging: string; readonly home: string };

async function fill(
  { disk, clock }: RestoreWorld,
  chain: BackupChain,
  { staging, home }: To,
  step: (bytes: number) => Promise<void>,
): Promise<Restored> {
  const files = new RestoredFiles(disk, staging);
  let bytes = 0;
  const { entries, newest } = chain;
  for (const entry of entries) {
    const file = await files.create(entry);
    let at = 0;
    for await (const part of chain.contents(entry)) {
      writeAll(file, part, at);
      at += part.length;
      await step(part.length);
    } // RS3
    bytes += at;
  }
  await files.finish();
  const { seq, home: original } = newest.index.top;
  const at = new Date(clock.now()).toISOString();
  await forgetBoot({ disk, home: staging }); // RS4
  await markRestored({ disk, home: staging }, { at, backup: newest.header.id, seq, original: original.path });
  return { home, seq, files: entries.length, bytes };
}

/** RS1. The new home, and its name. */
async function takeName(disk: Disk, staging: string, home: string): Promise<void> {
  disk.unlink(joinPath(staging, STAGING_LOCK));
  await disk.syncDirectory(staging);
  disk.rename(staging, home);
  await disk.syncDirectory(parentOf(home));
}

/** Files and directories that become durable together. */
class RestoredFiles {
  readonly #disk: Disk;
  readonly #root: string;
  readonly #directories = new Set<string>();
  #open: OpenFile[] = [];

  constructor(disk: Disk, root: string) {
    this.#disk = disk;
    this.#root = root;
    this.#directories.add(root);
  }

  async create({ path }: BackupEntry): Promise<OpenFile> {
    if (this.#open.length >= AT_ONCE) await this.#sync();
    const whole = joinPath(this.#root, path);
    this.#makeDirectory(parentOf(whole));
    const file = openRetrying(this.#disk, whole, "exclusive");
    this.#open.push(file);
    return file;
  }

  #makeDirectory(path: string): void {
    if (this.#directories.has(path)) return;
    makeDirectories(this.#disk, path);
    for (let at = path; !this.#directories.has(at); at = parentOf(at)) this.#directories.add(at);
  }

  async #sync(): Promise<void> {
    const files = this.#open.splice(0);
    try {
      await Promise.all(files.map((file) => file.sync()));
    } finally {
      for (const file of files) file.close();
    }
  }

  async finish(): Promise<void> {
    await this.#sync();
    const directories = [...this.#directories];
    for (let at = 0; at < directories.length; at += AT_ONCE)
      await Promise.all(directories.slice(at, at + AT_ONCE).map((directory) => this.#disk.syncDirectory(directory)));
  }
}

/** The original failure is the one to report; the next restoration removes what is left. */
function removeBestEffort(disk: Disk, staging: string): void {
  try {
    removeTree(disk, staging);
  } catch (error) {
    if (!isFault(error)) throw error;
  }
}
