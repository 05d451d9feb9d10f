// What somebody who attaches is shown first: the tape from an offset on, and, where it is needed and known, the screen at a later one.
// SI1. The exact screen is drawn without asking anybody and without an emulator: the last checkpoint's snapshot and the tape since. It can
//      be had while the daemon is down or hangs, and costs a read of one file; starting the screen program would cost half a second.
// SI2. The tape before the snapshot is shown too, as history, as far as it is shown at all: a snapshot has little of it. The screen is drawn over its end.
// SI3. A whole tape that was written for a window of this size is exact by itself, and nothing else is read.
// SI4. Exact is only what was drawn for this size from first to last. Where anything does not fit, is damaged or would take long, the end of
//      the tape is shown as it is, and the program is asked to draw itself.
import type { ScreenSnapshot } from "../../core/terminal/screen.ts";
import { tapeDirectory, terminalFiles } from "../../home/held/holder-files.ts";
import { TapeReader } from "../../log/tape/reader.ts";
import { readSizes, sizeAt } from "../../log/tape/sizes.ts";
import type { Size } from "../../world/children.ts";
import type { Disk } from "../../world/disk.ts";
import type { ScreenSeen } from "./last-screen.ts";

/** How much of the tape is shown again: some screens' worth of scrollback, drawn in a few milliseconds. */
export const REPLAY_BYTES = 256 << 10;
/** How old a snapshot may be, in bytes since: a minute of anything but a flood. Slow windows draw some 10 MB in a second. */
export const MAX_SINCE = 512 << 10;

/** `exact`: nothing has to be asked of the program. `screen`: drawn when the tape has come to its offset. */
export type AttachView = { readonly from: number; readonly exact: boolean; readonly screen?: ScreenSnapshot };

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
  if (!isSince(end)) return replay; // SI4: it will be told of another window.
  if (start === 0 && replay.from === 0 && isSince(0)) return { from: 0, exact: true }; // SI3
  const { lastScreen } = await import("./last-screen.ts"); // Most tapes are short, and need none of it.
  const screen = lastScreen(disk, home, terminal);
  if (screen === undefined || !screen.exact || !isWindow(screen) || !isSince(screen.offset)) return replay; // SI4
  if (screen.offset > end || end - screen.offset > MAX_SINCE) return replay;
  return { from: Math.max(start, Math.min(screen.offset, replay.from)), exact: true, screen }; // SI2
}
