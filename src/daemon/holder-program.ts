// The holder's program in one small file: a holder started from it needs a fifth less memory than one from the sources, and many
// run at a time. It is made anew whenever the sources differ; where it cannot be made, the sources do.
import { isFault } from "../base/fault.ts";
import { writeAtomic } from "../log/atomic-file.ts";
import { joinPath, makeDirectories } from "../log/file.ts";
import type { Disk } from "../world/disk.ts";
import { sha256 } from "../world/hash.ts";
import type { Self } from "../world/self.ts";

/** A folder of its own: Bun's memory grows with what lies beside its entry file. */
const FOLDER = "run/bin";

export const HOLDER_SOURCE = "src/holder/main.ts";

/** Where the program is; undefined where it could not be made. Running holders keep the one they were started from. */
export async function makeHolderProgram(disk: Disk, self: Self, home: string): Promise<string | undefined> {
  const text = await self.bundle(HOLDER_SOURCE);
  if (text === undefined) return undefined;
  const path = joinPath(home, `${FOLDER}/holder-${sha256(text).slice(0, 12)}.js`);
  try {
    makeDirectories(disk, joinPath(home, FOLDER));
    if (disk.stat(path) === undefined) await writeAtomic(disk, path, Buffer.from(text));
    return path;
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}
