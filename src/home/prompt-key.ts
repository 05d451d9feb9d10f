// The key of a home for the ids of prompts and messages, and the marks around messages (D4 of core/agent/derive.ts).
// PK1. An id that was shown is in the log, and with it the call that it answers. So a home that loses its key, or
//      cannot store it yet, has a new one, and nothing else changes.
import { isFault } from "../base/fault.ts";
import type { Disk } from "../world/disk.ts";
import type { Random } from "../world/random.ts";
import { PROMPT_KEY } from "./layout.ts";
import { readSmall, writeSmall } from "./small-file.ts";

const KEY_BYTES = 32;
const FORM = /^[0-9a-f]{64}$/;

export function promptKey(disk: Disk, random: Random, home: string): string {
  const there = readKey(disk, home);
  return FORM.test(there) ? there : random.bytes(KEY_BYTES).toHex(); // PK1
}

function readKey(disk: Disk, home: string): string {
  try {
    return readSmall(disk, home, PROMPT_KEY);
  } catch (error) {
    if (isFault(error)) return ""; // Storing the new one reports what is wrong.
    throw error;
  }
}

/** Stores it, unless it is stored. */
export async function keepPromptKey(disk: Disk, home: string, key: string): Promise<void> {
  if (readSmall(disk, home, PROMPT_KEY) !== key) await writeSmall(disk, home, PROMPT_KEY, key);
}
