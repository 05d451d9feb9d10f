// A relay in the test's process that serves the page under the name of a home, and passes bytes between browsers and a
// home that the test plays by the page's protocol. It can meddle with what it passes.

import { MAX_LINE } from "../../src/wire/lines.ts";
import { Channel, type ChannelEnd } from "../../src/wire/noise/channel.ts";
import type { Bytes } from "../../src/wire/noise/crypto.ts";
import { PAIR_LINK, pairingPsk, tokenPsk } from "../../src/wire/noise/psk.ts";
import {
  CLOSE,
  type HostMessage,
  type PageMessage,
  parsePageMessage,
  TUNNEL_PATH,
} from "../../src/wire/page/messages.ts";
import { VERSION } from "../../src/wire/version.ts";
import { type PageFiles, unpack } from "../../src/world/page-files.ts";
import { buildPage } from "../../src/world/real/page-build.ts";
import { HOME, web } from "./channels.ts";

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "manifest-src 'self'",
];
const AT = "2026-11-18T00:00:00.000Z";

/** What a browser and its home said, as the relay saw it. */
export type Passed = { readonly toHome: Bytes[]; readonly toDevice: Bytes[] };
type Tab = { channel: Channel | undefined; readonly passed: Passed };
type Socket = Bun.ServerWebSocket<Tab>;

export class SmallRelay {
  readonly secret = crypto.getRandomValues(new Uint8Array(16));
  /** By the device's public key; its token. */
  readonly devices = new Map<string, string>();
  readonly connections: Passed[] = [];
  readonly ends: ChannelEnd[] = [];
  /** What the devices have asked for. */
  readonly calls: string[] = [];
  /** What is passed to the device in place of what the home sent. */
  meddle: (bytes: Bytes, passed: Passed) => Uint8Array = (bytes) => bytes;
  isHomeAway = false;
  /** The home knows the secret, and pairs nobody. */
  isFull = false;
  /** Nobody answers. */
  isDown = false;
  /** It serves the next version of the page, with a worker of its own. */
  isNewer = false;
  /** That the home says it has. */
  version: string = VERSION;
  /** How often the page itself was asked for. */
  pages = 0;
  /** Everything is dropped, and nothing is closed. */
  isSilent = false;
  readonly #server: Bun.Server<Tab>;
  readonly #sockets = new Set<Socket>();
  #usedSecret = false;

