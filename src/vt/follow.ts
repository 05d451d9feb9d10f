// Brings an emulator to the end of its tape.
// F1. The tape is read in bounded pieces, with a pause for others after each: a flood costs time, never memory.
// F2. The terminal had other sizes at other offsets: each change is made at its byte.
// F3. After missing bytes the screen is inexact. It is still the best that can be shown.
// F4. Only what the last listing of the tape showed is read, and the listing is older than the sizes: bytes that arrive
//     meanwhile, perhaps in a newer size, are left for the next time.

import { joinPath } from "../base/path.ts";
import type { ScreenSnapshot } from "../core/terminal/screen.ts";
import { TapeReader } from "../log/tape/reader.ts";
import { readSizes, type SizeAt, sizeAt } from "../log/tape/sizes.ts";
import type { Size } from "../world/children.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import { Emulator, MAX_FEED } from "./emulator.ts";
import type { Serialized } from "./serialize.ts";

type World = { readonly disk: Disk; readonly clock: Clock };

export class FollowedTape {
  readonly emulator: Emulator;
  readonly #world: World;
  readonly #directory: string;
  readonly #tape: TapeReader;
  #exact: boolean;
  #kept: { readonly key: string; readonly text: Serialized } | undefined;

  /** `directory` is the terminal's; `size` is used if the tape has none recorded. */
  constructor(world: World, directory: string, start: { readonly size: Size; readonly from?: ScreenSnapshot }) {
    this.#world = world;
    this.#directory = directory;
    this.#tape = new TapeReader(world.disk, joinPath(directory, "tape"));
    const { from } = start;
    const offset = from?.offset ?? 0;
    this.emulator = new Emulator(from ?? sizeAt(readSizes(world.disk, directory), offset, start.size), offset);
    this.#exact = from?.exact ?? true;
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
