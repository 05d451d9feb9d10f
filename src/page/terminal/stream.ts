// One connection to a terminal's holder, over a stream of the page's socket: what HolderClient needs to connect.
// ST1. The host is told how much was processed: it does not read from a holder whose page is behind. Bytes count as
//      processed when the screen has parsed them, or when nothing of them was given to the screen.
import type { Refusal } from "../../base/result.ts";
import type { HolderWire, HolderWireEvents } from "../../wire/holder/framed-connection.ts";
import type { HolderExit } from "../../wire/holder/protocol.ts";
import type { PageClient, PageStream } from "../../wire/page/client.ts";

/** ST1. A fraction of what may be open (MAX_UNTAKEN), so that a message is sent for many pieces. */
const TELL_EVERY = 32 << 10;

export type StreamEnd = { readonly exit: HolderExit | null; readonly why: Refusal | null };

export class TerminalStream implements HolderWire {
  #stream: PageStream | undefined;
  #received = 0;
  #told = 0;
  /** Given to the screen, and not parsed yet. */
  #parsing = 0;

  constructor(open: PageClient["open"], terminal: string, events: HolderWireEvents & { ended(end: StreamEnd): void }) {
    this.#stream = open(terminal, {
      bytes: (bytes) => {
        this.#received += bytes.length;
        events.bytes(bytes);
        if (this.#parsing === 0) this.#took(this.#received);
      },
      closed: (exit, why) => {
        this.#stream = undefined;
        events.ended({ exit, why });
        events.closed();
      },
    });
  }

  /** False if there is no connection to the host. */
  get isOpen(): boolean {
    return this.#stream !== undefined;
  }

  send(bytes: Uint8Array): void {
    this.#stream?.send(bytes);
  }

  end(): void {
    this.#stream?.close();
    this.#stream = undefined;
  }

  destroy(): void {
    this.end();
  }

  /** Something was given to the screen; call what it returns when that is parsed. */
  parsing(): () => void {
    const upTo = this.#received;
    this.#parsing += 1;
    return () => {
      this.#parsing -= 1;
      this.#took(upTo);
    };
  }

  #took(upTo: number): void {
    if (upTo - this.#told < TELL_EVERY) return;
    this.#told = upTo;
    this.#stream?.took(upTo); // ST1
  }
}
