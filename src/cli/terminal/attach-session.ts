// A visit to a terminal: the user's window is the program's for a while.
// VS1. Everything goes straight to the holder and back; the daemon has no part in it and may come and go.
// VS2. The window is given back as it was, in whatever way the visit ends.
// VS3. A window that cannot draw fast enough is not buffered for without a bound: the line is held, and the holder goes on without us.
import { type ScreenSnapshot, SOFT_RESET } from "../../core/terminal/screen.ts";
import type { HeldDirectory } from "../../home/held/holder-files.ts";
import type { HolderStatus } from "../../wire/holder/protocol.ts";
import type { Size } from "../../world/children.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import type { AttachView } from "./attach-view.ts";
import type { DetachKey } from "./detach-key.ts";
import { type LineEnd, ReconnectingHolder } from "./reconnecting-holder.ts";
import { Replay } from "./replay.ts";
import { ScreenModes } from "./screen-modes.ts";
import { writerName } from "./writer-name.ts";

export type AttachEnd =
  | LineEnd
  | { readonly kind: "detached" }
  | { readonly kind: "told"; readonly signal: "SIGHUP" | "SIGTERM" | "SIGINT" };

/** `key` is asked for once the screen is being drawn: nobody types before they see something. */
export type VisitWish = {
  readonly readOnly: boolean;
  readonly sight: AttachView;
  readonly key: () => Promise<DetachKey>;
};

/** A program draws its screen anew when its window changes; one that is told of two changes at once may see none. */
const JIGGLE_MS = 40;

/** VS3: more than a screen, less than anybody would wait for. */
const MAX_WAITING = 256 << 10;

const CLEAR = "\u001b[H\u001b[2J";
/** The same without pushing what was there into the window's history, as some do: it is drawn again. */
const WIPE = "\u001b[H\u001b[K\u001b[2;1H\u001b[J\u001b[H";

export class AttachSession {
  readonly #world: DaemonCommandWorld;
  readonly #wish: VisitWish;
  readonly #line: ReconnectingHolder;
  readonly #modes = new ScreenModes();
  readonly #over = Promise.withResolvers<AttachEnd>();
  #replay: Replay | undefined;
  #key: Promise<DetachKey> | undefined;
  #drawing: Promise<void> = Promise.resolve();
  #waiting = 0;
  #giveBack: (() => void) | undefined;
  /** The program is asked for nothing: what is drawn is its screen. */
  #exact: boolean;

