// One tab of a browser: its WebSocket, by the messages of wire/page/messages.ts.
// PS1. The first message is `hello` with the browser's token, within seconds; before it nothing else is done.
// PS2. The token is looked up again before everything that a message asks for, and whenever the daemon ends its
//      connection: a browser that was signed out is closed at once, and learns nothing more.
// PS3. What is not in the protocol or over a limit closes this socket, and no other one. An error of ours ends the
//      call that it was in.
// PS4. A tab that does not read is closed: what is sent to it does not pile up.
// PS5. What the host does itself is refused to a device without the right to it; the daemon does the same for its own.
import { isFault } from "../base/fault.ts";
import { type Refusal, type Result, refused } from "../base/result.ts";
import { type Device, type DeviceRights, deviceMayType, notItsRight } from "../core/devices.ts";
import { DaemonLink, type LinkPorts } from "../home/daemon-link.ts";
import {
  CLOSE,
  type DaemonState,
  type HostMessage,
  isDaemonMethod,
  type PageMessage,
  parsePageMessage,
  type WebMethods,
} from "../wire/page/messages.ts";
import { isWebMethod, pageMay } from "../wire/page/rights.ts";
import type { Notice } from "../wire/rpc/rpc.ts";
import { VERSION } from "../wire/version.ts";
import type { Clock } from "../world/clock.ts";
import type { WebSocketConnection, WebSocketEvents } from "../world/http.ts";
import type { Browsers } from "./browsers.ts";
import type { StreamWorld } from "./holder-stream.ts";
import { TabStreams } from "./tab-streams.ts";

/** PS1 */
const HELLO_MS = 5_000;
/** More than a busy page asks at once. The daemon's own limit is higher. */
const MAX_CALLS = 128;
const MAX_TOPICS = 32;
/** PS4. Streams have limits of their own; this is for notices, and for answers one of which may be longer. */
const MAX_WAITING = 32 << 20;

export type SocketPorts = {
  readonly world: StreamWorld & { readonly clock: Clock };
  readonly dial: LinkPorts["dial"];
  readonly browsers: Pick<Browsers, "of" | "wrong">;
  /** A place for a tab of this browser; false if there is none. */
  sit(tab: PageSocket, browser: string): boolean;
  leave(tab: PageSocket): void;
  /** Receives bugs of ours. */
  failed(error: unknown): void;
  /** What the host answers itself. */
  own(method: keyof WebMethods, params: object, link: DaemonLink): Promise<Result<unknown>>;
};

type Call = Extract<PageMessage, { readonly type: "call" }>;

export class PageSocket implements WebSocketEvents {
  readonly #socket: WebSocketConnection;
  readonly #ports: SocketPorts;
  readonly #streams: TabStreams;
  readonly #stopWaiting: () => void;
  /** Once it has said hello. */
  #tab: { readonly token: string; readonly link: DaemonLink; readonly rights: DeviceRights } | undefined;
  #watches = false;
  #calls = 0;
  #closed = false;

  constructor(socket: WebSocketConnection, ports: SocketPorts) {
    this.#socket = socket;
    this.#ports = ports;
    this.#streams = new TabStreams(ports.world, (message) => this.#send(message), ports.failed);
    this.#stopWaiting = ports.world.clock.after(HELLO_MS, () => this.#close(CLOSE.signedOut, "There was no hello."));
  }

