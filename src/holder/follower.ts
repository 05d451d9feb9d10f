// Follower: one client's position in the output.
// V1. It gets the bytes in order, each once, with their offsets; RESYNC reports what it can no longer get (holder.ts,
//     H4).
// V2. Nothing waits for it: if too much is queued for it, it falls behind, and continues from the tape once it has read
//     that.
// V3. After the last byte come the last frame and the end of the connection.
import { numberFrame, outputFrame, RESYNC } from "../wire/holder/protocol.ts";
import type { Clock } from "../world/clock.ts";
import type { Connection } from "../world/socket.ts";
import { FRAME_BYTES } from "./batch.ts";
import type { Recorder } from "./recorder.ts";

/** V2: how much may be queued for a client before it falls behind. */
const MAX_WAITING = 1 << 20;
/** Only as much is read from the tape as can be sent soon. */
const ENOUGH_WAITING = 256 << 10;
/** A client that reads as fast as the tape must not keep the others waiting. */
const FRAMES_A_TURN = 8;

type State = { readonly kind: "none" } | { readonly kind: "live" } | { readonly kind: "behind"; readonly at: number };

export class Follower {
  readonly #connection: Connection;
  readonly #recorder: Recorder;
  readonly #clock: Clock;
  #state: State = { kind: "none" };
  #last: Uint8Array | undefined;
  #planned = false;

  constructor(connection: Connection, recorder: Recorder, clock: Clock) {
    this.#connection = connection;
    this.#recorder = recorder;
    this.#clock = clock;
  }

  /** −1: from the end. */
  begin(from: number): void {
    const { end } = this.#recorder;
    if (from > end) this.#connection.send(numberFrame(RESYNC, end)); // V1: this offset never existed.
    this.#state = { kind: "behind", at: from === -1 ? end : Math.min(from, end) };
    this.#catchUp();
  }

  /** New output, as the parts of its frames; `end` is the offset after it. */
  offer(parts: readonly Uint8Array[], end: number): void {
    const { kind } = this.#state;
    if (kind === "behind") this.#hurry(); // These bytes are already on the tape and will be read from there.
    if (kind !== "live") return;
    for (const part of parts) this.#connection.send(part);
    if (this.#connection.waiting > MAX_WAITING) this.#state = { kind: "behind", at: end }; // V2
  }

  /** Something about the output that names its offset, and so may come before the bytes. */
  tell(frame: Uint8Array): void {
    if (this.#state.kind !== "none") this.#connection.send(frame);
  }

  /** The connection has sent everything that was queued. */
  drained(): void {
    this.#catchUp();
  }

  /** V3 */
  finish(last: Uint8Array): void {
    this.#last = last;
    this.#catchUp();
    if (this.#state.kind === "none") this.#close();
  }

  #catchUp(): void {
    for (let frames = 0; this.#state.kind === "behind"; frames += 1) {
      if (this.#connection.waiting > ENOUGH_WAITING) return;
      if (frames === FRAMES_A_TURN) {
        this.#soon();
        return;
      }
      this.#state = this.#next(this.#state.at);
    }
    if (this.#state.kind === "live") this.#close();
  }

  /** A flood blocks the event loop: without this, a client that is behind would get nothing before it ends. */
  #hurry(): void {
    this.#connection.flush();
    this.#catchUp();
  }

  #next(at: number): State {
    const found = this.#recorder.read(at, FRAME_BYTES);
    if (found.kind === "end") return { kind: "live" };
    if (found.kind === "bytes") {
      this.#connection.send(outputFrame(at, found.bytes));
      return { kind: "behind", at: at + found.bytes.length };
    }
    this.#connection.send(numberFrame(RESYNC, found.to)); // V1
    return { kind: "behind", at: found.to };
  }

  #soon(): void {
    if (this.#planned) return;
    this.#planned = true;
    this.#clock.soon(() => {
      this.#planned = false;
      this.#catchUp();
    });
  }

  #close(): void {
    if (this.#last === undefined) return;
    this.#connection.send(this.#last); // V3
    this.#connection.end();
  }
}
