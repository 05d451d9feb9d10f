// A device elsewhere, by the page's own code: its channel, its client and its streams. What a browser gives the page (a
// WebSocket, a place to keep its key) is played; the relay is reached on this machine, under the host name of the home.

import { TerminalStream } from "../src/page/terminal/stream.ts";
import { HolderClient, type HolderEvents } from "../src/wire/holder/client.ts";
import { MAX_ANSWER } from "../src/wire/lines.ts";
import { Channel, type ChannelEnd } from "../src/wire/noise/channel.ts";
import { PAIR_LINK, pairingPsk, tokenPsk } from "../src/wire/noise/psk.ts";
import { WebNoise } from "../src/wire/noise/web-crypto.ts";
import { type LinkState, PageClient, type PageWire, type PageWireEvents } from "../src/wire/page/client.ts";
import { CLOSE, parseHostMessage, TUNNEL_PATH } from "../src/wire/page/messages.ts";

/** What a device keeps, as text. `secret` is of its pairing link; `token` is empty until it is paired. */
export type KeptDevice = {
  readonly url: string;
  readonly key: string;
  readonly home: string;
  readonly secret: string;
  readonly token: string;
};

type DevicePorts = {
  /** Stores it: a device that was killed comes back with that. */
  keep(kept: KeptDevice): void;
  /** The connection, the daemon or something at home is not what it was. */
  changed(): void;
  /** Instead of the one in its address. */
  readonly port?: number;
};

const KEY_BYTES = 32;
const CUT = 1006;
const noise = new WebNoise(crypto.subtle);

/** A device that is not paired yet, by the link that `holdfast pair` printed. */
export function newDevice(link: string): KeptDevice {
  const { origin, hash } = new URL(link);
  const pairing = PAIR_LINK.read(hash.slice(`#${PAIR_LINK.name}=`.length));
  if (pairing === undefined) throw new Error(`${link} is not a pairing link`);
  const key = crypto.getRandomValues(new Uint8Array(KEY_BYTES)).toHex();
  return { url: origin, key, home: pairing.home.toHex(), secret: pairing.secret.toHex(), token: "" };
}

export class FarDevice {
  readonly client: PageClient;
  /** What it was told of its connection, the last one last. */
  readonly links: LinkState[] = [];
  #kept: KeptDevice;
  readonly #ports: DevicePorts;
  #socket: WebSocket | undefined;
  #isOver = false;
  readonly #waiting = new Set<() => void>();

  constructor(kept: KeptDevice, given: Partial<DevicePorts> = {}) {
    this.#kept = kept;
    this.#ports = { keep: () => undefined, changed: () => undefined, ...given };
    const after = (ms: number, fn: () => void) => {
      const timer = setTimeout(fn, ms);
      return () => clearTimeout(timer);
    };
    this.client = new PageClient(
      { connect: (events) => this.#connect(events), token: () => this.#kept.token, after, chance: Math.random },
      { link: (state) => this.#link(state), daemon: this.#ports.changed, notice: this.#ports.changed },
    );
  }

  get kept(): KeptDevice {
    return this.#kept;
  }

  /** Resolves when the home has welcomed it. */
  async up(): Promise<void> {
    this.client.start();
    while (this.links.at(-1)?.kind !== "up") await new Promise<void>((done) => this.#waiting.add(done));
  }

  /** A client of a terminal's holder, as the page has one for each window. */
  terminal(id: string, events: HolderEvents): HolderClient {
    const dial = async (wire: { bytes(bytes: Uint8Array): void; closed(): void }) => {
      const open: PageClient["open"] = (terminal, own) => this.client.open(terminal, own);
      return new TerminalStream(open, id, { ...wire, ended: () => undefined });
    };
    return new HolderClient(dial, { token: "", writer: crypto.randomUUID(), from: 0 }, events);
  }

  /** For good. */
  close(): void {
    this.#isOver = true;
    this.#socket?.terminate();
  }

  #link(state: LinkState): void {
    this.links.push(state);
    for (const done of this.#waiting) done();
    this.#waiting.clear();
    this.#ports.changed();
  }

  #connect(events: PageWireEvents): PageWire {
    let channel: Channel | undefined;
    let isClosed = false;
    const { host, port } = new URL(this.#kept.url);
    const at = this.#ports.port ?? port;
    const options: Bun.WebSocketOptions = { headers: { host, origin: this.#kept.url } };
    const socket = new WebSocket(`ws://127.0.0.1:${at}${TUNNEL_PATH}`, options);
    const closed = (end: ChannelEnd) => {
      if (isClosed || this.#isOver) return;
      isClosed = true;
      const isOut = end.kind === "refused" || end.kind === "stranger";
      if (end.kind === "closed") events.closed(end.code, end.reason);
      else events.closed(isOut ? CLOSE.signedOut : CUT, end.kind);
    };
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = async () => {
      channel = await this.#open(socket, events, closed);
    };
    socket.onmessage = ({ data }) => void channel?.receive(new Uint8Array(data));
    socket.onclose = () => (channel === undefined ? closed({ kind: "lost" }) : channel.lost());
    return { send: (message) => channel?.send(message), close: () => socket.close() };
  }

  async #open(socket: WebSocket, events: PageWireEvents, closed: (end: ChannelEnd) => void): Promise<Channel> {
    const { key, home, secret, token } = this.#kept;
    const psk = await (token === "" ? pairingPsk(noise, Uint8Array.fromHex(secret)) : tokenPsk(noise, token));
    const self = { key: await noise.keyFrom(Uint8Array.fromHex(key)), home: Uint8Array.fromHex(home), psk };
    const ports = { crypto: noise, send: (bytes: Uint8Array<ArrayBuffer>) => socket.send(bytes), most: MAX_ANSWER };
    return Channel.initiate({ ...ports, close: () => socket.close() }, self, {
      open: () => {
        if (token !== "") events.opened();
      },
      message: (message) => this.#take(message, events),
      closed,
    });
  }

  #take(message: string | Uint8Array, events: PageWireEvents): void {
    const paired = this.#kept.token === "" && typeof message === "string" ? parseHostMessage(message) : undefined;
    if (paired?.type === "paired") {
      this.#kept = { ...this.#kept, token: paired.token };
      this.#ports.keep(this.#kept);
      events.opened();
    } else if (typeof message === "string") events.text(message);
    else events.bytes(message);
  }
}
