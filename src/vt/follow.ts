// Brings an emulator to the end of its tape.
// F1. The tape is read in bounded pieces, with a pause for others after each: a flood costs time, never memory.
// F2. The terminal had other sizes at other offsets: each change is made at its byte.
// F3. After missing bytes the screen is inexact. It is still the best that can be shown.
// F4. Only what the last listing of the tape showed is read, and the listing is older than the sizes: bytes that arrive
//     meanwhile, perhaps in a newer size, are left for the next time.
// F5. A past screen begins with the nearest key frame before it, or with what else is known.

import { joinPath } from "../base/path.ts";
import { TapeReader } from "../log/tape/reader.ts";
import { readSizes, type SizeAt, sizeAt } from "../log/tape/sizes.ts";
import type { Size } from "../world/children.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import { Emulator, MAX_FEED } from "./emulator.ts";
import { APART_BYTES, type KeyFrame, KeyFrames } from "./key-frames.ts";
import type { Serialized } from "./serialize.ts";

type World = { readonly disk: Disk; readonly clock: Clock };

/**
 * `size` is used if the tape has none recorded. It starts with a screen, or, inexactly, with the byte `at`, or with the
 * tape. `leaveFrames`: key frames are written on the way.
 */
export type TapeStart = {
  readonly size: Size;
  readonly from?: KeyFrame;
  readonly at?: number;
  readonly leaveFrames?: boolean;
};

export class FollowedTape {
  readonly emulator: Emulator;
  readonly #world: World;
  readonly #directory: string;
  readonly #tape: TapeReader;
  readonly #frames: KeyFrames | undefined;
  #exact: boolean;
  #kept: { readonly key: string; readonly text: Serialized } | undefined;

  /** `directory` is the terminal's. */
  constructor(world: World, directory: string, { size, from, at, leaveFrames = false }: TapeStart) {
    this.#world = world;
    this.#directory = directory;
    this.#tape = new TapeReader(world.disk, joinPath(directory, "tape"));
    this.#frames = leaveFrames ? new KeyFrames(world.disk, directory, this.#tape) : undefined;
    const offset = from?.offset ?? at ?? 0;
    this.emulator = new Emulator(from ?? sizeAt(readSizes(world.disk, directory), offset, size), offset);
    this.#exact = from?.exact ?? offset === 0;
    if (from !== undefined) this.emulator.xterm.write(from.vt);
  }

  get exact(): boolean {
    return this.#exact;
  }

  look(): void {
    this.#tape.look();
  }

  /**
   * As of the last listing: false if this is not the tape that
   * was followed, because it ends before what we have read of it.
   */
  get isSame(): boolean {
    return this.#tape.end >= this.emulator.end;
  }

  /** The last result of `make`, if nothing has changed since: most terminals print nothing most of the time. */
  kept(key: string, make: () => Serialized): Serialized {
    if (this.#kept?.key !== key) this.#kept = { key, text: make() };
    return this.#kept.text;
  }

  /**
   * Reads up to the end of the last listing, or to `most`: a size
   * recorded at that offset belongs to what came afterwards.
   */
  async catchUp(most = Number.POSITIVE_INFINITY): Promise<void> {
    const sizes = readSizes(this.#world.disk, this.#directory).filter(({ offset }) => offset < most);
    const until = Math.min(this.#tape.end, most); // F4
    while (this.emulator.end < until) {
      const { end } = this.emulator;
      const read = this.#tape.read(end, Math.min(MAX_FEED, most - end));
      if (read.kind === "end") break;
      if (read.kind === "bytes") feedResizing(this.emulator, read.bytes, sizes);
      else this.#skip(read.to, sizes);
      this.#frames?.keep(this.emulator, this.#exact);
      if (this.emulator.end < until) await new Promise<void>((turn) => this.#world.clock.soon(turn)); // F1
    }
    const size = sizes.findLast(({ offset }) => offset <= this.emulator.end);
    if (size !== undefined) this.emulator.resize(size);
  }

  /** F3 */
  #skip(to: number, sizes: readonly SizeAt[]): void {
    this.#exact = false;
    this.emulator.skipTo(to);
    const size = sizes.findLast(({ offset }) => offset <= to);
    if (size !== undefined) this.emulator.resize(size);
  }
}

/** Feeds the next bytes, with the changes of size among them (F2). */
export function feedResizing(emulator: Emulator, bytes: Uint8Array, sizes: readonly SizeAt[]): void {
  const start = emulator.end;
  const changes = sizes.filter(({ offset }) => offset >= start && offset < start + bytes.length);
  let at = 0;
  for (const change of changes) {
    emulator.feed(bytes.subarray(at, change.offset - start));
    emulator.resize(change);
    at = change.offset - start;
  }
  emulator.feed(bytes.subarray(at));
}

/** Of a terminal's past: its directory, the offset, its size unless another is recorded, and a screen that is known. */
export type PastPlace = {
  readonly directory: string;
  readonly size: Size;
  readonly from?: KeyFrame;
  readonly leaveFrames?: boolean;
};

/**
 * The screen as it was at `until`. If nothing is known within `reach` bytes before it, it is made of the last of these
 * alone, and is not exact.
 */
export async function pastScreen(
  world: World,
  place: PastPlace,
  until: number,
  reach: number = Number.POSITIVE_INFINITY,
): Promise<FollowedTape> {
  const { directory, size, from, leaveFrames = false } = place;
  const reader = new TapeReader(world.disk, joinPath(directory, "tape"));
  const frame = new KeyFrames(world.disk, directory, reader).before(Math.min(until, reader.end));
  const isFrom = from !== undefined && from.offset <= until && from.offset > (frame?.offset ?? 0);
  const start = isFrom ? from : frame; // F5
  const known = Math.max(start?.offset ?? 0, reader.start);
  const tooFar = Math.min(until, reader.end) - known > reach;
  const tape = new FollowedTape(world, directory, {
    ...{ size, leaveFrames: leaveFrames && !tooFar }, // An inexact one would keep an exact one away.
    ...(tooFar ? { at: Math.min(until, reader.end) - Math.min(reach, APART_BYTES) } : start && { from: start }),
  });
  await tape.catchUp(until);
  return tape;
}
