// The owner of a lock, from the record that it left in the lock's file (log/file/lock.ts), without touching the lock.
import { readWhole } from "../log/file/file.ts";
import type { Disk } from "../world/disk.ts";
import type { ProcessIdentity } from "../world/process.ts";

/** Undefined also for a copied file (L5 of log/file/lock.ts): its record is that of another home. */
export function lockOwner(disk: Disk, path: string): ProcessIdentity | undefined {
  const bytes = readWhole(disk, path);
  const owner = bytes === undefined ? undefined : parseOwner(new TextDecoder().decode(bytes));
  return owner?.file === undefined || owner.file === disk.stat(path)?.id ? owner : undefined;
}

/** The record may be half written: then the owner is unknown. */
function parseOwner(text: string): Recorded | undefined {
  try {
    const found: unknown = JSON.parse(text);
    return isOwner(found) ? found : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Older versions did not record the file. */
type Recorded = ProcessIdentity & { readonly file?: unknown };

function isOwner(found: unknown): found is Recorded {
  if (typeof found !== "object" || found === null) return false;
  if (!("pid" in found && "startTime" in found && "bootId" in found)) return false;
  return typeof found.pid === "number" && typeof found.startTime === "number" && typeof found.bootId === "string";
}
