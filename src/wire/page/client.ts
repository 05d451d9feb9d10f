// The page's side of its WebSocket: calls, notices and streams, over connections that are lost and made again.
// PC1. Every call ends: with a result, a refusal of the daemon or the host, or the refusal that the connection is gone.
// PC2. A lost connection is made again, later after each failure, until the browser is signed out. Nothing is sent
//      again by itself: whether a call was carried out is not known here.
// PC3. The number of a call or a stream is used once in the life of the page, so a late message finds nobody.
// PC4. When the connection is lost, each stream is closed, without an exit.
import { backoffMs } from "../../base/backoff.ts";
import { ok, type Refusal, type Result } from "../../base/result.ts";
import type { DeviceRights } from "../../core/devices.ts";
import type { HolderExit } from "../holder/protocol.ts";
import type { Notice } from "../rpc/rpc.ts";
import {
  CLOSE,
  type DaemonState,
  type HostMessage,
  type PageMessage,
  type PageMethods,
  parseHostMessage,
  readStream,
  streamMessage,
} from "./messages.ts";

/** What is needed of a WebSocket; `page/browser.ts` has it. */
export type PageWire = { send(message: string | Uint8Array<ArrayBuffer>): void; close(): void };
export type PageWireEvents = {
  opened(): void;
  text(message: string): void;
  bytes(message: Uint8Array): void;
  closed(code: number, reason: string): void;
};

export type PageClientPorts = {
  connect(events: PageWireEvents): PageWire;
  token(): string;
  after(ms: number, fn: () => void): () => void;
  chance(): number;
};

/** `device`: the id of this browser, if the host names it. */
export type Welcome = {
  readonly version: string;
  readonly home: string;
  readonly device: string | undefined;
  readonly rights: DeviceRights;
};

export type LinkState =
  /** `code`: why the last connection ended (`CLOSE`), or 0. */
  | { readonly kind: "connecting"; readonly failures: number; readonly code: number }
  | ({ readonly kind: "up" } & Welcome)
  | { readonly kind: "signed out"; readonly why: string };

export type PageClientEvents = {
  link(state: LinkState): void;
  daemon(state: DaemonState): void;
  notice(notice: Notice): void;
};

export type StreamEvents = {
  bytes(bytes: Uint8Array): void;
  closed(exit: HolderExit | null, why: Refusal | null): void;
};

/** One connection to a terminal's holder. */
export type PageStream = { send(bytes: Uint8Array): void; took(bytes: number): void; close(): void };

/** People watch: however long a host was away, the page is whole again within two seconds of its return. */
const AGAIN = { firstMs: 250, mostMs: 1_000, jitter: 0.2 };
/** After too many wrong tokens or connections. */
const WAIT_MS = 30_000;

export const NO_HOST: Refusal = {
  code: "host.gone",
  message: "The web host does not answer.",
  hint: "The watchdog starts it again. Look whether it was done, then try again.",
};

type Waiting = (answer: Result<unknown>) => void;

export class PageClient {
  readonly #ports: PageClientPorts;
  readonly #events: PageClientEvents;
  readonly #calls = new Map<number, Waiting>();
  readonly #streams = new Map<number, StreamEvents>();
  #wire: PageWire | undefined;
  /** The host has answered our hello. */
  #isUp = false;
  #last = 0;
  #failures = 0;
  #code = 0;
  #cancel: () => void = () => undefined;

  constructor(ports: PageClientPorts, events: PageClientEvents) {
    this.#ports = ports;
    this.#events = events;
  }

  /** Connects now, also if the next try was planned for later. */
  start(): void {
    this.#cancel();
    if (this.#wire !== undefined) return;
    this.#events.link({ kind: "connecting", failures: this.#failures, code: this.#code });
    const wire: PageWire = this.#ports.connect({
      opened: () => this.#send({ type: "hello", token: this.#ports.token() }),
      text: (message) => this.#take(parseHostMessage(message)),
      bytes: (message) => this.#piece(message),
      closed: (code, reason) => {
        if (this.#wire === wire) this.#closed(code, reason);
      },
    });
    this.#wire = wire;
  }

