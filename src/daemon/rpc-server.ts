// The daemon's interface for clients: one unix socket, one JSON-RPC message per line.
// Z1. The first request is `hello` with a known token, compared in constant time; nothing else is answered before it. A
//     client that does not send it soon is disconnected: silent strangers must not use up the connections. This home's
//     token gives access to everything; another one (an agent's) to the few methods meant for its bearer.
// Z2. A client that sends an invalid request, too long a line or too many requests at once, or does not read its
//     notifications, is disconnected, and nothing that it sent after that is done; other clients are not affected.
// Z3. The path leads to us as long as we run: if it is removed, it is bound again; a successor's is left alone.
// Z4. An error while answering a request, a Fault or a bug, only affects that answer, not the daemon. A bug is logged,
//     with its method and where it was thrown. Its words are only sent to the client: they may quote what it sent.

import { isFault } from "../base/fault.ts";
import { own } from "../base/own.ts";
import { type Refusal, type Result, refused } from "../base/result.ts";
import { placeOf } from "../base/thrown.ts";
import { decodeLine, encodeLine, LineReader } from "../wire/lines.ts";
import {
  BAD_PARAMS,
  errorLine,
  NO_METHOD,
  noticeLine,
  PARSE_ERROR,
  parseRequest,
  REFUSAL,
  type Request,
  RPC_PROTOCOL,
  resultLine,
} from "../wire/rpc/rpc.ts";
import type { Clock } from "../world/clock.ts";
import { sameSecret } from "../world/hash.ts";
import type { Connection, ConnectionEvents, Listener, Sockets } from "../world/socket.ts";
import type { Bus } from "./bus.ts";

/** Z1: our clients send hello at once. */
const HELLO_MS = 10_000;
/** More than a busy page sends at once. */
const MAX_OPEN_REQUESTS = 256;
/** A client that has this much waiting when there is more for it does not read. One answer may be longer. */
const MAX_WAITING_BYTES = 4 << 20;
/** More than one person's windows and pages; each needs a file descriptor. */
const MAX_CLIENTS = 512;

/** The parameters of a request as received: not checked yet. */
export type Given = Readonly<Record<string, unknown>>;
export type Handler = (params: Given) => Promise<Result<unknown>>;
export type Handlers = Readonly<Record<string, Handler>>;
export type ServerOptions = {
  readonly clock: Clock;
  readonly token: string;
  /** What the bearer of a token other than this home's may ask; undefined for an unknown token. */
  readonly others?: (token: string) => Handlers | undefined;
  /** Why a method is not available yet; undefined if it never will be. */
  readonly missing?: () => Result<never> | undefined;
  readonly version: string;
  readonly pid: number;
  /** Z4 */
  readonly say?: (words: string) => void;
};

export class RpcServer {
  readonly #handlers: Handlers;
  readonly #bus: Bus;
  readonly #options: ServerOptions;
  readonly #clients = new Set<Connection>();
  readonly #listeners = new Map<string, Listener>();

  constructor(handlers: Handlers, bus: Bus, options: ServerOptions) {
    this.#handlers = handlers;
    this.#bus = bus;
    this.#options = options;
  }

