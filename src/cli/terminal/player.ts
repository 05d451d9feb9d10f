// Plays a terminal's past in a window: its screen, drawn as it was, with a line about it below.
// PL1. The program's bytes reach our emulator and no window: nothing that it said to its terminal is said again.
// PL2. What is shown at a time is the same, whether it was reached by playing or by a jump.
// PL3. One thing at a time: a key that comes while a screen is being made is obeyed after it.
import { localTime } from "../../base/local-time.ts";
import { type FollowedTape, pastScreen } from "../../vt/follow.ts";
import { Viewport } from "../../vt/viewport.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk } from "../../world/disk.ts";
import type { UserTerminal } from "../../world/terminal.ts";
import { fit } from "../print.ts";
import type { Recording } from "./recording.ts";
import { type Beat, beatsOf, type Range } from "./timeline.ts";

const ESC = "\u001b";
/** How far an arrow jumps, in the time that is played. */
const JUMP_MS = 10_000;
const BEGIN = `${ESC}[?1049h${ESC}[2J`;
const FAREWELL = `${ESC}[m${ESC}[?25h${ESC}[?1049l`;
/** An arrow, or a character: several may come at once. */
const KEY = new RegExp(`${ESC}[[O][A-D]|.`, "gsu");
const RIGHT = [`${ESC}[C`, `${ESC}OC`];
const LEFT = [`${ESC}[D`, `${ESC}OD`];
/** q, Ctrl-C, Ctrl-D and Ctrl-\\. */
const QUIT = ["q", "\u0003", "\u0004", "\u001c"];

export type PlayerWorld = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly terminal: UserTerminal;
  readonly widthOf: (text: string) => number;
};

export class Player {
  readonly #world: PlayerWorld;
  readonly #recording: Recording;
  readonly #range: Range;
  readonly #speed: number;
  readonly #beats: readonly Beat[];
  readonly #viewport = new Viewport(false); // PL1
  readonly #left = Promise.withResolvers<void>();
  #tape: FollowedTape | undefined;
  /** The next beat to be shown. */
  #next = 0;
  /** The played time at `#since`, by the process's clock; it goes on from there unless it is paused. */
  #at = 0;
  #since: number | undefined;
  #cancel: () => void = () => undefined;
  #work = Promise.resolve();
  #drawing = Promise.resolve();
  #over = false;

  constructor(world: PlayerWorld, recording: Recording, range: Range, speed: number) {
    this.#world = world;
    this.#recording = recording;
    this.#range = range;
    this.#speed = speed;
    this.#beats = [...beatsOf(recording, range)];
  }

  /** Resolves when the person leaves. */
  async run(): Promise<void> {
    const { terminal } = this.#world;
    const leave = () => this.#left.resolve();
    const typed = (bytes: Uint8Array) => {
      for (const [key] of Buffer.from(bytes).toString().matchAll(KEY)) this.#press(key);
    };
    const giveBack = terminal.take({ typed, resized: () => this.#do(() => this.#show()), told: leave }, () => FAREWELL);
    this.#do(() => terminal.write(Buffer.from(BEGIN)));
    this.#do(() => this.#jump(0));
    this.#do(() => this.#play());
    try {
      await this.#left.promise;
    } finally {
      this.#over = true;
      this.#cancel();
      await this.#drawing;
      giveBack();
    }
  }

  /** PL3 */
  #do(work: () => Promise<void>): void {
    this.#work = this.#work.then(work);
    this.#work.catch(this.#left.reject);
  }

  #press(key: string): void {
    if (QUIT.includes(key)) this.#left.resolve();
    else if (key === " ") this.#do(() => (this.#since === undefined ? this.#play() : this.#pause()));
    else if (RIGHT.includes(key)) this.#do(() => this.#jump(JUMP_MS));
    else if (LEFT.includes(key)) this.#do(() => this.#jump(-JUMP_MS));
  }

  get #now(): number {
    return this.#since === undefined ? this.#at : this.#at + (this.#world.clock.elapsed() - this.#since) * this.#speed;
  }

  get #total(): number {
    return this.#beats.at(-1)?.at ?? 0;
  }

  async #play(): Promise<void> {
    this.#at = this.#now;
    this.#since = this.#world.clock.elapsed();
    this.#plan();
    await this.#show();
  }

  async #pause(): Promise<void> {
    this.#cancel();
    this.#at = Math.min(this.#now, this.#total);
    this.#since = undefined;
    await this.#show();
  }

  #plan(): void {
    this.#cancel();
    const beat = this.#beats[this.#next];
    if (this.#since === undefined) return;
    const wait = Math.max(0, (beat?.at ?? 0) - this.#now) / this.#speed;
    this.#cancel = this.#world.clock.after(wait, () => this.#do(() => this.#advance()));
  }

  /** Shows everything that is due. */
  async #advance(): Promise<void> {
    if (this.#since === undefined) return;
    const now = this.#now;
    while ((this.#beats[this.#next]?.at ?? Number.POSITIVE_INFINITY) <= now) this.#next += 1;
    await this.#tape?.catchUp(this.#beats[this.#next - 1]?.end ?? this.#range.from);
    if (this.#next === this.#beats.length) return this.#pause(); // The end stays in view.
    this.#plan();
    await this.#show();
  }

  /** PL2 */
  async #jump(by: number): Promise<void> {
    this.#at = Math.max(0, Math.min(this.#now + by, this.#total));
    if (this.#since !== undefined) this.#since = this.#world.clock.elapsed();
    const after = this.#beats.findIndex(({ at }) => at > this.#at);
    this.#next = after < 0 ? this.#beats.length : after;
    const { place, size } = this.#recording;
    const until = this.#beats[this.#next - 1]?.end ?? this.#range.from;
    this.#tape?.emulator.dispose();
    this.#tape = await pastScreen(this.#world, { directory: place.directory, size }, until);
    if (this.#next === this.#beats.length) return this.#pause();
    this.#plan();
    await this.#show();
  }

  async #show(): Promise<void> {
    if (this.#tape === undefined || this.#over) return;
    const { terminal, widthOf } = this.#world;
    const { cols, rows } = terminal.size();
    const frame = this.#viewport.frame(this.#tape.emulator, { cols, rows: Math.max(1, rows - 1) });
    const status = `${ESC}7${ESC}[${rows};1H${ESC}[m${ESC}[2K${ESC}[7m${fit(this.#status(), cols - 1, widthOf)}${ESC}[m${ESC}8`;
    this.#drawing = terminal.write(Buffer.from(`${frame}${status}`));
    await this.#drawing;
  }

  #status(): string {
    const beat = this.#beats[Math.max(0, this.#next - 1)];
    const time = localTime(this.#world.clock, new Date(beat?.time ?? 0).toISOString());
    const ended = this.#next === this.#beats.length ? "end" : "paused";
    const state = this.#since === undefined ? ended : `playing${this.#speed === 1 ? "" : ` ×${this.#speed}`}`;
    const clock = `${minutes(Math.min(this.#now, this.#total))} / ${minutes(this.#total)}`;
    return ` ${this.#recording.name}  ${time}  ${clock}  ${state}   space pauses, arrows jump 10 s, q quits `;
  }
}

function minutes(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
