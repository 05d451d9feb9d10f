// A WebSocket of the HTTP server, through Bun.
// RW1. After the close nothing is sent, and the close is reported once.
import type { HttpUpgrade, WebSocketConnection, WebSocketEvents } from "../http.ts";

/** A client that does not answer Bun's pings for this long is gone (HT6). */
const IDLE_S = 60;
/** What an error of ours is to a client. */
const INTERNAL_ERROR = 1011;

type Socket = Bun.ServerWebSocket<RealWebSocket>;

export class RealWebSocket implements WebSocketConnection {
  readonly #accept: HttpUpgrade["accept"];
  readonly #failed: (error: unknown) => void;
  #socket: Socket | undefined;
  #events: WebSocketEvents | undefined;

  constructor(accept: HttpUpgrade["accept"], failed: (error: unknown) => void) {
    this.#accept = accept;
    this.#failed = failed;
  }

  opened(socket: Socket): void {
    socket.binaryType = "uint8array";
    this.#socket = socket;
    this.#trying(() => {
      this.#events = this.#accept(this);
    });
  }

  send(message: string | Uint8Array<ArrayBuffer>): void {
    this.#socket?.send(message);
  }

  get waiting(): number {
    return this.#socket?.getBufferedAmount() ?? 0;
  }

  close(code: number, reason: string): void {
    this.#socket?.close(code, reason);
  }

  destroy(): void {
    this.#socket?.terminate();
  }

  message(message: string | Uint8Array): void {
    this.#trying(() => this.#events?.message(message));
  }

  drained(): void {
    this.#trying(() => this.#events?.drained?.());
  }

  closed(): void {
    this.#socket = undefined; // RW1
    this.#trying(() => this.#events?.closed());
  }

  /** HT6 */
  #trying(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#failed(error);
      this.close(INTERNAL_ERROR, "");
    }
  }
}

export const WEBSOCKET_HANDLERS = {
  idleTimeout: IDLE_S,
  sendPings: true,
  perMessageDeflate: false,
  open: (socket: Socket) => socket.data.opened(socket),
  message: (socket: Socket, message: string | Uint8Array) => socket.data.message(message),
  drain: (socket: Socket) => socket.data.drained(),
  close: (socket: Socket) => socket.data.closed(),
};
