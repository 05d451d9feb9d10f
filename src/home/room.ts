// How much room there is on the disk of the home, in words that people act on.
import type { Room } from "../wire/page/messages.ts";

const MIB = 1 << 20;
/** Below the first the next burst of output fills the disk; below the second the log may refuse work any moment. */
const LITTLE_BYTES = 512 * MIB;
const NO_BYTES = 32 * MIB;
/** A terminal has about ten files. */
const FEW_FILES = 10_000;
const NO_FILES = 500;

/** `files`: how many can still be made; undefined if the file system does not count them. */
export function roomFor(bytes: number, files: number | undefined): Room {
  if (bytes < NO_BYTES || (files ?? NO_FILES) < NO_FILES) return "none";
  return bytes < LITTLE_BYTES || (files ?? FEW_FILES) < FEW_FILES ? "little" : "enough";
}
