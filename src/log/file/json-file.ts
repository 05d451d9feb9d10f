// Small JSON files that programs leave for each other and for their own next start.
// J1. A file is replaced whole. Its directory is made if missing, and synced even if it existed: the process that made
//     it may have been killed before its sync, and syncing a clean directory costs next to nothing.
// J2. A file that is missing or is not JSON reads as undefined: the caller decides what that means. So does one that
//     the disk does not give now, unless the caller asks for certainty.
import { isFault } from "../../base/fault.ts";
import { parentOf } from "../../base/path.ts";
import type { Disk } from "../../world/disk.ts";
import { writeAtomic } from "./atomic-file.ts";
import { makeDirectories, readWhole } from "./file.ts";

/** None of our files comes near it; something else under our name is not read into memory. */
const MAX_BYTES = 1 << 20;
const MISSING = Number.POSITIVE_INFINITY;

export type JsonObject = Readonly<Record<string, unknown>>;

export async function writeJson(disk: Disk, path: string, value: unknown): Promise<void> {
  const directory = parentOf(path);
  for (const parent of makeDirectories(disk, directory, parentOf(directory))) await disk.syncDirectory(parent); // J1
  await writeAtomic(disk, path, Buffer.from(`${JSON.stringify(value)}\n`));
}

/** The object in a file; undefined if there is none (J2). */
export function readJson(disk: Disk, path: string): JsonObject | undefined {
  try {
    return readJsonSurely(disk, path);
  } catch (error) {
    if (isFault(error)) return undefined; // J2
    throw error;
  }
}

/** The same, but a disk that fails is a Fault: for what must not be taken for missing. */
export function readJsonSurely(disk: Disk, path: string): JsonObject | undefined {
  if ((disk.stat(path)?.size ?? MISSING) > MAX_BYTES) return undefined;
  const bytes = readWhole(disk, path);
  return bytes && parsed(bytes);
}

function parsed(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // J2
    throw error;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
