// A tab of a browser as the web host sees it: a real WebSocket, by the messages of wire/page/messages.ts.
import type { Result } from "../../src/base/result.ts";
import type { HolderDial, HolderWireEvents } from "../../src/wire/holder/framed-connection.ts";
import {
  type HostMessage,
  type PageMessage,
  parseHostMessage,
  readStream,
  SOCKET_PATH,
  streamMessage,
} from "../../src/wire/page/messages.ts";
import { until } from "../until.ts";

type Stream = HolderWireEvents & { received: number };
export type TabClosed = { readonly code: number; readonly reason: string };

export class Tab {
  readonly seen: HostMessage[] = [];
  readonly #socket: WebSocket;
  readonly #opened = Promise.withResolvers<boolean>();
  readonly #closed = Promise.withResolvers<TabClosed>();
  readonly #streams = new Map<number, Stream>();
  #last = 0;
  /** Whether the page reports what it has processed. */
  takes = true;

  constructor(origin: string, headers: Readonly<Record<string, string>> = { origin }) {
    this.#socket = new WebSocket(`${origin.replace("http", "ws")}${SOCKET_PATH}`, { headers });
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onopen = () => this.#opened.resolve(true);
    this.#socket.onmessage = ({ data }) => this.#message(data);
    this.#socket.onclose = ({ code, reason }) => this.#end({ code, reason });
  }

  /** A tab that is signed in and welcome. Throws if there is no host. */
  static async of(origin: string, token: string): Promise<Tab> {
    const tab = new Tab(origin);
    if (!(await tab.opened)) throw new Error("the host does not answer");
    tab.say({ type: "hello", token });
    const closed = await Promise.race([tab.closed, tab.sees("welcome")]);
    if ("code" in closed) throw new Error(`closed with ${closed.code}: ${closed.reason}`);
    return tab;
  }

  /** False if it was refused. */
  get opened(): Promise<boolean> {
    return this.#opened.promise;
  }

  get closed(): Promise<TabClosed> {
    return this.#closed.promise;
  }

  say(message: PageMessage): void {
    this.raw(JSON.stringify(message));
  }

  raw(message: string | Uint8Array<ArrayBuffer>): void {
    this.#socket.send(message);
  }

  async sees<T extends HostMessage["type"]>(type: T, is: (message: HostMessage) => boolean = () => true) {
    type Seen = Extract<HostMessage, { readonly type: T }>;
    const isIt = (message: HostMessage): message is Seen => message.type === type && is(message);
    return until(
      `the page gets ${type}`,
      () => this.seen.find(isIt),
      () => this.seen.slice(-5),
    );
  }

  async call(method: string, params: Readonly<Record<string, unknown>> = {}): Promise<Result<unknown>> {
    this.#last += 1;
    const id = this.#last;
    this.say({ type: "call", id, method, params });
    const isAnswer = (message: HostMessage) =>
      (message.type === "result" || message.type === "refused") && message.id === id;
    const answer = await until(
      `${method} is answered`,
      () => this.seen.find(isAnswer),
      () => this.seen.slice(-5),
    );
    if (answer.type === "refused") return { ok: false, error: answer.error };
    return { ok: true, value: answer.type === "result" ? answer.result : undefined };
  }

  /** For a HolderClient. */
  dial(terminal: string): HolderDial {
    return async (events) => {
      this.#last += 1;
      const stream = this.#last;
      if (this.#socket.readyState !== WebSocket.OPEN) throw new Error("the tab is not connected");
      this.#streams.set(stream, { ...events, received: 0 });
      this.say({ type: "open", stream, terminal });
      const close = () => {
        this.#streams.delete(stream);
        this.say({ type: "close", stream });
      };
      return { send: (bytes) => this.raw(streamMessage(stream, bytes)), end: close, destroy: close };
    };
  }

  /** Reports what it has not reported yet, and from now on everything. */
  takeAll(): void {
    this.takes = true;
    for (const [stream, { received }] of this.#streams) this.say({ type: "took", stream, bytes: received });
  }

  close(): void {
    this.#socket.close();
  }

  #message(data: string | ArrayBuffer): void {
    if (typeof data !== "string") this.#piece(new Uint8Array(data));
    else this.#told(data);
  }

  #told(data: string): void {
    const message = parseHostMessage(data);
    if (message === undefined) throw new Error(`the host sent ${data}`);
    this.seen.push(message);
    if (message.type !== "closed") return;
    const stream = this.#streams.get(message.stream);
    this.#streams.delete(message.stream);
    stream?.closed();
  }

  #piece(message: Uint8Array): void {
    const piece = readStream(message);
    const stream = piece && this.#streams.get(piece.stream);
    if (piece === undefined || stream === undefined) return;
    stream.received += piece.bytes.length;
    stream.bytes(piece.bytes);
    if (this.takes) this.say({ type: "took", stream: piece.stream, bytes: stream.received });
  }

  #end(closed: TabClosed): void {
    this.#opened.resolve(false);
    this.#closed.resolve(closed);
    for (const [number, stream] of this.#streams) {
      this.#streams.delete(number);
      stream.closed();
    }
  }
}
