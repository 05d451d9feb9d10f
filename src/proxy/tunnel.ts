// A connection to a host through the proxy of this machine (wire/proxy/upstream.ts).
// TN1. Nothing is sent to the host before the proxy said that the tunnel is there. What it says is not passed on; what
//      arrives behind it is.
// TN2. TLS is spoken with the host at the other end, and the proxy sees only its name.

import { ByteQueue } from "../base/byte-queue.ts";
import { isFault } from "../base/fault.ts";
import { END, headIn, MAX_HEAD } from "../wire/proxy/head.ts";
import { statusOf, tunnelHead, type Via } from "../wire/proxy/upstream.ts";
import type { Network } from "../world/network.ts";
import type { Connection, ConnectionEvents } from "../world/socket.ts";

/** Where it leads, as `host:port`, and the name in the certificate there; undefined without TLS. */
export type TunnelEnd = { readonly target: string; readonly tls: string | undefined };
/** `early`: what arrived behind the proxy's answer. */
export type Tunnel = { readonly connection: Connection; readonly early: Uint8Array };

/** What the proxy answers, then what arrives through the tunnel. */
export class TunnelEvents implements ConnectionEvents {
  readonly #events: ConnectionEvents;
  readonly #queue = new ByteQueue();
  readonly #answer = Promise.withResolvers<number | undefined>();
  #isOpen = false;

  constructor(events: ConnectionEvents) {
    this.#events = events;
  }

  /** The status; undefined if there is none. */
  get answer(): Promise<number | undefined> {
    return this.#answer.promise;
  }

  early(): Uint8Array {
    return new Uint8Array(this.#queue.view());
  }

  bytes(bytes: Uint8Array): void {
    if (this.#isOpen) this.#events.bytes(bytes);
    else this.#gather(bytes);
  }

  #gather(bytes: Uint8Array): void {
    this.#queue.push(bytes);
    const head = headIn(this.#queue.view());
    if (head === undefined && this.#queue.length > MAX_HEAD) this.#answer.resolve(undefined);
    if (head === undefined) return;
    const status = statusOf(head);
    this.#queue.drop(head.length + END.length);
    this.#isOpen = isOpened(status);
    this.#answer.resolve(status); // TN1
  }

  drained(): void {
    this.#events.drained?.();
  }

  closed(): void {
    this.#answer.resolve(undefined); // Without effect once there was one.
    if (this.#isOpen) this.#events.closed();
  }
}

/**
 * `connection` is one to the proxy that reports to `gate`. Returns the proxy's status if it refuses, undefined if it
 * does not answer, or if the host at the other end is not what its certificate says.
 */
export async function openTunnel(
  network: Network,
  { connection, gate, via }: { readonly connection: Connection; readonly gate: TunnelEvents; readonly via: Via },
  { target, tls }: TunnelEnd,
  events: ConnectionEvents,
): Promise<Tunnel | number | undefined> {
  connection.send(Buffer.from(tunnelHead(target, via), "latin1"));
  const status = await gate.answer;
  if (!isOpened(status)) {
    connection.destroy();
    return status;
  }
  if (tls === undefined) return { connection, early: gate.early() };
  try {
    return { connection: await network.secure(connection, tls, events), early: new Uint8Array() }; // TN2
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}

function isOpened(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300;
}
