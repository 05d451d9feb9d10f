// Brings entries that another disk has into a home's write-ahead log, before the log is opened: the frames that a batch
// of the fleet's database contains (docs/FLEET.md).
// IM1. Nothing of what is here is changed. One new file repeats what is live and continues it, in a newer generation,
//      and its marks say that it is all durable. So until it has its name, the log is as it was.
// IM2. It can be repeated: what is here already is not taken again.
// IM3. What is torn or damaged here is in the quarantine first: with the new file, recovery does not see it any more.
// IM4. A hole is refused: the first frame that is new continues what is here, and each of them the one before.
import { parentOf } from "../base/path.ts";
import { ok, type Result, refused } from "../base/result.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import { writeAtomic } from "./file/atomic-file.ts";
import { makeDirectories } from "./file/file.ts";
import { setAsideWal } from "./recover.ts";
import { decodeFrame, encodeAgain, encodeMark, type Frame, lastOf } from "./wal/frame.ts";
import { nextSegmentPath, readWal } from "./wal/wal-files.ts";
import type { WalView } from "./wal/wal-fold.ts";

const NEWLINE = 10;

type Place = { readonly disk: Disk; readonly clock: Clock; readonly home: string };

/** `end`: the last entry that the log has now; `added`: how many of them are new. */
export type Imported = { readonly end: number; readonly added: number };

/**
 * Each of `batches` is a run of frames. `drained`: what is in the session logs of a home that has no write-ahead log;
 * one that has it knows better.
 */
export async function importFrames(
  place: Place,
  batches: readonly Uint8Array[],
  drained: number,
): Promise<Result<Imported>> {
  const wal = readWal(place.disk, place.home);
  const { view } = wal;
  const here = view.gen === 0 ? { ...view, drained, end: drained } : view;
  const frames = framesIn(batches);
  if (!frames.ok) return frames;
  const known = solidEnd(here);
  const continued = continuing(frames.value, known);
  if (!continued.ok) return continued;
  const added = continued.value;
  const reached = added.reduce((_, frame) => lastOf(frame), known);
  const end = Math.max(here.end, reached);
  if (view.gen > 0 && added.length === 0) return ok({ end, added: 0 });
  await setAsideWal(place, wal, []); // IM3
  await write(place, here, { added, known, end });
  return ok({ end, added: reached - known });
}

type Addition = { readonly added: readonly Frame[]; readonly known: number; readonly end: number };

/** IM1 */
async function write({ disk, home }: Place, view: WalView, { added, known, end }: Addition): Promise<void> {
  const first = added[0]?.first ?? known + 1;
  const reached = added.reduce((_, frame) => lastOf(frame), known);
  const before = view.live.filter((frame) => lastOf(frame) < first);
  const behind = view.live.filter((frame) => frame.first > reached);
  const marks = { gen: view.gen + 1, durable: end, drained: view.drained };
  const lines = [...before, ...added, ...behind].map((frame) => encodeAgain(marks, frame));
  const path = nextSegmentPath(disk, home);
  for (const parent of makeDirectories(disk, parentOf(path), home)) await disk.syncDirectory(parent);
  await writeAtomic(disk, path, Buffer.concat([encodeMark(marks, view.drained + 1), ...lines]));
}

/** Up to where the log of a home that is not open has everything; what it has lost is behind. */
export function solidEndOf({ disk, home }: Pick<Place, "disk" | "home">): number {
  return solidEnd(readWal(disk, home).view);
}

/** Up to where there is no hole: damage here is mended by what the database has. */
function solidEnd({ live, drained }: WalView): number {
  let end = drained;
  for (const frame of live) {
    if (frame.first > end + 1) break;
    end = Math.max(end, lastOf(frame));
  }
  return end;
}

/** Those with something new, IM2. */
function continuing(frames: readonly Frame[], known: number): Result<readonly Frame[]> {
  const added: Frame[] = [];
  let end = known;
  for (const frame of frames) {
    if (lastOf(frame) <= end) continue;
    if (frame.first > end + 1) return refused("log.hole", `The entry ${end + 1} is missing.`, HOLE); // IM4
    added.push(frame);
    end = lastOf(frame);
  }
  return ok(added);
}

/** Without marks, which have no entries. */
export function framesIn(batches: readonly Uint8Array[]): Result<readonly Frame[]> {
  const frames: Frame[] = [];
  for (const bytes of batches)
    for (let at = 0; at < bytes.length; ) {
      const end = bytes.indexOf(NEWLINE, at);
      const frame = end < 0 ? undefined : decodeFrame(bytes.subarray(at, end), 0);
      if (frame === undefined) return refused("log.frames", "A batch contains what is no frame of a log.", HOLE);
      if (frame.count > 0) frames.push(frame);
      at = end + 1;
    }
  return ok(frames);
}

const HOLE = "Nothing was changed. Take the home from a backup, or from the disk of the host that had it.";
