// HTTP: a server for browsers and agents on this machine, on loopback only, and a client for remote services.
// HT1. We listen only on 127.0.0.1: no setting opens it to others. `PublicHttp` is for the relay alone, which has no
//      home: its operator says where it listens.
// HT2. An error in a handler becomes a bare 500: no stack, no path and no secret leaks through an error.
// HT3. A request body is read only on demand, and one over the limit is refused by the server itself.
// HT4. The client follows no redirects and reads a body only as fast as it is consumed. `stop` cancels; a broken
//      connection is a Fault.
// HT5. A handler only gets a target that is a path of ours, with one slash in front: `//x` would be another host when
//      it is resolved. Anything else, and a Host that makes no address, is answered with 400.
// HT6. A WebSocket is opened only if the handler says so. A message over the limit closes it, and so does a client that
//      is gone without a word. An error in its events closes it, and is reported like that of a handler.

export type HttpRequest = {
  readonly method: string;
  /** The path and the query (HT5). */
  readonly target: string;
  /** By lower-case name. */
  header(name: string): string | undefined;
  /** HT3 */
  body(): Promise<string>;
};

export type HttpResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer>;
};

/** HT6. The request becomes a WebSocket. `accept` is called once it is open, and returns what listens to it. */
export type HttpUpgrade = { accept(socket: WebSocketConnection): WebSocketEvents };

export interface WebSocketConnection {
  /** Sends a message. What the system does not accept now is queued in memory and sent later. */
  send(message: string | Uint8Array<ArrayBuffer>): void;
  /** The number of queued bytes. The caller decides how much is too much. */
  readonly waiting: number;
  /** Sends what is queued, then closes. */
  close(code: number, reason: string): void;
  /** Closes now; what is queued is dropped. */
  destroy(): void;
}

export type WebSocketEvents = {
  message(message: string | Uint8Array): void;
  /** Nothing is queued any more. */
  drained?(): void;
  /** Called once, whichever side closed it. */
  closed(): void;
};

export type Answered = HttpResponse | HttpUpgrade;
export type Answer = (request: HttpRequest) => Answered | Promise<Answered>;

export interface HttpListener {
  readonly port: number;
  /** Stops at once; requests in progress are cut off. */
  close(): Promise<void>;
}

export type ListenOptions = {
  /** 0 takes any free port. */
  readonly port: number;
  /** The longest accepted body; the default is tiny. */
  readonly maxBody?: number;
  /** The longest accepted message of a WebSocket. */
  readonly maxMessage?: number;
  /** Receives the errors that HT2 hides. */
  failed(error: unknown): void;
};

export interface Http {
  /** Fault EADDRINUSE if the port is taken. */
  listen(options: ListenOptions, answer: Answer): HttpListener;
}

/** Key and certificate, as PEM. */
export type TlsFiles = { readonly key: string; readonly certificate: string };
export type PublicRequest = HttpRequest & { /** Of the client, or of the proxy before us. */ readonly address: string };

export interface PublicListener extends HttpListener {
  /** The certificate from now on; what is connected stays. Fault EINVAL if it cannot be used: then nothing changes. */
  renew(tls: TlsFiles): void;
}

/** HT1. Over TLS 1.2 or newer if there is a certificate. */
export interface PublicHttp {
  listen(
    options: ListenOptions & { readonly host: string; readonly tls?: TlsFiles },
    answer: (request: PublicRequest) => Answered | Promise<Answered>,
  ): PublicListener;
}

export type Posting = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export interface Posted {
  readonly status: number;
  header(name: string): string | null;
  /** The body as it arrives (HT4). */
  text(): AsyncIterable<string>;
  stop(): void;
}

/** HT4 */
export interface HttpClient {
  /** Resolves with the head of the response. If `stopped` resolves first, the request is cancelled with a Fault. */
  post(posting: Posting, stopped: Promise<void>): Promise<Posted>;
}
