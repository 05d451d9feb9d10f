// A visit to a terminal: the user's window shows the program for a while.
// VS1. Everything goes directly to the holder and back; the daemon is not involved and may come and go.
// VS2. The window is restored to how it was, however the visit ends.
// VS3. Output for a slow window is not buffered without limit: reading is paused, and the holder continues without us.
// VS4. What the program asks its terminal is answered by one window: the others do not get the question.
// VS5. A window of another size than the terminal's shows a drawing of its screen (window-fit.ts).
import { type AttachView, type ScreenSnapshot, SOFT_RESET } from "../../core/terminal/screen.ts";
import type { HeldDirectory } from "../../home/held/holder-files.ts";
import { Replay, WithoutQueries } from "../../vt/replay.ts";
import type { HolderSizing, HolderStatus } from "../../wire/holder/protocol.ts";
import type { Size } from "../../world/children.ts";
import { within } from "../../world/wait.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { AGAIN_MS, type DetachKey, type SwitchTo, switchBy, type Typed } from "./after-key.ts";
import type { DrawnScreen } from "./drawn-screen.ts";
import { type LineEnd, ReconnectingHolder } from "./reconnecting-holder.ts";
import { POP_TITLE, PUSH_TITLE, ScreenModes } from "./screen-modes.ts";
import { WindowFit } from "./window-fit.ts";
import { writerName } from "./writer-name.ts";

export type AttachEnd =
  | LineEnd
  | { readonly kind: "detached" }
  | { readonly kind: "switched"; readonly to: SwitchTo }
  | { readonly kind: "told"; readonly signal: "SIGHUP" | "SIGTERM" | "SIGINT" };

/** `key` is requested once the screen is being drawn: nobody types before they see something. */
export type VisitWish = {
  readonly readOnly: boolean;
  readonly sight: AttachView;
  readonly key: () => Promise<DetachKey>;
  /** The terminal's screen, to be drawn in a window of another size (VS5). */
  readonly drawn: (size: Size) => Promise<DrawnScreen>;
  /** What was typed for this terminal before it was attached. */
  readonly typedAhead: Uint8Array;
  /** Whose window determines the program's size, if the person has chosen. */
  readonly sizing?: HolderSizing | undefined;
};

/** A program that reads nothing must not keep anybody here. */
const LAST_INPUT_MS = 1_000;

/** A program redraws its screen when its window changes; two changes at once may look like none. */
const JIGGLE_MS = 40;

/** VS3: more than a screen, less than anybody would wait for. */
const MAX_WAITING = 256 << 10;

const CLEAR = "\u001b[H\u001b[2J";
/** Clears without pushing the screen into the window's history, as some terminals do: it is drawn again. */
const WIPE = "\u001b[H\u001b[K\u001b[2;1H\u001b[J\u001b[H";

/** A drawing is on the alternate screen: what the window shows otherwise comes back after it. */
const DRAWING = "\u001b[?1049h\u001b[2J";

export class AttachSession {
  readonly #world: DaemonCommandWorld;
  readonly #wish: VisitWish;
  readonly #line: ReconnectingHolder;
  readonly #modes = new ScreenModes();
  readonly #fit: WindowFit;
  readonly #over = Promise.withResolvers<AttachEnd>();
  #replay: Replay | undefined;
  #key: Promise<DetachKey> | undefined;
  #drawing: Promise<void> = Promise.resolve();
  #waiting = 0;
  /** While another window answers (VS4). */
  #silent: WithoutQueries | undefined;
  #giveBack: (() => void) | undefined;
  /** The detach key was pressed, and may be pressed again (DK1): takes it back. */
  #unpress: (() => void) | undefined;
  #lastInput: Promise<unknown> = Promise.resolve();
  /** Once we leave: what is typed from then on is not for this program. */
  #ahead: Uint8Array[] | undefined;
  /** Once it is over: the last screen was a drawing, and went with it. */
  wasDrawn = false;
  /** What is drawn is the exact screen, so the program is not asked to redraw. */
  #exact: boolean;

