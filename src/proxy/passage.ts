// One connection from a sandbox: its first request decides where it leads, if anywhere.
// PS1. Nothing is sent to a host before it was found in the list, and nothing to an address before it was judged
//      (wire/proxy/egress.ts). The address that was judged is the one that is used.
// PS2. The operator's own service is where the operator said it is, be that on this machine.
// PS3. Of a request without TLS exactly one body is passed on, and the identity is ours if we have one: no second
//      request rides on the first.
// PS4. While the way is being opened, nothing more is read.
import { isFault } from "../base/fault.ts";
import { ByteQueue } from "../wire/byte-queue.ts";
import { type Host, hostIn, isListed, mayReach } from "../wire/proxy/egress.ts";
import {
  answerHead,
  bodyLength,
  MAX_HEAD,
  onwardHead,
  parseHead,
  type RequestHead,
  type Route,
  routeOf,
} from "../wire/proxy/head.ts";
import type { ProxyOrder } from "../wire/proxy/order.ts";
import type { Network } from "../world/network.ts";
import type { Connection, ConnectionEvents } from "../world/socket.ts";
import { pass } from "./joint.ts";

export type PassagePorts = {
  readonly network: Network;
  readonly order: ProxyOrder;
  elapsed(): number;
  closed(passage: Passage): void;
};

/** A program sends its head at once. */
const HEAD_MS = 30_000;
/** Models think for minutes, and send something meanwhile; nobody waits for longer than this. */
const IDLE_MS = 1_800_000;
const ESTABLISHED = "HTTP/1.1 200 Connection established\r\n\r\n";
const END = "\r\n\r\n";
const PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** `first`: what the other side gets before anything of the body. */
type Way = { readonly to: Host; readonly tls: boolean; readonly addresses: readonly string[]; readonly first: string };
type Refusal = { readonly status: string; readonly words: string };

export class Passage implements ConnectionEvents {
  readonly #ports: PassagePorts;
  readonly #inside: Connection;
  readonly #queue = new ByteQueue();
  #outside: Connection | undefined;
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
    const end = this.#queue.view().indexOf(END);
    if (end >= 0 && end <= MAX_HEAD) void this.#begin(end);
    else if (this.#queue.length > MAX_HEAD) this.#refuse({ status: "431 Too Large", words: "The head is too long." });
  }

  async #begin(end: number): Promise<void> {
    this.#isOpening = true;
    this.#inside.pause(); // PS4
    const text = this.#queue.view().toString("latin1", 0, end);
    this.#queue.drop(end + END.length);
    const head = parseHead(text);
    const route = head && routeOf(head);
    const way = head && route ? await this.#way(head, route) : BAD_REQUEST;
    if (this.#isClosed) return;
    if ("status" in way) return this.#refuse(way);
    await this.#open(way);
  }

  async #open(way: Way): Promise<void> {
    const outside = await this.#connect(way);
    if (outside === undefined) return this.#refuse(unreachable(way.to));
    if (this.#isClosed) return outside.destroy();
    this.#outside = outside;
    if (way.first === "") this.#inside.send(Buffer.from(ESTABLISHED));
    else outside.send(Buffer.from(way.first, "latin1"));
    this.#passOut(this.#queue.view(), outside);
    this.#inside.resume();
  }

  /** PS1. The first address that answers. */
  async #connect({ to, tls, addresses }: Way): Promise<Connection | undefined> {
    for (const address of addresses) {
      try {
        const destination = { address, port: to.port, tls: tls ? to.host : undefined };
        return await this.#ports.network.connect(destination, this.#ofOutside());
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

  async #way(head: RequestHead, route: Route): Promise<Way | Refusal> {
    if (route.kind === "tunnel") return this.#judged(route.to, "");
    const length = bodyLength(head);
    if (length === undefined) return NO_LENGTH;
    this.#left = length;
    if (route.kind === "service") return this.#toService(head, route.path);
    const host = hostText(route.to, PORTS["http:"]);
    return this.#judged(route.to, onwardHead(head, { path: route.path, host, identity: {} }));
  }

  /** PS1 */
  async #judged(to: Host, first: string): Promise<Way | Refusal> {
    const { network, order } = this.#ports;
    if (!isListed(order.egress, to)) return notListed(to);
    const found = await resolved(network, to);
    const own = network.own();
    const addresses = found.filter((host) => mayReach(order.egress, { host, port: to.port }, own));
    if (addresses.length === 0) return found.length === 0 ? unreachable(to) : notPublic(to, found);
    return { to, tls: false, addresses, first };
  }

  /** PS2 */
  async #toService(head: RequestHead, path: string): Promise<Way | Refusal> {
    const { network, order } = this.#ports;
    const url = order.service === null ? null : URL.parse(order.service.url);
    const to = url && hostIn(url.host, PORTS[url.protocol] ?? 0);
    if (order.service === null || url === null || !to) return NO_SERVICE;
    const onward = { path: url.pathname.replace(/\/$/, "") + path, host: url.host, identity: order.service.identity };
    const addresses = await resolved(network, to);
    return { to, tls: url.protocol === "https:", addresses, first: onwardHead(head, onward) };
  }

  #refuse({ status, words }: Refusal): void {
    this.#isRefused = true;
    this.#inside.send(Buffer.from(answerHead(status, words)));
    this.#inside.end();
  }
}

async function resolved(network: Network, { host }: Host): Promise<readonly string[]> {
  try {
    return await network.resolve(host);
  } catch (error) {
    if (isFault(error)) return [];
    throw error;
  }
}

function hostText({ host, port }: Host, usual: number | undefined): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return port === usual ? name : `${name}:${port}`;
}

const BAD_REQUEST = { status: "400 Bad Request", words: "This is not a request that a proxy understands." };
const NO_LENGTH = { status: "411 Length Required", words: "The request must say how long its body is." };
const NO_SERVICE = { status: "404 Not Found", words: "There is no service behind this port; it is a proxy." };

function notListed(to: Host): Refusal {
  const word = hostText(to, PORTS["https:"]);
  return {
    status: "403 Forbidden",
    words: `This sandbox may not reach ${word}: create its agent with --egress ${word}.`,
  };
}

function notPublic(to: Host, found: readonly string[]): Refusal {
  const words = `${to.host} leads to ${found[0]}, which is reached only if that address itself is listed (--egress).`;
  return { status: "403 Forbidden", words };
}

function unreachable({ host, port }: Host): Refusal {
  return { status: "502 Bad Gateway", words: `${host}:${port} cannot be reached.` };
}
