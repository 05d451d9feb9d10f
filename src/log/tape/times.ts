// When the bytes of a tape came, as far as its holder wrote it down (time-log.ts). Read without changing anything.
// TR1. Only moments of bytes that the tape has count.
// TR2. If the clock was set back, a time may have come twice: the later one counts.

import type { Disk } from "../../world/disk.ts";
import { readWhole } from "../file/file.ts";
import { decodeMoments, type Moment } from "./moments.ts";
import { endOf, listStretches, type Stretch } from "./segments.ts";
import { timedSegments, timesPath } from "./time-log.ts";

/** A first moment is shorter than this. */
const HEAD_BYTES = 32;

export class TapeTimes {
  readonly #disk: Disk;
  readonly #tape: string;
  /** Those with times, ascending. */
  readonly #stretches: readonly Stretch[];
  readonly #end: number;
  #read: { readonly stretch: Stretch; readonly moments: readonly Moment[] } | undefined;

  /** `tape` is the tape's directory. */
  constructor(disk: Disk, tape: string) {
    this.#disk = disk;
    this.#tape = tape;
    const all = listStretches(disk, tape);
    const timed = new Set(timedSegments(disk, tape));
    this.#stretches = all
      .filter(({ start }) => timed.has(start))
      .filter((stretch) => this.#head(stretch) !== undefined);
    this.#end = endOf(all);
  }

  /** The first byte whose time is known; undefined if there is none, as on tapes of older versions. */
  get first(): Moment | undefined {
    const [stretch] = this.#stretches;
    return stretch && this.#head(stretch);
  }

  /** The last moment. */
  get last(): Moment | undefined {
    const stretch = this.#stretches.at(-1);
    return stretch && this.#momentsOf(stretch).at(-1);
  }

  /** How far the tape was at `time`, to half a second; undefined if that is before the first moment. */
  offsetAt(time: number): number | undefined {
    const isBefore = (one: Stretch) => (this.#head(one)?.time ?? Number.POSITIVE_INFINITY) <= time;
    const index = Math.max(0, this.#stretches.findLastIndex(isBefore)); // TR2
    const stretch = this.#stretches[index];
    if (stretch === undefined) return undefined;
    const moments = this.#momentsOf(stretch);
    const at = moments.findLastIndex((moment) => moment.time <= time);
    if (at < 0) return undefined;
    const following = this.#stretches[index + 1];
    return (moments[at + 1] ?? (following && this.#head(following)))?.offset ?? this.#end;
  }

  /** When the byte at `offset` came, or the last moment before it. */
  timeAt(offset: number): number | undefined {
    const stretch = this.#stretches.findLast(({ start }) => start <= offset);
    const here = stretch && this.#momentsOf(stretch).findLast((moment) => moment.offset <= offset);
    return here?.time;
  }

  /** The moments at or after `from`, in order. */
  *from(from: number): Generator<Moment> {
    for (const stretch of this.#stretches.filter(({ start, size }) => start + size > from))
      for (const moment of this.#momentsOf(stretch)) if (moment.offset >= from) yield moment;
  }

  #head(stretch: Stretch): Moment | undefined {
    return this.#decoded(stretch, HEAD_BYTES)[0];
  }

  #momentsOf(stretch: Stretch): readonly Moment[] {
    if (this.#read?.stretch !== stretch) this.#read = { stretch, moments: this.#decoded(stretch) };
    return this.#read.moments;
  }

  #decoded({ start, size }: Stretch, most?: number): readonly Moment[] {
    const bytes = readWhole(this.#disk, timesPath(this.#tape, start), most) ?? new Uint8Array();
    return decodeMoments(bytes, start, start + size).moments; // TR1
  }
}