  constructor(world: DaemonCommandWorld, place: HeldDirectory, wish: VisitWish) {
    this.#world = world;
    this.#wish = wish;
    this.#exact = wish.sight.exact;
    const { readOnly, sight } = wish;
    const { from } = sight;
    const { sizing } = wish;
    const window = { size: world.terminal.size(), ...(sizing !== undefined && { sizing }) };
    const size = readOnly ? {} : window;
    this.#line = new ReconnectingHolder(
      world,
      place,
      { writer: writerName(world, "attach"), readOnly, from, ...size },
      {
        joined: (status) => this.#joined(status),
        output: (offset, bytes) => this.#output(offset, bytes),
        resync: () => this.#resync(),
        answers: (answers) => this.#letAnswer(answers),
        size: (at) => this.#fit.size(at),
      },
    );
    this.#fit = new WindowFit(world, {
      load: wish.drawn,
      begin: () => this.#beginDrawing(),
      draw: (text) => this.#show(Buffer.from(text)),
      end: (whole) => this.#show(Buffer.from(this.#screen(whole, true))),
      hold: () => this.#line.hold(),
      release: () => this.#release(),
      lacks: () => this.#resync(),
      broken: this.#over.reject,
    });
  }

  /** Resolves when the visit is over and the window is restored (VS2). */
  async run(): Promise<AttachEnd> {
    this.#line.ended.then(this.#over.resolve, this.#over.reject);
    this.#line.open();
    try {
      return await this.#over.promise;
    } finally {
      this.#line.close();
      this.wasDrawn = this.#fit.isDrawing;
      this.#fit.close();
      await this.#drawTheRest();
    }
  }

  /** What was typed after the person wanted to leave. */
  get typedAhead(): Uint8Array {
    return Buffer.concat(this.#ahead ?? []);
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
    return `${this.#modes.restore()}${POP_TITLE}\r\n`;
  }

  #joined(status: HolderStatus): void {
    this.#letAnswer(true); // As every window that has just attached.
    if (this.#giveBack !== undefined) return; // This is a reconnect.
    const { from, screen } = this.#wish.sight;
    const replay = this.#newReplay(status.tape.end);
    this.#replay = replay;
    if (screen !== undefined) replay.over({ offset: screen.offset, text: (behind) => this.#screen(screen, behind) });
    this.#typed(this.#wish.typedAhead);
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

  /** If the program ended before we joined, its output is drawn as a replay without taking over the window. */
  #output(offset: number, bytes: Uint8Array): void {
    if (this.#fit.isDrawing) {
      this.#fit.output(offset, bytes); // VS5
      return;
    }
    this.#replay ??= this.#newReplay(Number.POSITIVE_INFINITY);
    this.#replay.push(offset, bytes);
  }

  /** From here on the program's output is drawn, and may set the window's title (VS2). */
  #newReplay(until: number): Replay {
    this.#write(Buffer.from(PUSH_TITLE));
    const replay = new Replay(until, (bytes) => this.#draw(bytes));
    if (this.#wish.sight.from > 0) replay.cut();
    return replay;
  }

  /** What was to be replayed is part of the drawing, and what comes after it is shown as it comes. */
  #beginDrawing(): void {
    this.#replay = new Replay(0, (bytes) => this.#draw(bytes));
    this.#replay.finish();
    this.#silent?.end();
    this.#show(Buffer.from(`${this.#modes.restore()}${SOFT_RESET}${DRAWING}`));
  }

  /** The screen, in place of what the history has left of it. */
  #screen({ vt, behind = 0 }: Pick<ScreenSnapshot, "vt" | "behind">, hasHistory: boolean): string {
    return `${this.#modes.restore()}${SOFT_RESET}${WIPE}${hasHistory ? vt.slice(behind) : vt}`;
  }

  /** Pushes what is on the window now into its own history, where it can still be read. */
  #makeRoom({ rows }: Size): void {
    this.#write(Buffer.from(`${"\n".repeat(rows)}${CLEAR}`));
  }

  /** A replay is not the whole screen if it was cut, or if the program moves the cursor freely. */
  #askToDraw({ size }: HolderStatus): void {
    const { cols, rows } = this.#world.terminal.size();
    if (size.cols !== cols || size.rows !== rows) return; // It already got a new window size.
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
    this.#fit.resized();
  }

  /** Some output was skipped for us: clear the screen, and ask the program to redraw. */
  #resync(): void {
    if (this.#fit.isDrawing) return;
    this.#exact = false;
    this.#replay?.lacks();
    if (this.#giveBack === undefined) return; // The window is not ours.
    this.#write(Buffer.from(CLEAR));
    this.#jiggle();
  }

  /** Keeps the order of typing: continuations of one promise run in the order they were added. */
  #typed(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#key ??= this.#wish.key();
    this.#key.then((key) => this.#pass(key.split(bytes))).catch(this.#over.reject);
  }

  #pass(pieces: readonly Typed[]): void {
    for (const { kind, bytes } of pieces) {
      const isAfterKey = this.#unpress !== undefined;
      this.#unpress?.();
      this.#unpress = undefined;
      if (this.#ahead !== undefined) this.#ahead.push(new Uint8Array(bytes));
      else if (isAfterKey && kind === "text")
        this.#leave(switchBy(bytes), bytes.subarray(1)); // DK2
      else if (kind === "key" && !isAfterKey)
        this.#unpress = this.#world.clock.after(AGAIN_MS, () => this.#leave()); // DK1
      else if (!this.#wish.readOnly) this.#lastInput = this.#line.input(bytes);
    }
  }

  /** Input typed before the key still goes to the program. */
  #leave(to?: SwitchTo, rest: Uint8Array = new Uint8Array()): void {
    this.#ahead = [new Uint8Array(rest)];
    const end = to === undefined ? ({ kind: "detached" } as const) : ({ kind: "switched", to } as const);
    const sent = within(this.#world.clock, LAST_INPUT_MS, this.#lastInput);
    sent.then(() => this.#over.resolve(end), this.#over.reject);
  }

  /** VS4 */
  #letAnswer(answers: boolean): void {
    const silent = this.#silent;
    this.#silent = answers ? undefined : (silent ?? new WithoutQueries());
    if (answers && silent !== undefined) this.#draw(silent.end());
  }

  #draw(bytes: Uint8Array): void {
    this.#show(this.#silent?.push(bytes) ?? bytes);
  }

  #show(bytes: Uint8Array): void {
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
    this.#release();
  }

  #release(): void {
    if (this.#waiting === 0 && !this.#fit.isLoading) this.#line.release();
  }
}
