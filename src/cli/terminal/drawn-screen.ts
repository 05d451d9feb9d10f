// A terminal's screen, drawn for a window that does not have the terminal's size: bytes meant for another size would
// wrap and scroll at the wrong places. Loaded only if there is such a window.
// DS1. The emulator begins with the last checkpoint's snapshot and what is on the tape, where everything is that we
//      have received (P1 of holder/output.ts). It continues with what we receive, each byte once, by its offset.
// DS2. The terminal's size changes at its offset, which may be ahead of the bytes.
import { tapeDirectory, terminalFiles } from "../../home/held/holder-files.ts";
import { lastScreen, type ScreenSeen } from "../../home/held/last-screen.ts";
import { TapeReader } from "../../log/tape/reader.ts";
import { readSizes, type SizeAt } from "../../log/tape/sizes.ts";
import type { Emulator } from "../../vt/emulator.ts";
import { FollowedTape, feedResizing } from "../../vt/follow.ts";
import { type Serialized, serialized } from "../../vt/serialize.ts";
import { Viewport } from "../../vt/viewport.ts";
import type { Size } from "../../world/children.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk } from "../../world/disk.ts";

/** `size` is used if the terminal has none recorded. */
export async function drawnScreen(
  world: { readonly disk: Disk; readonly clock: Clock },
  home: string,
  terminal: ScreenSeen,
  size: Size,
): Promise<DrawnScreen> {
  const place = terminalFiles(world.disk, home, terminal.id);
  const { end } = new TapeReader(world.disk, tapeDirectory(place));
  const from = lastScreen(world.disk, home, terminal);
  const isOnTape = from !== undefined && from.offset <= end; // After a power cut, a snapshot may know more.
  const tape = new FollowedTape(world, place.directory, isOnTape ? { size, from } : { size });
  await tape.catchUp(); // DS1
  const done = readSizes(world.disk, place.directory).findLast(({ offset }) => offset <= tape.emulator.end);
  return new DrawnScreen(tape.emulator, done?.offset ?? 0);
}

export class DrawnScreen {
  readonly #emulator: Emulator;
  readonly #viewport = new Viewport();
  /** Those whose offset is not reached yet. */
  #sizes: readonly SizeAt[] = [];
  /** The offset of the last one that it has. */
  #sized: number;

  constructor(emulator: Emulator, sized: number) {
    this.#emulator = emulator;
    this.#sized = sized;
  }

  output(offset: number, bytes: Uint8Array): void {
    const emulator = this.#emulator;
    if (offset > emulator.end) emulator.skipTo(offset); // The holder left something out.
    const known = Math.min(bytes.length, emulator.end - offset); // DS1
    feedResizing(emulator, bytes.subarray(known), this.#sizes);
    this.#resize();
  }

  size(at: SizeAt): void {
    if (at.offset < this.#sized) return; // The tape had a newer one.
    this.#sized = at.offset;
    this.#sizes = [...this.#sizes, at];
    this.#resize();
  }

  /** The text that shows it in a window which shows the frame before it, or nothing. */
  frame(window: Size): string {
    return this.#viewport.frame(this.#emulator, window);
  }

  /** Whether the next byte can be shown by a window of the terminal's size that shows `whole`. */
  get isSettled(): boolean {
    return this.#sizes.length === 0 && !this.#emulator.unfinished;
  }

  /** All of it, with its modes, for a window of its size. */
  get whole(): Serialized {
    return serialized(this.#emulator, 0);
  }

  /** DS2 */
  #resize(): void {
    const { end } = this.#emulator;
    const size = this.#sizes.findLast(({ offset }) => offset <= end);
    if (size !== undefined) this.#emulator.resize(size);
    this.#sizes = this.#sizes.filter(({ offset }) => offset > end);
  }
}