  async listen(sockets: Sockets, path: string): Promise<void> {
    if (this.#listeners.get(path)?.inPlace() === true) return;
    const listener = await sockets.listen(path, (connection) => this.#accept(connection));
    this.#listeners.get(path)?.close();
    this.#listeners.set(path, listener);
  }

  /** Z3. Binds again what was removed. Throws a Fault if that fails; the next call retries. */
  async look(sockets: Sockets): Promise<void> {
    for (const [path, listener] of this.#listeners) if (!listener.inPlace()) await this.listen(sockets, path);
  }

  /** Accepts no new clients; connected ones are still answered. */
  hide(): void {
    for (const listener of this.#listeners.values()) listener.close();
    this.#listeners.clear();
  }

  close(): void {
    this.hide();
    for (const client of this.#clients) client.end();
  }

  #accept(connection: Connection): ConnectionEvents {
    const client = new Client(connection, this.#handlers, this.#bus, this.#options);
    this.#clients.add(connection);
    if (this.#clients.size > MAX_CLIENTS) connection.destroy();
    return {
      bytes: (bytes) => client.bytes(bytes),
      closed: () => {
        this.#clients.delete(connection);
        client.closed();
      },
    };
  }
}

class Client {
  readonly #connection: Connection;
  readonly #all: Handlers;
  readonly #bus: Bus;
  readonly #options: ServerOptions;
  readonly #reader = new LineReader();
  /** What it may ask, once it has identified itself (Z1). */
  #handlers: Handlers | undefined;
  /** It was turned away: nothing that it sent after that is done. */
  #left = false;
  #open = 0;
  #unsubscribe: (() => void) | undefined;
  readonly #stopWaiting: () => void;

  constructor(connection: Connection, handlers: Handlers, bus: Bus, options: ServerOptions) {
    this.#connection = connection;
    this.#all = handlers;
    this.#bus = bus;
    this.#options = options;
    this.#stopWaiting = options.clock.after(HELLO_MS, () => this.#cut()); // Z1
  }

  bytes(bytes: Uint8Array): void {
    const lines = this.#reader.push(bytes);
    if (lines === undefined) this.#cut(); // Z2
    for (const line of lines ?? []) if (!this.#left) this.#line(line);
  }

  closed(): void {
    this.#left = true;
    this.#stopWaiting();
    this.#unsubscribe?.();
  }

  #cut(): void {
    this.#left = true;
    this.#connection.destroy();
  }

  #line(line: string): void {
    const message = decodeLine(line);
    const request = message === undefined ? undefined : parseRequest(message);
    if (request === undefined)
      this.#turnAway(null, PARSE_ERROR, NOT_A_REQUEST); // Z2
    else if (this.#handlers === undefined) this.#greet(request);
    else if (request.method === "subscribe" && this.#handlers === this.#all) this.#subscribe(request);
    else void this.#answer(request, this.#handlers);
  }

  #turnAway(id: number | null, code: number, refusal: Refusal): void {
    this.#send(errorLine(id, code, refusal));
    this.#left = true;
    this.#connection.end();
  }

  #greet({ id, method, params }: Request): void {
    const { version, pid } = this.#options;
    const allowed =
      method === "hello" && typeof params["token"] === "string" ? this.#opens(params["token"]) : undefined;
    const known = allowed === undefined ? STRANGER : undefined;
    const refusal = known ?? (params["protocol"] === RPC_PROTOCOL ? undefined : otherProtocol(version));
    this.#stopWaiting();
    if (refusal === undefined) this.#handlers = allowed;
    if (refusal === undefined) this.#send(resultLine(id, { version, protocol: RPC_PROTOCOL, pid }));
    else this.#turnAway(id, REFUSAL, refusal);
  }

  /** Z1 */
  #opens(token: string): Handlers | undefined {
    return sameSecret(token, this.#options.token) ? this.#all : this.#options.others?.(token);
  }

  #subscribe({ id, params }: Request): void {
    const { topics } = params;
    if (!Array.isArray(topics) || !topics.every((topic) => typeof topic === "string")) {
      this.#send(errorLine(id, BAD_PARAMS, BAD_TOPICS));
      return;
    }
    this.#unsubscribe?.();
    this.#unsubscribe = this.#bus.subscribe(topics, (topic, data) => this.#send(noticeLine({ topic, data })));
    this.#send(resultLine(id, {}));
  }

  async #answer({ id, method, params }: Request, handlers: Handlers): Promise<void> {
    this.#open += 1;
    if (this.#open > MAX_OPEN_REQUESTS) return this.#cut(); // Z2
    const handler = own(handlers, method);
    const answer =
      handler === undefined ? this.#options.missing?.() : await this.#handled(method, () => handler(params));
    this.#open -= 1;
    if (answer === undefined) this.#send(errorLine(id, NO_METHOD, noMethod(method)));
    else if (answer.ok) this.#sendResult({ id, method }, answer.value);
    else this.#send(errorLine(id, REFUSAL, answer.error));
  }

  /** Z4. What is nested too deeply cannot be written. */
  #sendResult({ id, method }: Pick<Request, "id" | "method">, value: unknown): void {
    try {
      this.#send(resultLine(id, value));
    } catch (error) {
      this.#send(errorLine(id, REFUSAL, this.#failed(method, error)));
    }
  }

  /** Z4 */
  async #handled(method: string, work: () => Promise<Result<unknown>>): Promise<Result<unknown>> {
    try {
      return await work();
    } catch (error) {
      if (!isFault(error)) return { ok: false, error: this.#failed(method, error) };
      return { ok: false, error: { code: error.code, message: error.message, hint: error.hint } };
    }
  }

  /** Z4 */
  #failed(method: string, error: unknown): Refusal {
    this.#options.say?.(`a request (${method}) could not be answered, because of a bug of holdfast: ${placeOf(error)}`);
    return failed(error);
  }

  /** Z2 */
  #send(message: unknown): void {
    if (this.#connection.waiting > MAX_WAITING_BYTES) this.#cut();
    else this.#connection.send(encodeLine(message));
  }
}

function failed(error: unknown): Refusal {
  const hint = "The daemon goes on. `holdfast doctor` shows whether something else is wrong; please report it.";
  return refused("bug", `holdfast has a bug: ${error instanceof Error ? error.message : String(error)}`, hint).error;
}

const NOT_A_REQUEST: Refusal = {
  code: "rpc.parse",
  message: "That was not a JSON-RPC request.",
  hint: "Send one JSON object per line.",
};
const STRANGER: Refusal = {
  code: "rpc.token",
  message: "The token is not the one of this home.",
  hint: "Clients read it from run/token.",
};
const BAD_TOPICS: Refusal = {
  code: "rpc.params",
  message: "`topics` must be a list of strings.",
  hint: 'For example ["terminal.*"].',
};

function otherProtocol(version: string): Refusal {
  const hint = "Use the holdfast command of the same version, or restart the daemon: holdfast down && holdfast up";
  return { code: "rpc.protocol", message: `The daemon is version ${version} and speaks another protocol.`, hint };
}

function noMethod(method: string): Refusal {
  const hint = "The daemon may be older than the command: holdfast down && holdfast up";
  return { code: "rpc.method", message: `The daemon has no method ${JSON.stringify(method)}.`, hint };
}
