// One tab of a browser: its WebSocket and a stream of its home's tunnel, joined. What passes is encrypted for the home.
// TA1. Whoever does not read stops the sender: the home's stream is paused while too much waits for the browser.
// TA2. A WebSocket cannot be paused: a browser that sends much more than its home reads is closed.
import { TAB_CLOSED } from "../wire/tunnel/browser.ts";
import type { WebSocketConnection, WebSocketEvents } from "../world/http.ts";
import type { TunnelStream, TunnelStreamEvents } from "../world/tunnel.ts";

/** TA1 */
const MAX_WAITING = 256 << 10;
/** TA2 */
const MAX_UNREAD = 1 << 20;

/** A home's tunnel, as far as a tab needs it. */
export type TabHome = { openTab(events: TunnelStreamEvents): TunnelStream };

export class Tab implements WebSocketEvents {
  readonly #socket: WebSocketConnection;
  readonly #left: () => void;
  readonly #stream: TunnelStream;
  #unread = 0;
  #isPaused = false;
  #isOver = false;

  /** `left` is called once, when it is over. */
  constructor(socket: WebSocketConnection, home: TabHome, left: () => void) {
    this.#socket = socket;
    this.#left = left;
    this.#stream = home.openTab({
      bytes: (bytes) => this.#fromHome(bytes),
      drained: () => {
        this.#unread = 0;
      },
      closed: () => this.#end(TAB_CLOSED.ended, "The home has closed it."),
    });
  }

  message(message: string | Uint8Array): void {
    if (this.#isOver) return;
    if (typeof message === "string") this.#end(TAB_CLOSED.notBinary, "Only bytes are passed on.");
    else this.#toHome(message);
  }

  #toHome(bytes: Uint8Array): void {
    const isTaken = this.#stream.send(bytes);
    this.#unread = isTaken ? 0 : this.#unread + bytes.length;
    if (this.#unread > MAX_UNREAD) this.#end(TAB_CLOSED.flooded, "The home does not read that fast."); // TA2
  }

  drained(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#stream.resume();
  }

  closed(): void {
    this.#over();
  }

  #fromHome(bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#socket.send(new Uint8Array(bytes));
    if (this.#socket.waiting <= MAX_WAITING || this.#isPaused) return;
    this.#isPaused = true; // TA1
    this.#stream.pause();
  }

  #end(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#over();
    this.#socket.close(code, reason);
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stream.destroy();
    this.#left();
  }
}
