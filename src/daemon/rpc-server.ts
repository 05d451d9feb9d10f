// The daemon's interface for clients: one unix socket, one JSON-RPC message per line.
// Z1. The first request is `hello` with a known token, compared in constant time; nothing else is answered before it. A
//     client that does not send it soon is disconnected, and neither silent strangers nor the bearers of agents' tokens
//     can use up the connections (base/places.ts). This home's token gives access to everything; another one (an
//     agent's) to the few methods meant for its bearer. At the door of the sandboxes only those are known.
// Z2. A client that sends an invalid request, too long a line or too many requests at once, or does not read its
//     notifications, is disconnected, and nothing that it sent after that is done; other clients are not affected.
// Z3. The path leads to us as long as we run: if it is removed, it is bound again; a successor's is left alone.
// Z4. An error while answering a request, a Fault or a bug, only affects that answer, not the daemon. A bug is logged,
//     with its method and where it was thrown. Its words are only sent to the client: they may quote what it sent.
// Z5. Only the operator changes anything (core/principal.ts): before the first request of a connection that would, the
//     process behind it is looked at. A process that may not is refused, and the attempt is recorded. Looking is free.
// Z6. The token of a browser of the operator (core/devices.ts) gives access to everything as well. It is the browser
//     that asks, not the web host between it and us; it is disconnected when its token is revoked. A paired device may
//     have fewer rights: whatever they do not cover is refused here.
// Z7. An answer that is longer than clients read is refused with its length; lists are paged (pages.ts).
import { type Budget, isExhausted, newBudget, spend } from "../base/budget.ts";
import { isFault } from "../base/fault.ts";
import { own } from "../base/own.ts";
import { type PlaceLimits, Places } from "../base/places.ts";
import { type Refusal, type Result, refused } from "../base/result.ts";
import { placeOf } from "../base/thrown.ts";
import { type Device, type DeviceRights, deviceMay, notItsRight } from "../core/devices.ts";
import { type Caller, mayAct, RIGHTS, type Right } from "../core/principal.ts";
import type { Callers } from "../home/callers.ts";
import { decodeLine, encodeLine, LineReader, MAX_ANSWER } from "../wire/lines.ts";
import {
  BAD_PARAMS,
  errorLine,
  type Method,
  NO_METHOD,
  NO_SUCH_METHOD,
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
/** More than one person's windows and pages; each needs a file descriptor. Each process of an agent has a shim. */
const PLACES: PlaceLimits = { all: 512, silent: 64, guests: 128, guest: 32 };
const DOOR_PLACES: PlaceLimits = { ...PLACES, all: 128 }; // Of all sandboxes together.
/** Refused attempts that are logged: an agent that tries again and again must not fill the log. */
const LOGGED = newBudget(20, 60_000);
/** Z5. The compiler demands a row for every method. */
const ROWS: Readonly<Record<Method, Right>> = RIGHTS;

/** The parameters of a request as received: not checked yet. */
export type Given = Readonly<Record<string, unknown>>;
/** `by`: who asks; undefined for a request that changes nothing. */
export type Handler = (params: Given, by?: Caller) => Promise<Result<unknown>>;
export type Handlers = Readonly<Record<string, Handler>>;
/** The bearer of a token other than this home's: who it is, and what it may ask. */
export type Bearer = { readonly id: string; readonly handlers: Handlers };
/** `door`: for sandboxes (Z1). */
export type ListenerKind = "main" | "door";
export type ServerOptions = {
  readonly clock: Clock;
  readonly token: string;
  /** Undefined for an unknown token. */
  readonly others?: (token: string) => Bearer | undefined;
  /** The operator's browser that has this token (Z6). */
  readonly devices?: (token: string) => Pick<Device, "id" | "rights"> | undefined;
  /** Z5. Without it, everyone with this home's token is the operator. */
  readonly callers?: Pick<Callers, "of" | "refusal">;
  /** Why a method is not available yet; undefined if it never will be. */
  readonly missing?: () => Result<never> | undefined;
  readonly version: string;
  readonly pid: number;
  readonly stage?: () => string; // How far the daemon is, for the hello: a client need not ask.
  readonly say?: (words: string) => void; // Z4
};

export class RpcServer {
  readonly #handlers: Handlers;
  readonly #bus: Bus;
  readonly #options: ServerOptions;
  readonly #places = { main: new Places<Client>(PLACES), door: new Places<Client>(DOOR_PLACES) };
  readonly #clients = new Set<Client>();
  #logged: Budget = LOGGED;
  readonly #listeners = new Map<string, { readonly kind: ListenerKind; readonly listener: Listener }>();

  constructor(handlers: Handlers, bus: Bus, options: ServerOptions) {
    this.#handlers = handlers;
    this.#bus = bus;
    this.#options = options;
  }

  async listen(sockets: Sockets, path: string, kind: ListenerKind = "main"): Promise<void> {
    if (this.#listeners.get(path)?.listener.inPlace() === true) return;
    const listener = await sockets.listen(path, (connection) => this.#accept(connection, kind));
    this.#listeners.get(path)?.listener.close();
    this.#listeners.set(path, { kind, listener });
  }

  /** Z3. Binds again what was removed. Throws a Fault if that fails; the next call retries. */
  async look(sockets: Sockets): Promise<void> {
    for (const [path, { kind, listener }] of this.#listeners)
      if (!listener.inPlace()) await this.listen(sockets, path, kind);
  }

  /** Accepts no new clients; connected ones are still answered. */
  hide(): void {
    for (const { listener } of this.#listeners.values()) listener.close();
    this.#listeners.clear();
  }

  close(): void {
    this.hide();
    for (const client of this.#clients) client.end();
  }

  /** Z6 */
  disconnect(device: string): void {
    for (const client of this.#clients) if (client.device === device) client.destroy();
  }

  #accept(connection: Connection, kind: ListenerKind): ConnectionEvents {
    const places = this.#places[kind];
    const client = new Client(connection, {
      ...{ all: this.#handlers, bus: this.#bus, options: this.#options, kind },
      mustProve: () => places.isHalfFull,
      sit: (guest) => places.sit(client, guest),
      refused: (words) => this.#log(words),
    });
    this.#clients.add(client);
    places.enter(client);
    return {
      bytes: (bytes) => client.bytes(bytes),
      closed: () => {
        this.#clients.delete(client);
        places.leave(client);
        client.closed();
      },
    };
  }

  #log(words: string): void {
    const now = this.#options.clock.elapsed();
    if (isExhausted(this.#logged, now)) return;
    this.#logged = spend(this.#logged, now);
    this.#options.say?.(words);
  }
}

/** What a client gets from the server. */
type ClientPorts = {
  readonly all: Handlers;
  readonly bus: Bus;
  readonly options: ServerOptions;
  readonly kind: ListenerKind;
  /** Whether it must show that it is the operator to get a place. */
  mustProve(): boolean;
  /** Returns false if there is no place. */
  sit(guest: string | undefined): boolean;
  /** Logs an attempt. */
  refused(words: string): void;
};

class Client {
  readonly #connection: Connection;
  readonly #ports: ClientPorts;
  readonly #options: ServerOptions;
  readonly #reader = new LineReader();
  /** What it may ask, once it has identified itself (Z1). */
  #handlers: Handlers | undefined;
  /** Who it is, once that was looked up (Z5), or its token has said it (Z6). */
  #caller: Caller | undefined;
  #rights: DeviceRights | undefined; // Of a paired device (Z6).
  /** It was turned away: nothing that it sent after that is done. */
  #left = false;
  #open = 0;
  #unsubscribe: (() => void) | undefined;
  /** One for the whole connection, so that the bus knows who has heard what (BU1). */
  readonly #notify = (topic: string, data: unknown): void => this.#send(noticeLine({ topic, data }));
  readonly #stopWaiting: () => void;

  constructor(connection: Connection, ports: ClientPorts) {
    this.#connection = connection;
    this.#ports = ports;
    this.#options = ports.options;
    this.#stopWaiting = ports.options.clock.after(HELLO_MS, () => this.destroy()); // Z1
  }

  get device(): string | undefined {
    return this.#caller?.device;
  }

  bytes(bytes: Uint8Array): void {
    const lines = this.#reader.push(bytes);
    if (lines === undefined) this.destroy(); // Z2
    for (const line of lines ?? []) if (!this.#left) this.#line(line);
  }

  closed(): void {
    this.#left = true;
    this.#stopWaiting();
    this.#unsubscribe?.();
  }

  /** Sends what is queued, then closes. */
  end(): void {
    this.#connection.end();
  }

  destroy(): void {
    this.#left = true;
    this.#connection.destroy();
  }

  #line(line: string): void {
    const message = decodeLine(line);
    const request = message === undefined ? undefined : parseRequest(message);
    if (request === undefined)
      this.#turnAway(null, PARSE_ERROR, NOT_A_REQUEST); // Z2
    else if (this.#handlers === undefined) this.#greet(request);
    else if (request.method === "subscribe" && this.#handlers === this.#ports.all) this.#subscribe(request);
    else void this.#answer(request, this.#handlers);
  }

  #turnAway(id: number | null, code: number, refusal: Refusal): void {
    this.#send(errorLine(id, code, refusal));
    this.#left = true;
    this.#connection.end();
  }

  #greet({ id, method, params }: Request): void {
    const { version, pid, stage } = this.#options;
    const bearer = method === "hello" && typeof params["token"] === "string" ? this.#opens(params["token"]) : undefined;
    const protocol = params["protocol"] === RPC_PROTOCOL ? undefined : otherProtocol(version);
    const known = bearer === undefined ? STRANGER : protocol;
    const refusal = known ?? (this.#ports.sit(this.#guestOf(bearer)) ? undefined : NO_PLACE);
    this.#stopWaiting();
    if (refusal === undefined) this.#handlers = bearer?.handlers;
    if (refusal === undefined) this.#send(resultLine(id, { version, protocol: RPC_PROTOCOL, pid, stage: stage?.() }));
    else this.#turnAway(id, REFUSAL, refusal);
  }

  /** Z1. The operator has no id. */
  #opens(token: string): Partial<Bearer> | undefined {
    const { all, kind, options } = this.#ports;
    if (kind === "main" && sameSecret(token, options.token)) return { handlers: all };
    const device = kind === "main" ? options.devices?.(token) : undefined;
    if (device === undefined) return options.others?.(token);
    this.#rights = device.rights;
    this.#caller = { principal: "operator", device: device.id, pid: null, exe: null, tty: null }; // Z6
    return { handlers: all };
  }

  /** Who takes one of the guests' places; undefined for the operator. */
  #guestOf(bearer: Partial<Bearer> | undefined): string | undefined {
    if (bearer?.id !== undefined || !this.#ports.mustProve()) return bearer?.id;
    const caller = this.#who();
    return caller === undefined || mayAct(caller) ? undefined : (caller.agent ?? caller.principal);
  }

  /** Z5 */
  #who(): Caller | undefined {
    this.#caller ??= this.#options.callers?.of(this.#connection);
    return this.#caller;
  }

  /** Z5. Why it may not ask this, with this home's token. */
  #whyNot(method: string): Refusal | undefined {
    const caller = this.#who();
    const refusal = caller && this.#options.callers?.refusal(caller, method);
    if (refusal !== undefined) this.#ports.refused(`refused ${method}: ${refusal.message}`);
    return refusal;
  }

  #subscribe({ id, params }: Request): void {
    const { topics } = params;
    if (!Array.isArray(topics) || !topics.every((topic) => typeof topic === "string")) {
      this.#send(errorLine(id, BAD_PARAMS, BAD_TOPICS));
      return;
    }
    this.#send(resultLine(id, {}));
    this.#unsubscribe?.();
    this.#unsubscribe = this.#ports.bus.subscribe(topics, this.#notify);
  }

  async #answer({ id, method, params }: Request, handlers: Handlers): Promise<void> {
    this.#open += 1;
    if (this.#open > MAX_OPEN_REQUESTS) return this.destroy(); // Z2
    const handler = own(handlers, method);
    const answer =
      handler === undefined
        ? this.#options.missing?.()
        : await this.#handled(method, async () => this.#asked(method, params, handler));
    this.#open -= 1;
    if (answer === undefined) this.#send(errorLine(id, NO_METHOD, noMethod(method)));
    else if (answer.ok) this.#sendResult({ id, method }, answer.value);
    else this.#send(errorLine(id, REFUSAL, answer.error));
  }

  /** Z5. An agent's token has opened only what its bearer may ask. */
  async #asked(method: string, params: Given, handler: Handler): Promise<Result<unknown>> {
    const right = own(ROWS, method);
    if (this.#rights !== undefined && !deviceMay(this.#rights, method, right))
      return { ok: false, error: notItsRight(this.#rights, method) };
    if (this.#handlers !== this.#ports.all || right === "look") return handler(params);
    if (right === "inspect") return handler(params, this.#who());
    const refusal = this.#whyNot(method);
    return refusal === undefined ? handler(params, this.#caller) : { ok: false, error: refusal };
  }

  /** Z4. What is nested too deeply cannot be written. */
  #sendResult({ id, method }: Pick<Request, "id" | "method">, value: unknown): void {
    try {
      const line = encodeLine(resultLine(id, value));
      if (line.length <= MAX_ANSWER) this.#sendLine(line);
      else this.#send(errorLine(id, REFUSAL, tooLong(method, line.length))); // Z7
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
    this.#sendLine(encodeLine(message));
  }

  #sendLine(line: Uint8Array): void {
    if (this.#connection.waiting > MAX_WAITING_BYTES) this.destroy();
    else this.#connection.send(line);
  }
}

function failed(error: unknown): Refusal {
  const hint = "The daemon keeps running. `holdfast doctor` shows whether something else is wrong; please report it.";
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
const NO_PLACE: Refusal = {
  code: "rpc.busy",
  message: "There are too many connections to the daemon.",
  hint: "Agents have limits of their own: end what keeps connections open, then try again.",
};
const BAD_TOPICS: Refusal = {
  code: "rpc.params",
  message: "`topics` must be a list of strings.",
  hint: 'For example ["terminal.*"].',
};

function tooLong(method: string, bytes: number): Refusal {
  const message = `The answer to ${method} has ${bytes} bytes, more than a client reads (${MAX_ANSWER}).`;
  const hint = "The command may be older than the daemon, which answers in pages: use the one of the same version.";
  return { code: "answer.too-long", message, hint };
}

function otherProtocol(version: string): Refusal {
  const hint = "Use the holdfast command of the same version, or restart the daemon: holdfast down && holdfast up";
  return { code: "rpc.protocol", message: `The daemon is version ${version} and speaks another protocol.`, hint };
}

function noMethod(method: string): Refusal {
  const hint = "The daemon may be older than the command: holdfast down && holdfast up";
  return { code: NO_SUCH_METHOD, message: `The daemon has no method ${JSON.stringify(method)}.`, hint };
}