  constructor(world: DaemonCommandWorld, place: HeldDirectory, wish: VisitWish) {
    this.#world = world;
    this.#wish = wish;
    this.#exact = wish.sight.exact;
    const { readOnly, sight } = wish;
    const { from } = sight;
    const size = readOnly ? {} : { size: world.terminal.size() };
    this.#line = new ReconnectingHolder(
      world,
      place,
      { writer: writerName(world, "attach"), readOnly, from, ...size },
      {
        joined: (status) => this.#joined(status),
        output: (offset, bytes) => this.#output(offset, bytes),
        resync: () => this.#resync(),
      },
    );
  }

  /** Resolves when it is over and the window is given back (VS2). */
  async run(): Promise<AttachEnd> {
    this.#line.ended.then(this.#over.resolve, this.#over.reject);
    this.#line.open();
    try {
      return await this.#over.promise;
    } finally {
      this.#line.close();
      await this.#drawTheRest();
    }
  }

  async #drawTheRest(): Promise<void> {
    this.#replay?.finish();
    if (this.#giveBack === undefined && this.#replay !== undefined) this.#write(Buffer.from(this.#farewell()));
    try {
      await this.#drawing;
    } finally {
      this.#giveBack?.(); // VS2
    }
  }

  #farewell(): string {
    return `${this.#modes.restore()}\r\n`;
  }

  #joined(status: HolderStatus): void {
    if (this.#giveBack !== undefined) return; // Only connected again.
    const { from, screen } = this.#wish.sight;
    const replay = this.#newReplay(status.tape.end);
    this.#replay = replay;
    if (screen !== undefined) replay.over({ offset: screen.offset, text: (behind) => this.#screen(screen, behind) });
    this.#giveBack = this.#world.terminal.take(
      {
        typed: (bytes) => this.#typed(bytes),
        resized: () => this.#resized(),
        told: (signal) => this.#over.resolve({ kind: "told", signal }),
      },
      () => this.#farewell(),
    );
    this.#makeRoom(this.#world.terminal.size());
    if (from >= status.tape.end) replay.finish();
    if (!this.#wish.readOnly) this.#askToDraw(status);
  }

  /** Where the program had ended before anybody was welcomed, what it said is drawn as a replay, and the window is not taken for it. */
  #output(offset: number, bytes: Uint8Array): void {
    this.#replay ??= this.#newReplay(Number.POSITIVE_INFINITY);
    this.#replay.push(offset, bytes);
  }

  #newReplay(until: number): Replay {
    const replay = new Replay(until, (bytes) => this.#draw(bytes));
    if (this.#wish.sight.from > 0) replay.cut();
    return replay;
  }

  /** The screen, in place of what its history has left of it. */
  #screen({ vt, behind = 0 }: ScreenSnapshot, hasHistory: boolean): string {
    return `${this.#modes.restore()}${SOFT_RESET}${WIPE}${hasHistory ? vt.slice(behind) : vt}`;
  }

  /** What is on the window now is pushed up into its own history, where it stays to be read. */
  #makeRoom({ rows }: Size): void {
    this.#write(Buffer.from(`${"\n".repeat(rows)}${CLEAR}`));
  }

  /** A replay is not the whole screen where it was cut, or where a program draws wherever it likes. */
  #askToDraw({ size }: HolderStatus): void {
    const { cols, rows } = this.#world.terminal.size();
    if (size.cols !== cols || size.rows !== rows) return; // It was told of another window already.
    this.#world.clock.after(JIGGLE_MS, () => {
      if (!this.#exact && (this.#wish.sight.from > 0 || this.#modes.alternate)) this.#jiggle();
    });
  }

  #jiggle(): void {
    const size = this.#world.terminal.size();
    if (this.#wish.readOnly || size.rows < 2) return;
    this.#line.resize({ ...size, rows: size.rows - 1 });
    this.#world.clock.after(JIGGLE_MS, () => this.#resized());
  }

  #resized(): void {
    if (!this.#wish.readOnly) this.#line.resize(this.#world.terminal.size());
  }

  /** Something was left out for us: what follows is drawn on an empty screen, and the program is asked for the rest. */
  #resync(): void {
    this.#exact = false;
    this.#replay?.lacks();
    if (this.#giveBack === undefined) return; // The window is not ours.
    this.#write(Buffer.from(CLEAR));
    this.#jiggle();
  }

  /** In the order it was typed: those who wait for a promise are called in the order in which they came. */
  #typed(bytes: Uint8Array): void {
    this.#key ??= this.#wish.key();
    this.#key.then((key) => this.#pass(bytes, key.find(bytes))).catch(this.#over.reject);
  }

  async #pass(bytes: Uint8Array, keyAt: number): Promise<void> {
    const typed = keyAt < 0 ? bytes : bytes.subarray(0, keyAt);
    if (typed.length > 0 && !this.#wish.readOnly) await this.#line.input(typed);
    if (keyAt >= 0) this.#over.resolve({ kind: "detached" }); // What was typed before the key is still the program's.
  }

  #draw(bytes: Uint8Array): void {
    this.#modes.push(bytes);
    this.#write(bytes);
  }

  #write(bytes: Uint8Array): void {
    const copy = new Uint8Array(bytes);
    this.#waiting += copy.length;
    if (this.#waiting > MAX_WAITING) this.#line.hold(); // VS3
    this.#drawing = this.#drawing.then(() => this.#world.terminal.write(copy));
    this.#drawing.then(() => this.#drawn(copy.length), this.#over.reject);
  }

  #drawn(length: number): void {
    this.#waiting -= length;
    if (this.#waiting === 0) this.#line.release();
  }
}
