// One stream of frames, which are taken one by one.
// CH1. However the stream ends, whoever waits for a frame is told why, once; and so is everyone who comes later.
// CH2. What has arrived and was not taken is limited. So is the time until the next frame: by `limit`.
import type { Duplex } from "node:stream";
import { type Frame, FrameReader, ProtocolError } from "./frames.ts";

/** A server that has not proved who it is says little. */
const BEFORE_LOGIN = 64 << 10;
/** A batch of a log has 1 MiB, and a part of a blob as well. */
const MAX_FRAME = 16 << 20;
/** CH2. Of one answer, with all of its rows. */
const MAX_WAITING = 64 << 20;

/** The stream is over; the message says why. */
export class ChannelClosed extends Error {
  override readonly name = "ChannelClosed";
}

export class Channel {
  readonly #socket: Duplex;
  readonly #reader = new FrameReader(BEFORE_LOGIN);
  #frames: Frame[] = [];
  #waiting = 0;
  #taker: PromiseWithResolvers<Frame> | undefined;
  #end: ChannelClosed | undefined;

  constructor(socket: Duplex) {
    this.#socket = socket;
    socket.on("data", (bytes: Uint8Array) => this.#arrived(bytes));
    socket.on("error", (error) => this.close(error.message));
    socket.on("close", () => this.close("the connection was closed"));
    socket.resume();
  }

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  loggedIn(): void {
    this.#reader.maxBytes = MAX_FRAME;
  }

  send(bytes: Uint8Array): void {
    if (this.#end !== undefined) throw this.#end;
    this.#socket.write(bytes);
  }

  /** Throws ChannelClosed if there is none any more (CH1). */
  async next(): Promise<Frame> {
    const frame = this.#frames.shift();
    if (frame !== undefined) {
      this.#waiting -= frame.body.length;
      return frame;
    }
    if (this.#end !== undefined) throw this.#end;
    this.#taker = Promise.withResolvers<Frame>();
    return this.#taker.promise;
  }

  /** What the server said between two calls belongs to none of them. Returns it. */
  leftOver(): readonly Frame[] {
    const left = this.#frames;
    this.#frames = [];
    this.#waiting = 0;
    return left;
  }

  /** Closes it if `act` takes longer. */
  async limit<T>(ms: number, act: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.close(`no answer within ${ms / 1_000} s`), ms);
    try {
      return await act();
    } finally {
      clearTimeout(timer);
    }
  }

  close(why: string): void {
    if (this.#end !== undefined) return;
    this.#end = new ChannelClosed(why);
    this.#socket.destroy();
    this.#taker?.reject(this.#end);
    this.#taker = undefined;
  }

  #arrived(bytes: Uint8Array): void {
    if (this.#end !== undefined) return;
    try {
      for (const frame of this.#reader.push(bytes)) this.#take(frame);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.close(`the server sent ${error.message}`);
    }
  }

  #take(frame: Frame): void {
    if (this.#taker !== undefined) {
      this.#taker.resolve(frame);
      this.#taker = undefined;
      return;
    }
    this.#frames.push(frame);
    this.#waiting += frame.body.length;
    if (this.#waiting > MAX_WAITING) throw new ProtocolError(`more than ${MAX_WAITING >> 20} MiB at once`); // CH2
  }
}
