// Disk space: bytes, inodes, and the ballast that recovery uses when the disk is full.

import { joinPath } from "../../base/path.ts";
import { readConfig } from "../../home/start-watchdog.ts";
import { BALLAST_FILE } from "../../log/file/ballast.ts";
import { type Finding, fine, problem, type Site, warning } from "./check.ts";

const MIB = 1 << 20;
/**
 * Below the first limit the next burst of output fills the disk; below the second the log may refuse work any moment.
 */
const LITTLE_BYTES = 512 * MIB;
const NO_BYTES = 32 * MIB;
/** A terminal has about ten files. */
const FEW_INODES = 10_000;
const NO_INODES = 500;

const FREE_SOME = "Free some space; `du -xsh ~/* | sort -h` shows what uses it";

export async function checkRoom({ world, machine, home }: Site): Promise<Finding[]> {
  const bytes = world.disk.free(home);
  const inodes = machine.freeInodes(home);
  const files = inodes === undefined ? "" : ` and ${inodes} files`;
  const words = `${Math.floor(bytes / MIB)} MiB${files} may still be written`;
  const trouble = {
    what: words,
    why: "a full disk refuses new work; data is kept",
    next: FREE_SOME,
  };
  if (bytes < NO_BYTES || (inodes ?? NO_INODES) < NO_INODES) return [problem("room", trouble)];
  if (bytes < LITTLE_BYTES || (inodes ?? FEW_INODES) < FEW_INODES) return [warning("room", trouble)];
  return [fine("room", words)];
}

export async function checkBallast({ world, home }: Site): Promise<Finding[]> {
  const config = readConfig(world);
  const wanted = config.ok ? config.value.config.log.ballastBytes : 0;
  const size = world.disk.stat(joinPath(home, BALLAST_FILE))?.size ?? 0;
  const used = world.disk.stat(joinPath(home, "wal")) !== undefined;
  if (wanted === 0 || size >= wanted || !used) return [fine("ballast", size === 0 ? "not needed" : `${size} bytes`)];
  const what = `${size} of ${wanted} bytes are set aside for recovery`;
  const why = "the disk was full, or has too little room for it";
  return [warning("ballast", { what, why, next: "Free some space; while Holdfast is up it is soon made again" })];
}
