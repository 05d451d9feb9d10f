// A line that is typed into the program once it can take it: an old command, ready to be run.
// RL1. Typed once, when the program has said something and fallen silent: at once where it edits lines itself, and after a longer
//      silence where it does not (then nobody can tell a prompt from a pause). A program that says nothing gets it after all.
// RL2. Whoever types first wins: a line is never mixed into what a person types.
import type { Clock } from "../world/clock.ts";

export type Keyboard = {
  /** Whether the program reads keys rather than lines. */
  readonly readsKeys: boolean;
  write(bytes: Uint8Array): void;
};

const LOOK_MS = 20;
const SILENT_EDITOR_MS = 40;
const SILENT_MS = 300;
/** A shell may take its time to start on a busy machine; what is typed before it edits lines is shown twice. */
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
