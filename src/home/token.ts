// The token of a home: made once, and every program that can read it may talk to the daemon.
import type { Disk } from "../world/disk.ts";
import type { Random } from "../world/random.ts";
import { TOKEN } from "./layout.ts";
import { readSmall, writeSmall } from "./small-file.ts";

const TOKEN_BYTES = 32;
const FORM = /^[0-9a-f]{64}$/;

export async function homeToken(disk: Disk, random: Random, home: string): Promise<string> {
  const there = readSmall(disk, home, TOKEN);
  if (FORM.test(there)) return there;
  const token = random.bytes(TOKEN_BYTES).toHex();
  await writeSmall(disk, home, TOKEN, token);
  return token;
}

/** Restores the token if it was removed. */
export async function keepToken(disk: Disk, home: string, token: string): Promise<void> {
  if (readSmall(disk, home, TOKEN) !== token) await writeSmall(disk, home, TOKEN, token);
}
