// A client of the daemon: sends requests and receives the notices it subscribed to. The caller passes in the
// connection.
// Q1. Every call ends: with a result, a refusal, or the refusal that the daemon is gone or that its answer is too long.
// Q2. With a time limit, a call is refused when that is over, even if the daemon is stopped or hangs. The request may
//     still be carried out, so it is not retried here. Only a recovery is waited for without a limit.
// Q3. The first requests may be sent together with the hello, without waiting for its answer: every daemon answers in
//     order, and does nothing for a client whose hello it refuses. Only questions: what changes something must not be
//     sent to a daemon of which nothing is known.
import { ok, type Refusal, type Result } from "../../base/result.ts";
import type { RecoveryStage } from "../../core/recovery.ts";
import { decodeLine, encodeLine, isObject, LineReader, MAX_ANSWER } from "../lines.ts";
import { type Method, type Methods, type Notice, RPC_PROTOCOL } from "./rpc.ts";

/** What this side needs of a connection. */
export type Wire = { send(bytes: Uint8Array): void; end(): void };
export type WireEvents = { bytes(bytes: Uint8Array): void; closed(): void };
export type Dial = (events: WireEvents) => Promise<Wire>;

export const GONE: Refusal = {
  code: "daemon.gone",
  message: "The daemon ended before it answered.",
  hint: "Nothing acknowledged is lost. Try again: the watchdog restarts it.",
};

/** No answer within the time for it. */
export const SILENT = "daemon.silent";
/** The codes of refusals that only mean: there is no answer now. */
export const HUSHED: readonly string[] = [GONE.code, SILENT, "not-live"];

/** How long an answer may take (Q2), and the timer for it. */
export type Patience = { readonly ms: number; after(ms: number, fn: () => void): () => void };

/** `first` sends requests together with the hello (Q3). */
type Manner = Patience & { readonly first?: ((client: RpcClient) => void) | undefined };

/** A recovery lasts as long as it makes progress, and has its own timeouts. */
const UNLIMITED: readonly Method[] = ["recovery.retry"];

export function silence(ms: number): Refusal {
  return {
    code: SILENT,
    message: `The daemon has not answered for ${ms / 1000} s; the request may still be carried out.`,
    hint: "If it hangs, the watchdog restarts it; terminals keep running. See `holdfast status`, then try again.",
  };
}

type Waiting = (answer: Result<unknown>) => void;

const TOO_LONG: Refusal = {
  code: "answer.too-long",
  message: `The daemon's answer is longer than ${MAX_ANSWER >> 20} MiB.`,
  hint: "The daemon may be older than the command: holdfast down && holdfast up",
};

export class RpcClient {
  readonly #reader = new LineReader(MAX_ANSWER);
  #wire: Wire | undefined;
  readonly #waiting = new Map<number, Waiting>();
  readonly #closed = Promise.withResolvers<void>();
  readonly #patience: Patience | undefined;
  #last = 0;
  #isClosed = false;
  #stage: RecoveryStage | undefined;
  onNotice: ((notice: Notice) => void) | undefined;

  private constructor(patience: Patience | undefined) {
    this.#patience = patience;
  }

  /** Connects and says hello. */
  static async connect(dial: Dial, token: string, version: string, how?: Manner): Promise<Result<RpcClient>> {
    const client = new RpcClient(how); // Before the dial: the daemon may close at once.
    client.#wire = await dial({ bytes: (bytes) => client.#bytes(bytes), closed: () => client.gone() });
    const greeted = client.#greet({ token, version, protocol: RPC_PROTOCOL });
    how?.first?.(client); // Q3
    const hello = await greeted;
    if (hello.ok) return ok(client);
    client.close();
    return hello;
  }

  async #greet(params: Methods["hello"]["params"]): Promise<Result<Methods["hello"]["result"]>> {
    const hello = await this.call("hello", params);
    if (hello.ok) this.#stage = hello.value.stage;
    return hello;
  }

  #bytes(bytes: Uint8Array): void {
    const lines = this.#reader.push(bytes);
    if (lines === undefined) this.close(TOO_LONG);
    for (const line of lines ?? []) this.take(line);
  }

  /** How far the daemon was when it greeted us; undefined before that, and from daemons of older versions. */
  get stage(): RecoveryStage | undefined {
    return this.#stage;
  }

  /** Resolves when the connection is closed, by either side. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  async call<M extends Method>(method: M, params: Methods[M]["params"]): Promise<Result<Methods[M]["result"]>> {
    // The daemon builds answers from the same types; `hello` compared the versions.
    return (await this.ask(method, params)) as Result<Methods[M]["result"]>;
  }

  /** For another client's parameters, which the daemon checks. */
  async ask(method: Method, params: object): Promise<Result<unknown>> {
    if (this.#isClosed || this.#wire === undefined) return { ok: false, error: GONE };
    this.#last += 1;
    const id = this.#last;
    const answer = new Promise<Result<unknown>>((resolve) => this.#waiting.set(id, resolve));
    this.#wire.send(encodeLine({ jsonrpc: "2.0", id, method, params }));
    const cancel = this.#limit(method, id);
    return answer.finally(cancel);
  }

  /** Q2 */
  #limit(method: Method, id: number): () => void {
    const patience = this.#patience;
    if (patience === undefined || UNLIMITED.includes(method)) return () => undefined;
    return patience.after(patience.ms, () => this.#end(id, { ok: false, error: silence(patience.ms) }));
  }

  /** Ends a call unless it has ended: an answer that comes too late is ignored. */
  #end(id: number, answer: Result<unknown>): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.(answer);
  }

  close(why: Refusal = GONE): void {
    this.#wire?.end();
    this.gone(why);
  }

  take(line: string): void {
    const message = decodeLine(line, MAX_ANSWER);
    if (message === undefined) return;
    if (message["method"] === "notice") this.#notice(message["params"]);
    const { id } = message;
    if (typeof id !== "number") return;
    const { error, result } = message;
    this.#end(id, error === undefined ? ok(result) : { ok: false, error: refusalIn(error) });
  }

  #notice(params: unknown): void {
    if (isObject(params) && typeof params["topic"] === "string") {
      this.onNotice?.({ topic: params["topic"], data: params["data"] });
    }
  }

  gone(why: Refusal = GONE): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const waiting of this.#waiting.values()) waiting({ ok: false, error: why }); // Q1
    this.#waiting.clear();
    this.#closed.resolve();
  }
}

function refusalIn(error: unknown): Refusal {
  const data = isObject(error) ? error["data"] : undefined;
  const text = (key: string) => (isObject(data) && typeof data[key] === "string" ? data[key] : undefined);
  const message =
    text("message") ??
    (isObject(error) && typeof error["message"] === "string" ? error["message"] : "The daemon refused.");
  return { code: text("code") ?? "refused", message, hint: text("hint") ?? "See `holdfast logs`." };
}
