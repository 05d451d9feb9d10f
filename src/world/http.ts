// The door to browsers on this machine: HTTP, on loopback and nowhere else.
// HT1. Only 127.0.0.1 is listened on: no setting opens it to others.
// HT2. Whatever an answer throws becomes a bare 500: no stack, no path, no secret leaves through an error.
// HT3. A request's body is never read, and one over the limit is refused by the server itself.

export type HttpRequest = {
  readonly method: string;
  /** The path and the query, as they were sent. */
  readonly target: string;
  /** By lower-case name. */
  header(name: string): string | undefined;
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

export interface Http {
  /** Port 0 takes any free one. Fault EADDRINUSE where somebody has it. `failed` is told what HT2 hides. */
  listen(port: number, answer: Answer, failed: (error: unknown) => void): HttpListener;
}