  private constructor(files: PageFiles) {
    this.#server = Bun.serve<Tab>({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request, server) => this.#answer(request, server, files),
      websocket: {
        open: (socket) => this.#opened(socket),
        message: (socket, message) => void this.#fromDevice(socket, new Uint8Array(Buffer.from(message))),
        close: (socket) => {
          this.#sockets.delete(socket);
          socket.data.channel?.lost();
        },
      },
    });
  }

  static async start(): Promise<SmallRelay> {
    return new SmallRelay(unpack((await buildPage()).files));
  }

  get url(): string {
    return `http://home.localhost:${this.#server.port}/`;
  }

  get pairUrl(): string {
    return `${this.url}#${PAIR_LINK.name}=${PAIR_LINK.write({ secret: this.secret, home: HOME.publicKey })}`;
  }

  /** By the home, in the channel. */
  signOut(): void {
    this.devices.clear();
    for (const { data } of this.#sockets) data.channel?.close(CLOSE.signedOut, "This browser is not signed in.");
  }

  /** By the relay, with a close code of its choice. */
  cut(code: number): void {
    for (const socket of this.#sockets) socket.close(code, "");
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }

  #answer(request: Request, server: Bun.Server<Tab>, files: PageFiles): Response | undefined {
    if (this.isDown) return new Response("", { status: 502 });
    const { pathname } = new URL(request.url);
    const data: Tab = { channel: undefined, passed: { toHome: [], toDevice: [] } };
    if (pathname === TUNNEL_PATH)
      return server.upgrade(request, { data }) ? undefined : new Response("", { status: 400 });
    const file = files.get(pathname);
    if (file === undefined) return new Response("", { status: 404 });
    const nonce = crypto.randomUUID();
    const body = this.#served(pathname, file.bytes, nonce);
    if (request.mode === "navigate" || request.headers.get("sec-fetch-mode") === "navigate") this.pages += 1;
    const policy = [...POLICY, `style-src 'self' 'nonce-${nonce}'`].join("; ");
    return new Response(body, { headers: { "content-type": file.type, "content-security-policy": policy } });
  }

  #served(path: string, bytes: Bytes, nonce: string): Bytes | string {
    const text = () => new TextDecoder().decode(bytes).replaceAll("%NONCE%", nonce);
    if (path === "/") return this.isNewer ? text().replace("<title>", '<meta name="newer" /><title>') : text();
    return path === "/worker.js" && this.isNewer ? text().replace(/(build\\*":\\*")\w+/, "$1newer") : bytes;
  }

  #opened(socket: Socket): void {
    if (this.isHomeAway) socket.close(CLOSE.noHome, "");
    else this.#connect(socket);
  }

  #connect(socket: Socket): void {
    this.#sockets.add(socket);
    const { passed } = socket.data;
    this.connections.push(passed);
    const ports = {
      ...{ crypto: web, most: MAX_LINE, close: () => socket.close(1000, "") },
      send: (bytes: Bytes) => {
        passed.toDevice.push(bytes);
        if (!this.isSilent) socket.send(this.meddle(bytes, passed));
      },
    };
    const channel = Channel.respond(
      ports,
      { key: HOME, pskOf: (peer) => this.#psksOf(peer.toHex()) },
      {
        open: (peer) => this.#admitted(channel, peer.toHex()),
        message: (message) => typeof message === "string" && this.#take(channel, parsePageMessage(message)),
        closed: (end) => this.ends.push(end),
      },
    );
    socket.data.channel = channel;
  }

  async #fromDevice({ data }: Socket, bytes: Bytes): Promise<void> {
    data.passed.toHome.push(bytes);
    await data.channel?.receive(bytes);
  }

  async #psksOf(peer: string): Promise<readonly Bytes[]> {
    const token = this.devices.get(peer);
    if (token !== undefined) return [await tokenPsk(web, token)];
    return this.#usedSecret && !this.isFull ? [] : [await pairingPsk(web, this.secret)];
  }

  #admitted(channel: Channel, peer: string): void {
    if (this.devices.has(peer)) return;
    if (this.isFull) channel.close(CLOSE.signedOut, "This link is too old.");
    else this.#pair(channel, peer);
  }

  #pair(channel: Channel, peer: string): void {
    this.#usedSecret = true;
    const token = crypto.randomUUID();
    this.devices.set(peer, token);
    send(channel, { type: "paired", token });
  }

  #take(channel: Channel, message: PageMessage | undefined): void {
    const isKnown = (token: string) => [...this.devices.values()].includes(token);
    if (message?.type === "hello" && !isKnown(message.token)) channel.close(CLOSE.signedOut, "This is not the token.");
    else if (message?.type === "hello") send(channel, { type: "welcome", version: this.version, home: "/h" });
    else if (message?.type === "watch") send(channel, { type: "daemon", up: true, why: "" });
    else if (message?.type === "call") this.#call(channel, message);
  }

  #call(channel: Channel, { id, method }: Extract<PageMessage, { readonly type: "call" }>): void {
    this.calls.push(method);
    const device = { id: "d", name: "a phone", madeAt: AT, usedAt: AT };
    const results: Readonly<Record<string, unknown>> = { "device.list": [device], "device.revoke": device };
    const error = { code: "none", message: "This home has nothing.", hint: "" };
    if (Object.hasOwn(results, method)) send(channel, { type: "result", id, result: results[method] });
    else send(channel, { type: "refused", id, error });
  }
}

function send(channel: Channel, message: HostMessage): void {
  channel.send(JSON.stringify(message));
}
