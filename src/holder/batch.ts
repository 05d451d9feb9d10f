// Batch: collects small pieces of output, so that a busy program
// costs one write, one frame and one send for many of them.
// B1. Nothing waits longer than the current turn of the event loop.
// B2. One buffer for ever: the frame passed to `gathered` is valid only during the call. Large pieces are passed on
//     uncopied.
import { OUTPUT_HEAD } from "../wire/holder/protocol.ts";
import type { Clock } from "../world/clock.ts";

/** The largest OUTPUT frame. */
export const FRAME_BYTES = 64 << 10;
/** From this size on, a copy costs more than it saves (B2). */
const LARGE_BYTES = 8 << 10;

export type BatchEvents = {
  /** Begins with room for the head of an OUTPUT frame. */
  gathered(frame: Buffer): void;
  large(bytes: Uint8Array): void;
};

export class Batch {
  readonly #clock: Clock;
  readonly #events: BatchEvents;
  #buffer: Buffer | undefined;
  #length = 0;
  #planned = false;

  constructor(clock: Clock, events: BatchEvents) {
    this.#clock = clock;
    this.#events = events;
  }

  /** Bytes that were added and not yet passed on. */
  get length(): number {
    return this.#length;
  }

  add(bytes: Uint8Array): void {
    if (bytes.length >= LARGE_BYTES) {
      this.flush();
      this.#events.large(bytes); // B2
      return;
    }
    if (this.#length + bytes.length > LARGE_BYTES) this.flush();
    this.#buffer ??= Buffer.allocUnsafeSlow(OUTPUT_HEAD + LARGE_BYTES);
    this.#buffer.set(bytes, OUTPUT_HEAD + this.#length);
    this.#length += bytes.length;
    this.#plan();
  }

  flush(): void {
    if (this.#length === 0 || this.#buffer === undefined) return;
    const frame = this.#buffer.subarray(0, OUTPUT_HEAD + this.#length);
    this.#length = 0;
    this.#events.gathered(frame);
  }

  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    this.#clock.soon(() => {
      this.#planned = false;
      this.flush(); // B1
    });
  }
}
