// What `holdfast fleet` writes into the configuration: the address of the database, and perhaps the name of the host.
// OT1. Nothing of the user's is replaced: only lines of our own are written, between two comments, and removed.
// OT2. A `[fleet]` table that is there already gets them as its first lines.
import { parentOf } from "../../base/path.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { makeDirectories } from "../../log/file/file.ts";
import type { Disk } from "../../world/disk.ts";

/** OT1: with the empty line that was put before it. */
const BEGIN = "# Written by `holdfast fleet`; `holdfast fleet leave` removes it up to the next such line.";
const END = "# End of what `holdfast fleet` has written.";
const OURS = /(?:(?<=\n)\n)?# Written by `holdfast fleet`;[\s\S]*?# End of what `holdfast fleet` has written\.\n/;

export function withTable(text: string, settings: Readonly<Record<string, string>>): string {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`);
  const table = /^[ \t]*\[fleet\][^\n]*\n/m.exec(text);
  const ours = `${BEGIN}\n${table === null ? "[fleet]\n" : ""}${lines.join("")}${END}\n`;
  const at = table === null ? text.length : table.index + table[0].length; // OT2
  const before = text.slice(0, at);
  const gap = table === null && before !== "" && !before.endsWith("\n\n") ? "\n" : "";
  return `${before}${gap}${ours}${text.slice(at)}`;
}

/** Undefined: there is nothing of ours in it. */
export function withoutTable(text: string): string | undefined {
  return OURS.test(text) ? text.replace(OURS, "") : undefined;
}

export async function writePrivate(disk: Disk, path: string, text: string): Promise<void> {
  for (const parent of makeDirectories(disk, parentOf(path))) await disk.syncDirectory(parent);
  await writeAtomic(disk, path, Buffer.from(text));
}
