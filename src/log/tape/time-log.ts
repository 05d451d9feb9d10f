// When the bytes of a tape came, as its holder writes it: in the directory `times` beside the tape's, for each segment
// `<offset>.seg` a file `<offset>.times` of moments (moments.ts).
// TM1. A moment is at least half a second after the one before it, so a silent terminal writes nothing. The files take
//      an eighth of the tape and a little more at most: a program that prints a byte now and then gets fewer moments.
// TM2. Nothing is synced while output comes, and no failure reaches the caller: the tape is worth more. A power cut
//      costs precision.
// TM3. What an earlier process left is read first. What is torn, or names bytes that the tape has lost, is cut off.
// TM4. What the tape drops goes from here too, when the next segment begins.
import { isFault } from "../../base/fault.ts";
import { joinPath, parentOf } from "../../base/path.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import { makeDirectories, openRetrying, readWhole, removeIfThere, writeAll } from "../file/file.ts";
import { decodeMoments, encodeMoment, type Moment, type MomentState, withMoment } from "./moments.ts";

const NAME = /^(\d{16})\.times$/;
/** TM1 */
const APART_MS = 500;
const SHARE = 8;
const ALLOWANCE = 16 << 10;

export function isTimesName(name: string): boolean {
  return NAME.test(name);
}

/** `tape` is the directory of the tape; so it is below. */
function timesDirectory(tape: string): string {
  return joinPath(parentOf(tape), "times");
}

export function timesPath(tape: string, start: number): string {
  return joinPath(timesDirectory(tape), `${String(start).padStart(16, "0")}.times`);
}

/** The offsets of the segments that have times. */
export function timedSegments(disk: Disk, tape: string): number[] {
  return disk
    .list(timesDirectory(tape))
    .flatMap((name) => NAME.exec(name)?.[1] ?? [])
    .map(Number);
}

export class TimeLog {
  readonly #disk: Disk;
  readonly #tape: string;
  readonly #tapeEnd: number;
  #file: { readonly open: OpenFile; readonly state: MomentState } | undefined;

  /** `tapeEnd` is where the tape ended when this process began. */
  constructor(disk: Disk, tape: string, tapeEnd: number) {
    this.#disk = disk;
    this.#tape = tape;
    this.#tapeEnd = tapeEnd;
  }

  /** Bytes came, and are on the tape, which begins at `tapeStart`, in its last segment. */
  note(moment: Moment, segment: number, tapeStart: number): void {
    try {
      const file = this.#file?.state.start === segment ? this.#file : this.#begin(segment, tapeStart);
      if (!isDue(moment, file.state)) return;
      const bytes = encodeMoment(moment, file.state);
      writeAll(file.open, bytes, file.state.size);
      this.#file = { open: file.open, state: withMoment(file.state, moment, bytes) };
    } catch (error) {
      if (!isFault(error)) throw error; // TM2: the next moment is tried again, at the same place.
    }
  }

  /** For the end of the output. */
  async sync(): Promise<void> {
    if (this.#file === undefined) return;
    try {
      await this.#file.open.datasync();
      await this.#disk.syncDirectory(timesDirectory(this.#tape));
    } catch (error) {
      if (!isFault(error)) throw error; // TM2
    }
  }

  close(): void {
    this.#file?.open.close();
    this.#file = undefined;
  }

  #begin(segment: number, tapeStart: number) {
    this.close();
    for (const start of timedSegments(this.#disk, this.#tape))
      if (start < tapeStart) removeIfThere(this.#disk, timesPath(this.#tape, start)); // TM4
    const path = timesPath(this.#tape, segment);
    const { state } = decodeMoments(readWhole(this.#disk, path) ?? new Uint8Array(), segment, this.#tapeEnd);
    makeDirectories(this.#disk, timesDirectory(this.#tape));
    const open = openRetrying(this.#disk, path, "create");
    this.#file = { open, state };
    if (open.size() > state.size) open.truncate(state.size); // TM3
    return this.#file;
  }
}

/** TM1 */
function isDue({ offset, time }: Moment, { last, size, start }: MomentState): boolean {
  if (last === undefined) return true;
  const isApart = time >= last.time + APART_MS || time < last.time;
  return isApart && size <= (offset - start) / SHARE + ALLOWANCE;
}
