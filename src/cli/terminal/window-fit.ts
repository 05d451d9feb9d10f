// How a window shows a terminal: the program's bytes as they are if both have the same size, else a drawing of its
// screen (drawn-screen.ts), as tmux does.
// WF1. A window never gets bytes that were made for another size, except while a change of size is on its way: our own
//      window's size takes a moment to reach the program, and redrawing a screen by a change of size has two of them.
//      A window that is too small does not wait for that if it did not change itself.
// WF2. While the drawing is loaded, the holder waits. What came before that is on the tape, which is read.
// WF3. If the drawing cannot be loaded, the bytes are shown as they are: better garbled than nothing.
// WF4. Holders of older versions do not report sizes. With them, bytes are shown as they are.
import { isFault } from "../../base/fault.ts";
import type { ScreenSnapshot } from "../../core/terminal/screen.ts";
import type { SizeAt } from "../../log/tape/sizes.ts";
import type { Size } from "../../world/children.ts";
import type { Clock } from "../../world/clock.ts";
import type { UserTerminal } from "../../world/terminal.ts";
import type { DrawnScreen } from "./drawn-screen.ts";

/** WF1. Longer than the two changes of a redraw, which are 40 ms apart. */
const SETTLE_MS = 120;
/** As often as screens show something new. */
const FRAME_MS = 16;

export type Fitting = {
  load(size: Size): Promise<DrawnScreen>;
  /** From now on the window is drawn; it shows nothing. */
  begin(): void;
  draw(text: string): void;
  /** The window has the terminal's size, and goes on with bytes as they are; `whole` shows the screen. */
  end(whole: Pick<ScreenSnapshot, "vt" | "behind">): void;
  /** WF2 */
  hold(): void;
  release(): void;
  /** Bytes were left out, and cannot be drawn (WF3). */
  lacks(): void;
  broken(error: unknown): void;
};

type State =
  | { readonly kind: "bytes" | "given up" | "closed" }
  | { readonly kind: "loading"; readonly sizes: SizeAt[] }
  | { readonly kind: "drawn"; readonly screen: DrawnScreen };

export class WindowFit {
  readonly #clock: Clock;
  readonly #terminal: Pick<UserTerminal, "size">;
  readonly #fitting: Fitting;
  #state: State = { kind: "bytes" };
  #size: SizeAt | undefined;
  #settle: (() => void) | undefined;
  #paint: (() => void) | undefined;

  constructor(world: { readonly clock: Clock; readonly terminal: Pick<UserTerminal, "size"> }, fitting: Fitting) {
    this.#clock = world.clock;
    this.#terminal = world.terminal;
    this.#fitting = fitting;
  }

  get isLoading(): boolean {
    return this.#state.kind === "loading";
  }

  /** Whether output is drawn here, and must not be shown as it is. */
  get isDrawing(): boolean {
    return this.#state.kind === "loading" || this.#state.kind === "drawn";
  }

  /** The terminal's size has changed, or is known for the first time. */
  size(at: SizeAt): void {
    this.#size = at;
    if (this.#state.kind === "loading") this.#state.sizes.push(at);
    if (this.#state.kind === "drawn") this.#state.screen.size(at);
    const window = this.#terminal.size();
    const isTooSmall = window.cols < at.cols || window.rows < at.rows;
    if (isTooSmall && this.#settle === undefined) this.#choose();
    else this.#chooseSoon();
    this.#paintSoon();
  }

  /** The window's size has changed. */
  resized(): void {
    this.#chooseSoon();
    this.#frame();
  }

  /** Only while `isDrawing`. */
  output(offset: number, bytes: Uint8Array): void {
    if (this.#state.kind !== "drawn") return; // WF2
    this.#state.screen.output(offset, bytes);
    this.#paintSoon();
  }

  close(): void {
    this.#settle?.();
    this.#paint?.();
    this.#state = { kind: "closed" };
  }

  #chooseSoon(): void {
    this.#settle?.();
    this.#settle = this.#clock.after(SETTLE_MS, () => {
      this.#settle = undefined;
      this.#choose();
    });
  }

  #choose(): void {
    const state = this.#state;
    if (this.#size === undefined) return; // WF4
    const { cols, rows } = this.#terminal.size();
    const fits = cols === this.#size.cols && rows === this.#size.rows;
    if (state.kind === "bytes" && !fits) this.#load(this.#size).catch(this.#fitting.broken);
    if (state.kind !== "drawn" || !fits) return;
    if (state.screen.isSettled) this.#endDrawing(state.screen);
    else this.#chooseSoon();
  }

  #endDrawing({ whole }: DrawnScreen): void {
    this.#paint?.();
    this.#paint = undefined;
    this.#state = { kind: "bytes" };
    this.#fitting.end(whole);
  }

  async #load(size: SizeAt): Promise<void> {
    const sizes = [size];
    this.#state = { kind: "loading", sizes };
    this.#fitting.hold();
    try {
      const screen = await this.#fitting.load(size);
      if (this.#state.kind === "loading") this.#loaded(screen, sizes);
    } catch (error) {
      if (!isFault(error)) throw error;
      if (this.#state.kind !== "loading") return;
      this.#state = { kind: "given up" }; // WF3
      this.#fitting.lacks();
    } finally {
      this.#fitting.release();
    }
  }

  #loaded(screen: DrawnScreen, sizes: readonly SizeAt[]): void {
    for (const size of sizes) screen.size(size);
    this.#state = { kind: "drawn", screen };
    this.#fitting.begin();
    this.#frame();
    this.#chooseSoon(); // It may fit by now.
  }

  #paintSoon(): void {
    this.#paint ??= this.#clock.after(FRAME_MS, () => {
      this.#paint = undefined;
      this.#frame();
    });
  }

  #frame(): void {
    const text = this.#state.kind === "drawn" ? this.#state.screen.frame(this.#terminal.size()) : "";
    if (text !== "") this.#fitting.draw(text);
  }
}
