// The certificate for browsers, and its key, from files that another program renews.
import { Fault } from "../base/fault.ts";
import { readWhole } from "../log/file/file.ts";
import type { Disk } from "../world/disk.ts";
import type { TlsFiles } from "../world/http.ts";

/** A chain of certificates is a tenth of it. */
const MAX_BYTES = 1 << 20;

/** A Fault if one is missing or cannot be read. */
export function readTls(disk: Disk, paths: { readonly certificate: string; readonly key: string }): TlsFiles {
  return { certificate: textIn(disk, paths.certificate), key: textIn(disk, paths.key) };
}

function textIn(disk: Disk, path: string): string {
  const bytes = readWhole(disk, path, MAX_BYTES);
  const hint = "Check the path, and that the relay's user may read it.";
  if (bytes === undefined) throw new Fault({ code: "ENOENT", operation: "read", path, hint });
  return new TextDecoder().decode(bytes);
}
