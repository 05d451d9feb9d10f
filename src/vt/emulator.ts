// A headless terminal: it takes a tape's bytes and knows the screen.
// M1. It gets only whole pieces: what may be the beginning of a character or a sequence is held back until the rest has
//     come. So the screen is always that of `offset`, which is between two pieces.
// M2. A piece of unreasonable length is passed on as it comes. It is a string that changes nothing before it ends, so
//     the screen is still that of `offset`, where it began.
// M3. After a gap, what was held back is meaningless and is dropped.
import type { Size } from "../world/children.ts";
import { Xterm } from "../world/xterm.ts";
import { GROUND, wholeLength } from "./boundary.ts";
import { Extras } from "./extras.ts";

/** Many times the scrollback of a snapshot; at 80 columns it takes a megabyte. */
export const SCROLLBACK_LINES = 1000;
/** The most bytes at a time; the emulator parses twice this without cutting characters in two. */
export const MAX_FEED = 64 << 10;
/** M2. Titles and links are far shorter, images far longer. */
const MAX_HELD = 32 << 10;
/** The emulator's minimum; and no real window has more cells than this. */
const MIN_COLS = 2;
const MAX_SIDE = 2000;

export class Emulator {
  readonly xterm: Xterm;
  readonly extras: Extras;
  #held: Uint8Array = new Uint8Array(0);
  /** The parser's state after its input; it differs from GROUND only within a long piece (M2). */
  #state = GROUND;
  #end: number;
  #offset: number;

  constructor(size: Size, offset: number) {
    this.xterm = new Xterm(bounded(size), SCROLLBACK_LINES);
    this.extras = new Extras(this.xterm);
    this.#end = offset;
    this.#offset = offset;
  }

  /** The offset that the screen corresponds to (M1). */
  get offset(): number {
    return this.#offset;
  }

  /** The end of the bytes that were fed. */
  get end(): number {
    return this.#end;
  }

  get size(): Size {
    return { cols: this.xterm.cols, rows: this.xterm.rows };
  }

  /** The number of cells it keeps: this determines its memory. */
  get cells(): number {
    const { normal, alternate, cols } = this.xterm;
    return cols * (normal.lines.length + alternate.lines.length);
  }

  /** Whether the last piece is incomplete. */
  get unfinished(): boolean {
    return this.#offset < this.#end;
  }

  feed(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += MAX_FEED) this.#take(bytes.subarray(at, at + MAX_FEED));
  }

  resize(size: Size): void {
    const { cols, rows } = bounded(size);
    if (cols !== this.xterm.cols || rows !== this.xterm.rows) this.xterm.resize({ cols, rows });
  }

  /** The bytes up to `offset` are missing (M3). */
  skipTo(offset: number): void {
    if (this.#state !== GROUND) this.xterm.write(CANCEL);
    this.#held = new Uint8Array(0);
    this.#state = GROUND;
    this.#end = offset;
    this.#offset = offset;
  }

  dispose(): void {
    this.xterm.dispose();
  }

  #take(bytes: Uint8Array): void {
    const all = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    const start = this.#end - this.#held.length;
    const { length, decoded, state } = wholeLength(all, this.xterm.transitions, this.#state);
    this.#end += bytes.length;
    if (length > 0 || this.#state === GROUND) this.#offset = start + length;
    const ahead = all.length - length > MAX_HELD; // M2
    const given = ahead ? decoded : length;
    if (ahead) this.#state = state;
    else if (length > 0) this.#state = GROUND;
    if (given > 0) this.xterm.write(all.subarray(0, given));
    this.#held = new Uint8Array(all.subarray(given)); // M1
  }
}

const CANCEL = new Uint8Array([0x18]);

function bounded({ cols, rows }: Size): Size {
  return { cols: Math.min(MAX_SIDE, Math.max(MIN_COLS, cols)), rows: Math.min(MAX_SIDE, Math.max(1, rows)) };
}
