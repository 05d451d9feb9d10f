// The streams of one tab: terminals' holders, by the numbers that the page chose.
// TS1. What is wrong with one stream closes that stream alone. A piece for a stream that has just been closed is
//      ignored: the page may not know yet.
import type { Refusal } from "../base/result.ts";
import { type HostMessage, type PageMessage, readStream, streamMessage } from "../wire/page/messages.ts";
import { HolderStream, type StreamWorld } from "./holder-stream.ts";

/** More terminals than a page shows at once. */
const MAX_STREAMS = 64;

type Sent = HostMessage | Uint8Array<ArrayBuffer>;

export class TabStreams {
  readonly #world: StreamWorld;
  readonly #send: (message: Sent) => void;
  readonly #failed: (error: unknown) => void;
  readonly #open = new Map<number, HolderStream>();

  /** `failed`: receives bugs of ours, which close nothing but their stream. */
  constructor(world: StreamWorld, send: (message: Sent) => void, failed: (error: unknown) => void) {
    this.#world = world;
    this.#send = send;
    this.#failed = failed;
  }

  /** Returns false if the number is in use, or there are too many. */
  open({ stream, terminal }: Extract<PageMessage, { readonly type: "open" }>, mayType: boolean): boolean {
    if (this.#open.has(stream) || this.#open.size >= MAX_STREAMS) return false;
    const opened = new HolderStream({ ...this.#world, mayType }, terminal, {
      bytes: (bytes) => this.#send(streamMessage(stream, bytes)),
      closed: (exit, why) => {
        this.#open.delete(stream);
        this.#send({ type: "closed", stream, exit, why });
      },
    });
    this.#open.set(stream, opened);
    opened.open().catch((error: unknown) => {
      this.#failed(error);
      this.close(stream);
    });
    return true;
  }

  /** Returns false if it is no piece of a stream. */
  piece(message: Uint8Array): boolean {
    const piece = readStream(message);
    if (piece === undefined) return false;
    const { stream, bytes } = piece;
    if (this.#open.get(stream)?.input(bytes) !== false) return true;
    this.close(stream);
    this.#send({ type: "closed", stream, exit: null, why: NOT_FRAMES }); // TS1
    return true;
  }

  took(stream: number, bytes: number): void {
    this.#open.get(stream)?.took(bytes);
  }

  close(stream: number): void {
    const closing = this.#open.get(stream);
    this.#open.delete(stream);
    closing?.close();
  }

  closeAll(): void {
    for (const stream of [...this.#open.keys()]) this.close(stream);
  }
}

const NOT_FRAMES: Refusal = {
  code: "page.frames",
  message: "What the page sent is not in the holders' protocol.",
  hint: "Open the terminal again.",
};
