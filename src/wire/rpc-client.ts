// A client of the daemon: asks, and hears what it subscribed to. The connection is passed in; this side only speaks.
// Q1. Every call ends: with a result, a refusal, or the refusal that the daemon went away.
import { ok, type Refusal, type Result } from "../base/result.ts";
import { decodeLine, encodeLine, isObject, LineReader } from "./lines.ts";
import { type Method, type Methods, type Notice, RPC_PROTOCOL } from "./rpc.ts";

/** What this side needs of a connection. */
export type Wire = { send(bytes: Uint8Array): void; end(): void };
export type WireEvents = { bytes(bytes: Uint8Array): void; closed(): void };
export type Dial = (events: WireEvents) => Promise<Wire>;

export const GONE: Refusal = {
  code: "daemon.gone",
  message: "The daemon went away before it answered.",
  hint: "Nothing acknowledged is lost. Try again: the watchdog starts it anew.",
};

type Waiting = (answer: Result<unknown>) => void;

export class RpcClient {
  readonly #reader = new LineReader();
  #wire: Wire | undefined;
  readonly #waiting = new Map<number, Waiting>();
  readonly #closed = Promise.withResolvers<void>();
  #last = 0;
  #isClosed = false;
  onNotice: ((notice: Notice) => void) | undefined;

  /** Connects and says hello. */
  static async connect(dial: Dial, token: string, version: string): Promise<Result<RpcClient>> {
    const client = new RpcClient(); // Before the dial: the other side may close as soon as it has opened.
    client.#wire = await dial({ bytes: (bytes) => client.#bytes(bytes), closed: () => client.gone() });
    const hello = await client.call("hello", { token, version, protocol: RPC_PROTOCOL });
    if (hello.ok) return ok(client);
    client.close();
    return hello;
  }

  #bytes(bytes: Uint8Array): void {
    const lines = this.#reader.push(bytes);
    if (lines === undefined) this.close();
    for (const line of lines ?? []) this.take(line);
  }

  /** Resolves when the connection is closed, by whomever. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  async call<M extends Method>(method: M, params: Methods[M]["params"]): Promise<Result<Methods[M]["result"]>> {
    if (this.#isClosed || this.#wire === undefined) return { ok: false, error: GONE };
    this.#last += 1;
    const id = this.#last;
    const answer = new Promise<Result<unknown>>((resolve) => this.#waiting.set(id, resolve));
    this.#wire.send(encodeLine({ jsonrpc: "2.0", id, method, params }));
    // The daemon's own types made the answer; versions were compared by `hello`.
    return (await answer) as Result<Methods[M]["result"]>;
  }

  close(): void {
    this.#wire?.end();
    this.gone();
  }

  take(line: string): void {
    const message = decodeLine(line);
    if (message === undefined) return;
    if (message["method"] === "notice") this.#notice(message["params"]);
    const { id } = message;
    const waiting = typeof id === "number" ? this.#waiting.get(id) : undefined;
    if (waiting === undefined || typeof id !== "number") return;
    this.#waiting.delete(id);
    waiting(message["error"] === undefined ? ok(message["result"]) : { ok: false, error: refusalIn(message["error"]) });
  }

  #notice(params: unknown): void {
    if (isObject(params) && typeof params["topic"] === "string") {
      this.onNotice?.({ topic: params["topic"], data: params["data"] });
    }
  }

  gone(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const waiting of this.#waiting.values()) waiting({ ok: false, error: GONE }); // Q1
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
