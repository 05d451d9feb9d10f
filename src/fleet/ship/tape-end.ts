// The end of a tape, at the offsets that its bytes have.

import { endOf, listStretches, readFrom, type Stretch } from "../../log/tape/segments.ts";
import type { Disk } from "../../world/disk.ts";
import { MAX_TAPE_BYTES, type TapeBytes } from "../blob-form.ts";

/** Its last `most` bytes, and one at least: without any, its next bytes would begin at 0 again. */
export function tapeEnd(disk: Disk, stretches: readonly Stretch[], most: number): TapeBytes[] {
  const from = endOf(stretches) - Math.min(Math.max(1, most), MAX_TAPE_BYTES);
  const found: TapeBytes[] = [];
  for (const { start, size } of stretches.filter((stretch) => stretch.start + stretch.size > from)) {
    const at = Math.max(start, from);
    const read = readFrom(disk, stretches, at, start + size - at);
    if (read?.kind === "bytes") found.push({ start: at, bytes: read.bytes });
  }
  return found;
}

/** Another one: it has changed. Undefined: there is nothing on it. */
export function tapeStamp(disk: Disk, directory: string): { stamp: string; stretches: readonly Stretch[] } | undefined {
  const stretches = listStretches(disk, directory);
  const [first, last] = [stretches[0], stretches.at(-1)];
  const stat = last && disk.stat(last.path);
  if (first === undefined || stat === undefined) return undefined;
  return { stamp: `${first.start} ${endOf(stretches)} ${stat.id} ${stat.modifiedMs}`, stretches };
}
