// Small JSON files that programs leave for each other and for their own next life.
// J1. A file is replaced whole. Its directory is made where it is missing, and synced also where it was there: whoever made it may have
//     been killed before its sync, and on a directory that is clean a sync costs next to nothing.
// J2. What cannot be read as JSON is undefined, like what is not there: whoever reads decides what that means.
import { isFault } from "../../base/fault.ts";
import { parentOf } from "../../base/path.ts";
import type { Disk } from "../../world/disk.ts";
import { writeAtomic } from "./atomic-file.ts";
import { makeDirectories, readWhole } from "./file.ts";

/** None of ours comes near it; something else under our name is not read into memory. */
const MAX_BYTES = 1 << 20;

export type JsonObject = Readonly<Record<string, unknown>>;

export async function writeJson(disk: Disk, path: string, value: unknown): Promise<void> {
  const directory = parentOf(path);
  for (const parent of makeDirectories(disk, directory, parentOf(directory))) await disk.syncDirectory(parent); // J1
  await writeAtomic(disk, path, Buffer.from(`${JSON.stringify(value)}\n`));
}

/** The object in a file; undefined where there is none (J2). */
export function readJson(disk: Disk, path: string): JsonObject | undefined {
  try {
    if ((disk.stat(path)?.size ?? 0) > MAX_BYTES) return undefined;
    const bytes = readWhole(disk, path);
    if (bytes === undefined) return undefined;
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || isFault(error)) return undefined; // J2
    throw error;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
