// A line that is typed into the program once it is ready for it: an old command, ready to be run.
// RL1. It is typed once, when the program has printed something and fallen silent: soon if it edits lines itself, and
//      after a longer silence if it does not (then a prompt looks like a pause). A program that prints nothing gets it
//      in the end.
// RL2. If a person types first, the line is dropped: it is never mixed into what they type.
import type { Clock } from "../world/clock.ts";

export type Keyboard = {
  /** Whether the program reads keys rather than lines. */
  readonly readsKeys: boolean;
  write(bytes: Uint8Array): void;
};

const LOOK_MS = 20;
const SILENT_EDITOR_MS = 40;
const SILENT_MS = 300;
/** A shell may start slowly on a busy machine; what is typed before it edits lines is shown twice. */
const LATEST_MS = 20_000;

export class ReadyLine {
  readonly #clock: Clock;
  readonly #keyboard: Keyboard;
  readonly #began: number;
  #line: string;
  #heardAt: number | undefined;

  constructor(clock: Clock, keyboard: Keyboard, line: string) {
    this.#clock = clock;
    this.#keyboard = keyboard;
    this.#began = clock.elapsed();
    this.#line = line;
    this.#look();
  }

  heard(): void {
    this.#heardAt = this.#clock.elapsed();
  }

  /** RL2, and when the program has ended. */
  forget(): void {
    this.#line = "";
  }

  #look(): void {
    if (this.#line === "") return;
    if (!this.#isTime()) {
      this.#clock.after(LOOK_MS, () => this.#look());
      return;
    }
    this.#keyboard.write(Buffer.from(this.#line));
    this.forget(); // RL1
  }

  #isTime(): boolean {
    const now = this.#clock.elapsed();
    if (now - this.#began >= LATEST_MS) return true;
    const silence = this.#keyboard.readsKeys ? SILENT_EDITOR_MS : SILENT_MS;
    return this.#heardAt !== undefined && now - this.#heardAt >= silence;
  }
}
