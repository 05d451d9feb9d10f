// The file with the fleet's keys: the same on every host. Each line is one key, in hex digits; the first seals, and all
// of them open, so that a key is replaced by writing the new one above it.
// KF1. A file that others can read or write is refused.
// KF2. No message has anything of a key.
import { isFault } from "../base/fault.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { readWhole } from "../log/file/file.ts";
import type { Disk } from "../world/disk.ts";

export const FLEET_KEY_BYTES = 32;
const FOR_OTHERS = 0o077;
/** As many keys as a host tries to remember. */
export const MAX_KEYS = 16;
const MAX_FILE = 8192;
const KEY = new RegExp(`^[0-9a-f]{${2 * FLEET_KEY_BYTES}}$`, "i");

type Bytes = Uint8Array<ArrayBuffer>;

/** The first one seals. */
export function readKeys(disk: Disk, path: string): Result<readonly Bytes[]> {
  const found = textOf(disk, path);
  if (!found.ok) return found;
  const lines = found.value.split("\n").map((line) => line.trim());
  const keys = lines.filter((line) => line !== "" && !line.startsWith("#"));
  const wrong = lines.findIndex((line) => keys.includes(line) && !KEY.test(line));
  if (wrong >= 0) return bad(`${path} has no key in line ${wrong + 1}.`); // KF2
  if (keys.length === 0) return bad(`${path} has no key.`);
  if (keys.length > MAX_KEYS) return bad(`${path} has more than ${MAX_KEYS} keys.`);
  return ok(keys.map((key) => Uint8Array.fromHex(key)));
}

function textOf(disk: Disk, path: string): Result<string> {
  try {
    const found = disk.stat(path);
    if (found === undefined) return bad(`There is no file ${path}.`, "Copy it from another host of the fleet.");
    if (found.kind !== "file" || found.size > MAX_FILE) return bad(`${path} is no file with keys.`);
    if ((found.mode & FOR_OTHERS) !== 0) return bad(`${path} can be read or written by others.`, `chmod 600 ${path}`); // KF1
    return ok(new TextDecoder().decode(readWhole(disk, path, MAX_FILE)));
  } catch (error) {
    if (!isFault(error)) throw error;
    return bad(`${path} cannot be read: ${error.code}.`);
  }
}

function bad(message: string, hint = "A key is a line of 64 hex digits. All hosts of a fleet have the same file.") {
  return refused("fleet-key", message, hint);
}
