// The door to browsers and agents on this machine: HTTP, on loopback and nowhere else. And the door to services elsewhere, as a client.
// HT1. Only 127.0.0.1 is listened on: no setting opens it to others.
// HT2. Whatever an answer throws becomes a bare 500: no stack, no path, no secret leaves through an error.
// HT3. A request's body is read only by who asks for it, and one over the limit is refused by the server itself.
// HT4. As a client: nothing is followed to another place, and what comes is read as fast as it is taken. Who does not want it any more
//      says `stop`; a broken connection is a Fault.

export type HttpRequest = {
  readonly method: string;
  /** The path and the query, as they were sent. */
  readonly target: string;
  /** By lower-case name. */
  header(name: string): string | undefined;
  /** HT3 */
  body(): Promise<string>;
};

export type HttpResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type Answer = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

export interface HttpListener {
  readonly port: number;
  /** Stops at once; what is under way is cut off. */
  close(): Promise<void>;
}

export type ListenOptions = {
  /** 0 takes any free one. */
  readonly port: number;
  /** The longest body that is taken; without one next to nothing is. */
  readonly maxBody?: number;
  /** Told what HT2 hides. */
  failed(error: unknown): void;
};

export interface Http {
  /** Fault EADDRINUSE where somebody has the port. */
  listen(options: ListenOptions, answer: Answer): HttpListener;
}

export type Posting = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export interface Posted {
  readonly status: number;
  header(name: string): string | null;
  /** The body as it comes; ends with it (HT4). */
  text(): AsyncIterable<string>;
  stop(): void;
}

/** HT4 */
export interface HttpClient {
  /** Resolves with the head of the answer. `stop` in the meantime calls it off, and it is a Fault. */
  post(posting: Posting, stopped: Promise<void>): Promise<Posted>;
}