  message(message: string | Uint8Array): void {
    if (this.#closed) return;
    const parsed = typeof message === "string" ? parsePageMessage(message) : undefined;
    if (parsed?.type === "hello") this.#hello(parsed.token);
    else if (this.#known() !== undefined && !this.#take(parsed, message)) this.#close(CLOSE.broken, BROKEN); // PS3
  }

  closed(): void {
    this.#end();
  }

  notice({ topic, data }: Notice): void {
    if (this.#watches) this.#send({ type: "notice", topic, data: data ?? null });
  }

  /** For lack of a place. */
  destroy(): void {
    this.#close(CLOSE.tooMany, "There are too many open pages.");
  }

  #hello(token: string): void {
    const { browsers, sit } = this.#ports;
    const browser = browsers.of(token);
    if (browser === undefined) {
      if (browsers.wrong()) this.#close(CLOSE.tooMany, "There were too many wrong tokens. Wait a minute.");
      else this.#close(CLOSE.signedOut, SIGN_IN);
    } else if (this.#tab !== undefined) this.#close(CLOSE.broken, BROKEN);
    else if (sit(this, browser.id)) this.#welcome(token, browser);
    else this.destroy();
  }

  #welcome(token: string, { id, rights = "type" }: Device): void {
    const { dial, world } = this.#ports;
    this.#stopWaiting();
    this.#send({ type: "welcome", version: VERSION, home: world.home, device: id, rights });
    const link = new DaemonLink({
      ...{ dial, clock: world.clock, token },
      notice: (notice) => this.notice(notice),
      changed: (state) => this.#daemon(state),
    });
    this.#tab = { token, link, rights };
  }

  /** PS1, PS2. Returns undefined if it was closed. */
  #known(): DaemonLink | undefined {
    const { token, link } = this.#tab ?? {};
    if (token !== undefined && this.#ports.browsers.of(token) !== undefined) return link;
    this.#close(CLOSE.signedOut, SIGN_IN);
    return undefined;
  }

  /** Returns false if it is not in the protocol. */
  #take(parsed: PageMessage | undefined, message: string | Uint8Array): boolean {
    if (typeof message !== "string") return this.#streams.piece(message);
    if (parsed?.type === "open") return this.#streams.open(parsed, deviceMayType(this.#tab?.rights ?? "look"));
    if (parsed?.type === "watch" && parsed.topics.length > MAX_TOPICS) return false;
    if (parsed?.type === "call") void this.#call(parsed);
    else if (parsed?.type === "watch") void this.#watch(parsed.topics);
    else if (parsed?.type === "took") this.#streams.took(parsed.stream, parsed.bytes);
    else if (parsed?.type === "close") this.#streams.close(parsed.stream);
    return parsed !== undefined;
  }

  async #call({ id, method, params }: Call): Promise<void> {
    this.#calls += 1;
    const done = this.#calls > MAX_CALLS ? ({ ok: false, error: BUSY } as const) : await this.#called(method, params);
    this.#calls -= 1;
    if (done.ok) this.#send({ type: "result", id, result: done.value ?? null });
    else this.#send({ type: "refused", id, error: done.error });
  }

  async #called(method: string, params: object): Promise<Result<unknown>> {
    const { link, rights = "look" } = this.#tab ?? {};
    try {
      if (link !== undefined && isDaemonMethod(method)) return await link.call(method, params);
      if (link === undefined || !isWebMethod(method)) return { ok: false, error: NO_METHOD };
      if (!pageMay(rights, method)) return { ok: false, error: notItsRight(rights, method) }; // PS5
      return await this.#ports.own(method, params, link);
    } catch (error) {
      if (isFault(error)) return refused(error.code, error.message, error.hint);
      this.#ports.failed(error); // PS3
      return refused("bug", "This failed because of a bug of Holdfast.", "`holdfast logs` has it; please report it.");
    }
  }

  async #watch(topics: readonly string[]): Promise<void> {
    this.#watches = true;
    await this.#tab?.link.watch(topics);
    if (this.#tab !== undefined) this.#daemon(this.#tab.link.state);
  }

  /** The daemon disconnects a browser that is signed out, and does not know it later (PS2). */
  #daemon(state: DaemonState): void {
    if (!this.#closed && this.#known() !== undefined && this.#watches) this.#send({ type: "daemon", ...state });
  }

  #send(message: HostMessage | Uint8Array<ArrayBuffer>): void {
    if (this.#closed) return;
    if (this.#socket.waiting <= MAX_WAITING) {
      this.#socket.send(message instanceof Uint8Array ? message : JSON.stringify(message));
      return;
    }
    this.#end();
    this.#socket.destroy(); // PS4
  }

  #close(code: number, reason: string): void {
    if (this.#closed) return;
    this.#end();
    this.#socket.close(code, reason);
  }

  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopWaiting();
    this.#ports.leave(this);
    this.#tab?.link.close();
    this.#streams.closeAll();
  }
}

const SIGN_IN = "This browser is not signed in. `holdfast open` prints a link that does it.";
const BROKEN = "This is not a message of the page.";

const BUSY: Refusal = {
  code: "page.busy",
  message: "The page asks too much at once.",
  hint: "Wait for earlier answers.",
};
const NO_METHOD: Refusal = {
  code: "page.method",
  message: "The page may not ask for this.",
  hint: "Use the command line.",
};