  async call<M extends keyof PageMethods>(
    method: M,
    params: PageMethods[M]["params"],
  ): Promise<Result<PageMethods[M]["result"]>> {
    if (!this.#isUp) return { ok: false, error: NO_HOST };
    const id = this.#number();
    const answer = new Promise<Result<unknown>>((resolve) => this.#calls.set(id, resolve));
    this.#send({ type: "call", id, method, params });
    // The host answers with what the daemon built from the same types.
    return (await answer) as Result<PageMethods[M]["result"]>;
  }

  /** Undefined if there is no connection. */
  open(terminal: string, events: StreamEvents): PageStream | undefined {
    if (!this.#isUp) return undefined;
    const stream = this.#number();
    this.#streams.set(stream, events);
    this.#send({ type: "open", stream, terminal });
    return {
      send: (bytes) => {
        if (this.#streams.has(stream)) this.#wire?.send(streamMessage(stream, bytes));
      },
      took: (bytes) => {
        if (this.#streams.has(stream)) this.#send({ type: "took", stream, bytes });
      },
      close: () => {
        if (this.#streams.delete(stream)) this.#send({ type: "close", stream });
      },
    };
  }

  /** PC3 */
  #number(): number {
    this.#last += 1;
    return this.#last;
  }

  #send(message: PageMessage): void {
    this.#wire?.send(JSON.stringify(message));
  }

  #piece(message: Uint8Array): void {
    const piece = readStream(message);
    if (piece !== undefined) this.#streams.get(piece.stream)?.bytes(piece.bytes);
  }

  #take(message: HostMessage | undefined): void {
    if (message?.type === "welcome") this.#welcomed(message);
    if (message?.type === "result") this.#answer(message.id, ok(message.result));
    if (message?.type === "refused") this.#answer(message.id, { ok: false, error: message.error });
    if (message?.type === "notice") this.#events.notice({ topic: message.topic, data: message.data });
    if (message?.type === "daemon") this.#events.daemon({ up: message.up, why: message.why });
    if (message?.type === "closed") this.#endStream(message.stream, message.exit, message.why);
  }

  #welcomed({ version, home, device, rights = "type" }: Extract<HostMessage, { readonly type: "welcome" }>): void {
    this.#isUp = true;
    this.#failures = 0;
    this.#send({ type: "watch", topics: ["*"] });
    this.#events.link({ kind: "up", version, home, device, rights });
  }

  #answer(id: number, answer: Result<unknown>): void {
    const waiting = this.#calls.get(id);
    this.#calls.delete(id);
    waiting?.(answer);
  }

  #endStream(stream: number, exit: HolderExit | null, why: Refusal | null): void {
    const events = this.#streams.get(stream);
    this.#streams.delete(stream);
    events?.closed(exit, why);
  }

  #closed(code: number, reason: string): void {
    this.#wire = undefined;
    this.#isUp = false;
    for (const id of [...this.#calls.keys()]) this.#answer(id, { ok: false, error: NO_HOST }); // PC1
    for (const stream of [...this.#streams.keys()]) this.#endStream(stream, null, NO_HOST); // PC4
    if (code === CLOSE.signedOut) this.#events.link({ kind: "signed out", why: reason });
    else this.#planNext(code);
  }

  /** PC2 */
  #planNext(code: number): void {
    this.#failures += 1;
    this.#code = code;
    this.#events.link({ kind: "connecting", failures: this.#failures, code });
    const ms = code === CLOSE.tooMany ? WAIT_MS : backoffMs(this.#failures, this.#ports.chance(), AGAIN);
    this.#cancel = this.#ports.after(ms, () => this.start());
  }
}
