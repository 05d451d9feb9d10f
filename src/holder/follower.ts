// Follower: one client's place in the output.
// V1. Bytes reach it in order, each once, with their offsets; what it cannot have any more is told by RESYNC (holder.ts, H4).
// V2. It is never waited for: when too much waits in memory for it, it falls behind and goes on from the tape once it has read that.
// V3. After the last byte comes the last frame, and then the end.
import { numberFrame, outputFrame, RESYNC } from "../wire/holder/protocol.ts";
import type { Clock } from "../world/clock.ts";
import type { Connection } from "../world/socket.ts";
import { FRAME_BYTES } from "./batch.ts";
import type { Recorder } from "./recorder.ts";

/** V2: what a client may keep waiting before it falls behind. */
const MAX_WAITING = 1 << 20;
/** From the tape only as much is read as goes out soon. */
const ENOUGH_WAITING = 256 << 10;
/** A client that reads as fast as the tape gives must not keep the others waiting. */
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
    if (from > end) this.#connection.send(numberFrame(RESYNC, end)); // V1: this place has never been.
    this.#state = { kind: "behind", at: from === -1 ? end : Math.min(from, end) };
    this.#catchUp();
  }

  /** New output, as the parts of its frames; `end` is the offset behind it. */
  offer(parts: readonly Uint8Array[], end: number): void {
    const { kind } = this.#state;
    if (kind === "behind") this.#hurry(); // These bytes are on the tape already: it meets them there.
    if (kind !== "live") return;
    for (const part of parts) this.#connection.send(part);
    if (this.#connection.waiting > MAX_WAITING) this.#state = { kind: "behind", at: end }; // V2
  }

  /** The connection has sent all that waited. */
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

  /** A flood keeps the loop from turning: whoever is behind would not be served before it is over. */
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
