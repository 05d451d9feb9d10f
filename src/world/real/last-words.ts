// Decides when a child's end is reported: it has ended, and its outputs have ended or fallen silent (children.ts, C3).
// LW1. The end is reported once.
// LW2. Output that never ends is waited for only for a bounded time after the child's end.
import type { Ending } from "../children.ts";

/**
 * What the child wrote before its end arrives within microseconds; this much silence means that another process has the
 * output.
 */
const SILENCE_MS = 200;
/** If another process never falls silent, we stop reading here. */
const MAX_MS = 1000;

export class LastWords {
  readonly #tell: (ending: Ending) => void;
  #open: number;
  #ending: Ending | undefined;
  #told = false;
  #silence: Timer | undefined;
  #longest: Timer | undefined;

  /** `outputs`: how many outputs will be closed. */
  constructor(outputs: number, tell: (ending: Ending) => void) {
    this.#open = outputs;
    this.#tell = tell;
  }

  /** An output produced something. */
  heard(): void {
    this.#silence?.refresh();
  }

  /** An output has ended. */
  closed(): void {
    this.#open -= 1;
    if (this.#open === 0 && this.#ending !== undefined) this.#finish();
  }

  ended(ending: Ending): void {
    this.#ending = ending;
    if (this.#open <= 0) this.#finish();
    else this.#waitForSilence();
  }

  #waitForSilence(): void {
    this.#silence = setTimeout(() => this.#finish(), SILENCE_MS);
    this.#longest = setTimeout(() => this.#finish(), MAX_MS); // LW2
  }

  #finish(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#longest);
    if (this.#told || this.#ending === undefined) return; // LW1
    this.#told = true;
    this.#tell(this.#ending);
  }
}
