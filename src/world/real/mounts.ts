// The file system that a path is on, from the system's table of mounts (/proc/self/mountinfo).
// MT1. The last mount over a path is the one that is seen: a later one in the table covers an earlier one.
// MT2. Either of two settings makes it read-only: that of the mount, or that of the file system itself, which the
//      kernel sets after errors.
import type { FileSystem } from "../machine.ts";

/** Undefined if the table names no mount above the path, which is absolute and without links. */
export function fileSystemIn(table: string, path: string): FileSystem | undefined {
  let found: (FileSystem & { readonly length: number }) | undefined;
  for (const line of table.split("\n")) {
    const mounted = parsed(line);
    if (mounted === undefined || !isBelow(path, mounted.mount)) continue;
    const { length } = mounted.mount;
    if (found === undefined || length >= found.length) found = { ...mounted, length }; // MT1
  }
  if (found === undefined) return undefined;
  const { mount, type, source, readOnly } = found;
  return { mount, type, source, readOnly };
}

function isBelow(path: string, mount: string): boolean {
  return mount === "/" || path === mount || path.startsWith(`${mount}/`);
}

/** `36 35 98:0 /root /mount rw,noatime optional… - ext4 /dev/root rw,errors=continue` */
function parsed(line: string): FileSystem | undefined {
  const [front = "", back] = line.split(" - ");
  const [, , , , mount, ours = ""] = front.split(" ");
  if (mount === undefined || back === undefined) return undefined;
  const [type = "", source = "", theirs = ""] = back.split(" ");
  const readOnly = [ours, theirs].some((options) => options.split(",").includes("ro")); // MT2
  return { mount: unescaped(mount), type, source: unescaped(source), readOnly };
}

/** Blanks and backslashes are written as three octal digits, which stand for bytes. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
