// Recently requested screens, kept alive: the next snapshot of a terminal parses only what is new on its tape.
// V1. Their total memory is bounded: the one not requested for the longest time is forgotten first.
// V2. If a tape is no longer the one that was followed, its screen starts again.
// V3. A snapshot may know more than its tape, if a power cut removed the tape's end. It is shown, but not kept: what
//     comes next on the tape has offsets that the snapshot has already seen.
// V4. Following a tape leaves key frames, from which past screens are made. A request for one has a bounded cost.
import { joinPath } from "../base/path.ts";
import type { ScreenCells } from "../core/terminal/screen.ts";
import { TapeReader } from "../log/tape/reader.ts";
import { describe } from "../vt/describe.ts";
import { FollowedTape, pastScreen } from "../vt/follow.ts";
import type { ScreenPlace } from "../wire/screen.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";

/**
 * V1. Enough for some hundreds of terminals with usual windows;
 * otherwise a request starts from its snapshot, which costs little.
 */
export const MAX_CELLS = 8 << 20;

/** V4: parsed in less than half a second. */
const MAX_REACH = 4 << 20;

export class LiveScreens {
  readonly #world: { readonly disk: Disk; readonly clock: Clock };
  readonly #most: number;
  /** The most recently requested one is last. */
  readonly #tapes = new Map<string, FollowedTape>();

  constructor(world: { readonly disk: Disk; readonly clock: Clock }, most: number = MAX_CELLS) {
    this.#world = world;
    this.#most = most;
  }

  get count(): number {
    return this.#tapes.size;
  }

  /** The screen at the end of the tape, or at `until`, unless it was already asked for at a later offset. */
  async current(place: ScreenPlace, until?: number): Promise<FollowedTape> {
    const { directory } = place;
    const known = this.#tapes.get(directory);
    known?.look();
    const tape = known?.isSame === true ? known : this.#startAnew(place, known); // V2
    this.#tapes.delete(directory);
    this.#tapes.set(directory, tape);
    await tape.catchUp(until);
    if (!tape.isSame) this.#tapes.delete(directory); // V3
    this.#forgetOldest();
    return tape;
  }

  /** The screen as it was at an offset, by what the caller knows and the tape alone; nothing is kept. */
  async past(place: ScreenPlace, until: number): Promise<ScreenCells> {
    const tape = new FollowedTape(this.#world, place.directory, place);
    try {
      await tape.catchUp(until);
      return describe(tape.emulator);
    } finally {
      tape.emulator.dispose();
    }
  }

  /** What `show` makes of the screen as it was at an offset, by the nearest key frame (V4); the screen is not kept. */
  async recalled<T>(place: ScreenPlace, until: number, show: (tape: FollowedTape) => T): Promise<T> {
    const tape = await pastScreen(this.#world, { ...place, leaveFrames: true }, until, MAX_REACH);
    try {
      return show(tape);
    } finally {
      tape.emulator.dispose();
    }
  }

  /**
   * Makes the key frames of the next part of a tape, after `after`. Returns how far it came, or null at the tape's end:
   * the caller asks for more, so that others are answered in between (V4).
   */
  async index(place: ScreenPlace, after: number): Promise<number | null> {
    const { start } = new TapeReader(this.#world.disk, joinPath(place.directory, "tape"));
    const until = Math.max(after, start) + MAX_REACH;
    const tape = await pastScreen(this.#world, { ...place, leaveFrames: true }, until);
    tape.emulator.dispose();
    return tape.emulator.end < until ? null : until;
  }

  /** For after a failure. */
  forget(directory: string): void {
    this.#tapes.get(directory)?.emulator.dispose();
    this.#tapes.delete(directory);
  }

  #startAnew(place: ScreenPlace, old: FollowedTape | undefined): FollowedTape {
    old?.emulator.dispose();
    return new FollowedTape(this.#world, place.directory, { ...place, leaveFrames: true });
  }

  /** V1 */
  #forgetOldest(): void {
    const weights = [...this.#tapes].map(([directory, { emulator }]) => ({ directory, cells: emulator.cells }));
    let total = weights.reduce((sum, { cells }) => sum + cells, 0);
    for (const { directory, cells } of weights.slice(0, -1)) {
      if (total <= this.#most) return;
      this.forget(directory);
      total -= cells;
    }
  }
}
