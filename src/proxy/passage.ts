// One connection from a sandbox: its first request decides where it leads, if anywhere.
// PS1, PS2 and PS5 are kept by way.ts.
// PS3. Of a request without TLS exactly one body is passed on, and the identity is ours if we have one: no second
//      request rides on the first.
// PS4. While the way is being opened, nothing more is read.

import { ByteQueue } from "../base/byte-queue.ts";
import { isFault } from "../base/fault.ts";
import { answerHead, END, headIn, MAX_HEAD, parseHead, routeOf } from "../wire/proxy/head.ts";
import type { Via } from "../wire/proxy/upstream.ts";
import type { Destination } from "../world/network.ts";
import type { Connection, ConnectionEvents } from "../world/socket.ts";
import { pass } from "./joint.ts";
import { openTunnel, type Tunnel, TunnelEvents } from "./tunnel.ts";
import { BAD_REQUEST, hostText, type Refusal, refusedBy, unreachable, type Way, type WayPorts, wayOf } from "./way.ts";

export type PassagePorts = WayPorts & {
  elapsed(): number;
  closed(passage: Passage): void;
};

/** A program sends its head at once. */
const HEAD_MS = 30_000;
/** Models think for minutes, and send something meanwhile; nobody waits for longer than this. */
const IDLE_MS = 1_800_000;
const ESTABLISHED = "HTTP/1.1 200 Connection established\r\n\r\n";

export class Passage implements ConnectionEvents {
  readonly #ports: PassagePorts;
  readonly #inside: Connection;
  readonly #queue = new ByteQueue();
  #outside: Connection | undefined;
  /** To the proxy of this machine, which has not opened the tunnel yet. */
  #half: Connection | undefined;
  #isOpening = false;
  #isRefused = false;
  #isClosed = false;
  /** How many bytes may still be passed on (PS3). */
  #left = Number.POSITIVE_INFINITY;
  #lastMs: number;

  constructor(ports: PassagePorts, inside: Connection) {
    this.#ports = ports;
    this.#inside = inside;
    this.#lastMs = ports.elapsed();
  }

  bytes(bytes: Uint8Array): void {
    this.#lastMs = this.#ports.elapsed();
    if (this.#outside !== undefined) this.#passOut(bytes, this.#outside);
    else if (!this.#isRefused) this.#gather(bytes);
  }

  drained(): void {
    this.#outside?.resume();
  }

  closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#half?.destroy();
    this.#outside?.end();
    this.#ports.closed(this);
  }

  /** Closes it if nothing happens on it. */
  look(): void {
    const isQuiet = this.#ports.elapsed() - this.#lastMs > (this.#outside === undefined ? HEAD_MS : IDLE_MS);
    if (isQuiet) this.destroy();
  }

  destroy(): void {
    this.#outside?.destroy();
    this.#inside.destroy();
  }

  #gather(bytes: Uint8Array): void {
    this.#queue.push(bytes);
    if (this.#isOpening) return;
    const text = headIn(this.#queue.view());
    if (text !== undefined && text.length <= MAX_HEAD) void this.#begin(text);
    else if (this.#queue.length > MAX_HEAD) this.#refuse({ status: "431 Too Large", words: "The head is too long." });
  }

  async #begin(text: string): Promise<void> {
    this.#isOpening = true;
    this.#inside.pause(); // PS4
    this.#queue.drop(text.length + END.length);
    const head = parseHead(text);
    const route = head && routeOf(head);
    const way = head && route ? await wayOf(this.#ports, head, route) : BAD_REQUEST;
    if (this.#isClosed) return;
    if ("status" in way) return this.#refuse(way);
    await this.#open(way);
  }

  async #open(way: Way): Promise<void> {
    const opened = await this.#connect(way);
    this.#half = undefined;
    if (this.#isClosed) return "status" in opened ? undefined : opened.connection.destroy();
    if ("status" in opened) return this.#refuse(opened);
    const { connection: outside, early } = opened;
    this.#outside = outside;
    this.#left = way.length;
    if (way.first === "") this.#inside.send(Buffer.from(ESTABLISHED));
    else outside.send(Buffer.from(way.first, "latin1"));
    if (early.length > 0) pass(early, outside, this.#inside);
    this.#passOut(this.#queue.view(), outside);
    this.#inside.resume();
  }

  async #connect(way: Way): Promise<Tunnel | Refusal> {
    const { to, tls, via, first } = way;
    const isDirect = via === undefined || (!tls && first !== "");
    if (!isDirect) return this.#through(via, way);
    const { port } = via?.proxy ?? to;
    const connection = await this.#dial(way, { port, tls: tls ? to.host : undefined }, this.#ofOutside());
    return connection === undefined ? unreachable(via?.proxy ?? to) : { connection, early: new Uint8Array() };
  }

  async #through(via: Via, way: Way): Promise<Tunnel | Refusal> {
    const { proxy } = via;
    const [events, end] = [this.#ofOutside(), { target: hostText(way.to), tls: way.tls ? way.to.host : undefined }];
    const gate = new TunnelEvents(events);
    const connection = await this.#dial(way, { port: proxy.port, tls: undefined }, gate);
    if (connection === undefined || this.#isClosed) {
      connection?.destroy();
      return unreachable(proxy);
    }
    this.#half = connection;
    const opened = await openTunnel(this.#ports.network, { connection, gate, via }, end, events);
    if (opened === undefined) return unreachable(way.to);
    return typeof opened === "number" ? refusedBy(via, way.to, opened) : opened;
  }

  /** PS1. The first address that answers. */
  async #dial(
    { addresses }: Way,
    to: Omit<Destination, "address">,
    events: ConnectionEvents,
  ): Promise<Connection | undefined> {
    for (const address of addresses) {
      try {
        return await this.#ports.network.connect({ address, ...to }, events);
      } catch (error) {
        if (!isFault(error)) throw error;
      }
    }
    return undefined;
  }

  #ofOutside(): ConnectionEvents {
    return {
      bytes: (bytes) => {
        this.#lastMs = this.#ports.elapsed();
        if (this.#outside !== undefined) pass(bytes, this.#outside, this.#inside);
      },
      drained: () => this.#inside.resume(),
      closed: () => this.#inside.end(),
    };
  }

  /** PS3 */
  #passOut(bytes: Uint8Array, outside: Connection): void {
    const taken = bytes.subarray(0, Math.min(bytes.length, this.#left));
    this.#left -= taken.length;
    if (taken.length > 0) pass(taken, this.#inside, outside);
  }

  #refuse({ status, words }: Refusal): void {
    this.#isRefused = true;
    this.#inside.send(Buffer.from(answerHead(status, words)));
    this.#inside.end();
  }
}
