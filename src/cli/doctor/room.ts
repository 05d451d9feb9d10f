// Disk space: bytes, inodes, and the ballast that recovery uses when the disk is full.

import { joinPath } from "../../base/path.ts";
import { roomFor } from "../../home/room.ts";
import { readConfig } from "../../home/start-watchdog.ts";
import { BALLAST_FILE } from "../../log/file/ballast.ts";
import { type Finding, fine, problem, type Site, warning } from "./check.ts";

const MIB = 1 << 20;
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
  const room = roomFor(bytes, inodes);
  if (room === "none") return [problem("room", trouble)];
  return [room === "little" ? warning("room", trouble) : fine("room", words)];
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
