// Small files of the daemon: the home's token, the last boot, the marker of a clean end, and recovery reports.

import { joinPath } from "../base/path.ts";
import { writeAtomic } from "../log/file/atomic-file.ts";
import { makeDirectories, readWhole } from "../log/file/file.ts";
import { decodeLine } from "../wire/lines.ts";
import type { Report } from "../wire/rpc/rpc.ts";
import type { Disk } from "../world/disk.ts";
import type { Random } from "../world/random.ts";

const TOKEN_BYTES = 32;
const TOKEN = /^[0-9a-f]{64}$/;
/** Old reports are for reading, not for recovery. */
const REPORTS_KEPT = 50;

async function write(disk: Disk, home: string, path: string, text: string): Promise<void> {
  const directory = path.slice(0, path.lastIndexOf("/"));
  for (const parent of makeDirectories(disk, joinPath(home, directory), home)) await disk.syncDirectory(parent);
  await writeAtomic(disk, joinPath(home, path), Buffer.from(`${text}\n`));
}

function read(disk: Disk, home: string, path: string): string {
  return new TextDecoder().decode(readWhole(disk, joinPath(home, path)) ?? new Uint8Array(0)).trim();
}

/** Made once for a home; every program that can read it may talk to the daemon. */
export async function homeToken(disk: Disk, random: Random, home: string): Promise<string> {
  const there = read(disk, home, "run/token");
  if (TOKEN.test(there)) return there;
  const token = random.bytes(TOKEN_BYTES).toHex();
  await write(disk, home, "run/token", token);
  return token;
}

/** Restores the token if it was removed. */
export async function keepToken(disk: Disk, home: string, token: string): Promise<void> {
  if (read(disk, home, "run/token") !== token) await write(disk, home, "run/token", token);
}

export function writeSmall(disk: Disk, home: string, path: string, text: string): Promise<void> {
  return write(disk, home, path, text);
}

/** Returns the report's name. */
export async function writeReport(disk: Disk, home: string, report: Report): Promise<string> {
  const name = report.at.replaceAll(/[:.]/g, "-");
  await write(disk, home, `recovery/reports/${name}.json`, JSON.stringify(report));
  const directory = joinPath(home, "recovery/reports");
  const names = disk.list(directory).sort();
  for (const old of names.slice(0, Math.max(0, names.length - REPORTS_KEPT))) disk.unlink(joinPath(directory, old));
  return name;
}

/** The newest report, or the one with this name; null if there is none. */
export function readReport(disk: Disk, home: string, name: string | null): Report | null {
  const directory = joinPath(home, "recovery/reports");
  const newest = disk
    .list(directory)
    .filter((file) => file.endsWith(".json"))
    .sort()
    .at(-1);
  const file = name === null ? newest : disk.list(directory).find((other) => other === `${name}.json`);
  const value = file === undefined ? undefined : decodeLine(read(disk, home, `recovery/reports/${file}`));
  return isReport(value) ? value : null;
}

function isReport(value: unknown): value is Report {
  return typeof value === "object" && value !== null && "items" in value && Array.isArray(value.items);
}
