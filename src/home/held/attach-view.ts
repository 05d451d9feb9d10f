// What is shown first on attach: the tape from an offset on, and, if needed and known, the screen at a later offset.
// SI1. The exact screen is drawn without any request and without an emulator: the last checkpoint's snapshot and the
//      tape since. It is available while the daemon is down or hangs, and costs one file read; starting the screen
//      program would cost half a second.
// SI2. The tape before the snapshot is shown too, as history: a snapshot has little of it. The screen is drawn over its
//      end.
// SI3. A whole tape that was written for a window of this size is exact by itself, and nothing else is read.
// SI4. Only what was drawn for this size from first to last is exact. If anything does not match, is damaged or would
//      take long, the end of the tape is shown as it is, and the program is asked to redraw.
import type { AttachView } from "../../core/terminal/screen.ts";
import { TapeReader } from "../../log/tape/reader.ts";
import { readSizes, sizeAt } from "../../log/tape/sizes.ts";
import type { Size } from "../../world/children.ts";
import type { Disk } from "../../world/disk.ts";
import { tapeDirectory, terminalFiles } from "./holder-files.ts";
import type { ScreenSeen } from "./last-screen.ts";

/** How much of the tape is replayed: some screens of scrollback, drawn in a few milliseconds. */
export const REPLAY_BYTES = 256 << 10;
/**
 * How old a snapshot may be, in bytes since: a minute of anything but a flood. Slow windows draw about 10 MB per
 * second.
 */
export const MAX_SINCE = 512 << 10;

export async function sightOf(disk: Disk, home: string, terminal: ScreenSeen, window: Size): Promise<AttachView> {
  const place = terminalFiles(disk, home, terminal.id);
  const { start, end } = new TapeReader(disk, tapeDirectory(place));
  const sizes = readSizes(disk, place.directory);
  const isWindow = ({ cols, rows }: Size) => cols === window.cols && rows === window.rows;
  const isSince = (offset: number) =>
    [sizeAt(sizes, offset, undefined), ...sizes.filter((size) => size.offset > offset)].every(
      (size) => size !== undefined && isWindow(size),
    );
  const replay = { from: Math.max(0, end - REPLAY_BYTES), exact: false };
  if (!isSince(end)) return replay; // SI4: it will get a new window size.
  if (start === 0 && replay.from === 0 && isSince(0)) return { from: 0, exact: true }; // SI3
  const { lastScreen } = await import("./last-screen.ts"); // Most tapes are short and do not need this.
  const screen = lastScreen(disk, home, terminal);
  if (screen === undefined || !screen.exact || !isWindow(screen) || !isSince(screen.offset)) return replay; // SI4
  if (screen.offset > end || end - screen.offset > MAX_SINCE) return replay;
  return { from: Math.max(start, Math.min(screen.offset, replay.from)), exact: true, screen }; // SI2
}
