// How far long work on a backup is, for a person who waits: one line, written over itself, only in a window.
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { sizeText } from "../print.ts";

/** What takes less needs no line. */
const FIRST_MS = 1_000;
const EVERY_MS = 200;
const CLEAR = "\r\u001b[K";

export class Progress {
  readonly #world: Pick<DaemonCommandWorld, "console" | "clock">;
  readonly #began: number;
  #next: number;
  #bytes = 0;
  #doing = "";
  #isShown = false;

  constructor(world: Pick<DaemonCommandWorld, "console" | "clock">) {
    this.#world = world;
    this.#began = world.clock.elapsed();
    this.#next = this.#began + FIRST_MS;
  }

  /** Also lets others have their turn: a signal, an answer. */
  async add(doing: "written" | "verified" | "restored", bytes: number): Promise<void> {
    const { console, clock } = this.#world;
    if (doing !== this.#doing) [this.#doing, this.#bytes] = [doing, 0];
    this.#bytes += bytes;
    await new Promise<void>((go) => clock.soon(go));
    if (!console.err.tty || clock.elapsed() < this.#next) return;
    this.#next = clock.elapsed() + EVERY_MS;
    this.#isShown = true;
    await console.err.write(`${CLEAR}holdfast: ${sizeText(this.#bytes)} ${doing} …`);
  }

  async end(): Promise<void> {
    if (this.#isShown) await this.#world.console.err.write(CLEAR);
  }
}
